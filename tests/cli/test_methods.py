import dataclasses

import pytest

from bilex import all_methods, get_method


def test_the_list(bilex):
    result = bilex("methods")
    assert (result.code, result.err) == (0, "")
    for name, method in all_methods().items():
        assert name in result.out
        assert method.summary()[:30] in result.out
    assert [method["name"] for method in bilex("methods", "--json").json] == sorted(all_methods())


@pytest.mark.parametrize("name", all_methods())
def test_one_method(bilex, name):
    method = all_methods()[name]
    text = bilex("methods", name).out
    assert method.paper in text
    assert method.summary() in text
    described = bilex("methods", name, "--json").json
    assert described.keys() == {"name", "summary", "description", "paper", "supervision", "uses_dev", "settings"}
    names = dict.fromkeys(setting["name"].partition(".")[0] for setting in described["settings"])
    assert list(names) == [f.name for f in dataclasses.fields(method)]
    assert all(setting["name"] in text and setting["type"] in text for setting in described["settings"])


def test_defaults_are_printed_as_they_are_given(bilex):
    (normalize,) = bilex("methods", "procrustes", "--json").json["settings"]
    assert normalize == {"name": "normalize", "type": "str,...", "default": "unit,center,unit"}
    assert get_method("procrustes", {"normalize": normalize["default"]}) == get_method("procrustes")


def test_an_unknown_method(refused):
    assert "there is no method 'procrustse' (did you mean 'procrustes'?)" in refused("methods", "procrustse")
