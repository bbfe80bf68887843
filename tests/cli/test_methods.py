import dataclasses

import pytest

from bilex import all_methods, get_method
from bilex.settings.fields import to_text

KEYS = {
    "name",
    "summary",
    "description",
    "paper",
    "supervision",
    "uses_dev",
    "presets",
    "search_spaces",
    "settings",
}


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
    assert described.keys() == KEYS
    names = dict.fromkeys(setting["name"].partition(".")[0] for setting in described["settings"])
    assert list(names) == [f.name for f in dataclasses.fields(method)]
    settings = text.partition("Settings, for --set KEY=VALUE:\n")[2]
    assert max(map(len, settings.splitlines())) <= 80
    told = " ".join(settings.split())
    for setting in described["settings"]:
        assert f"{setting['name']}={to_text(setting['default'])} ({setting['type']}" in told
        assert setting["description"] in told
        assert setting["range"] is None or setting["range"].keys() in ({"values"}, {"low", "high", "log", "step"})


def test_presets_and_search_spaces(bilex):
    text = " ".join(bilex("methods", "rapo").out.split())
    assert "Settings of --preset paper: What the text of the paper says." in text
    assert "Settings of --preset authors-en-zh: The same with the authors' file" in text
    assert "preset=authors-en-tr hard=64 warm_up=12 lambda_1=0.0 batch=64 learning_rate=0.002" in text
    assert "Searched by bilex tune --space paper: hard: 64 to 256, in steps of 64 random: 64 to 256" in text
    described = bilex("methods", "rapo", "--json").json
    assert described["presets"]["authors-en-zh"]["settings"]["hard"] == 64
    assert described["search_spaces"]["paper"]["lambda_1"] == {"low": 0.5, "high": 2.5, "log": False, "step": None}
    assert bilex("methods", "ridge", "--json").json["presets"] == {}


def test_the_range_worth_searching(bilex):
    text = " ".join(bilex("methods", "rapo").out.split())
    assert (
        "learning_rate=0.001 (float; searched: 0.0001 to 0.003, on a log scale) Initial learning rate of Adam" in text
    )
    assert "projection=householder (householder|linear) `householder`: products of" in text
    settings = {setting["name"]: setting for setting in bilex("methods", "rapo", "--json").json["settings"]}
    assert settings["hard"]["range"] == {"low": 64, "high": 256, "log": False, "step": 64}
    assert settings["activation"]["range"] == {"values": ["linear", "tanh", "sigmoid"]}
    assert settings["projection"]["range"] is None


def test_a_setting_that_is_a_method_says_where_its_own_are(bilex):
    text = " ".join(bilex("methods", "rapo_semi").out.split())
    assert "Its settings are base.KEY: see `bilex methods rapo`." in text
    assert "Its settings are initial.KEY: see `bilex methods vecmap_unsupervised`." in text
    assert "Its settings" not in bilex("methods", "rapo").out  # whose start is only the name of one


def test_defaults_are_printed_as_they_are_given(bilex):
    (normalize,) = bilex("methods", "procrustes", "--json").json["settings"]
    assert (normalize["type"], normalize["default"]) == ("str,...", "unit,center,unit")
    assert normalize["description"].startswith("Normalization of both tables")
    assert get_method("procrustes", {"normalize": normalize["default"]}) == get_method("procrustes")


def test_an_unknown_method(refused):
    assert "there is no method 'procrustse' (did you mean 'procrustes'?)" in refused("methods", "procrustse")
