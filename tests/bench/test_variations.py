"""Systems that a suite makes of one, and those that it takes from another suite."""

import pytest

from bilex.bench.suite import Suite
from bilex.errors import SuiteError

HEAD = 'title = "Small"\n'
SAMPLE = '[directions.en-fr]\nsample = "en-fr"\n[directions.en-fi]\nsample = "en-fi"\n'
RAPO = '[[systems]]\nmethod = "rapo"\n'


def test_one_setting_at_a_time(write):
    vary = 'settings = { preset = "authors" }\nvary = { hard = [0, 64], tau_source = [0.5] }\n'
    suite = Suite.read(write(HEAD + SAMPLE + RAPO + vary + RAPO + f'label = "x"\n{vary}'))
    labels = ["hard=0", "hard=64", "tau_source=0.5"]
    assert [system.label for system in suite.systems] == [*labels, *(f"x, {label}" for label in labels)]
    assert suite.systems[1].settings == {"preset": "authors", "hard": "64"}
    assert (suite.systems[2].make().tau_source, suite.systems[2].make().hard) == (0.5, 128)


def test_a_search(write):
    search = 'settings = { epochs = 3 }\nsearch = { space = "paper", trials = 4 }\n'
    suite = Suite.read(write(HEAD + SAMPLE + RAPO + search))
    assert [system.label for system in suite.systems] == ["trial 0", "trial 1", "trial 2", "trial 3"]
    assert suite.systems[0].settings == {"preset": "paper", "epochs": "3"}
    made = [system.make() for system in suite.systems]
    assert len(set(made)) == 4
    for method in made:
        assert (method.start, method.epochs) == ("random", 3)
        assert all(getattr(method, name) in values for name, values in method.search_spaces["paper"].items())
    assert Suite.read(write(HEAD + SAMPLE + RAPO + search.replace("4", "3"))).systems == suite.systems[:3]


def test_a_search_has_as_many_trials_as_that_of_the_authors(write):
    assert len(Suite.read(write(HEAD + SAMPLE + RAPO + 'search = { space = "authors" }\n')).systems) == 50


def test_systems_of_another_suite(write):
    ridge = '[[systems]]\nlabel = "ridge"\nmethod = "ridge"\ndirections = ["en-fi"]\n'
    write(HEAD + SAMPLE + "[defaults]\nrng_seeds = [0, 1]\n" + RAPO + ridge, "one.toml")
    only = HEAD + 'systems_from = "one.toml"\n[directions.en-fr]\nsample = "en-fr"\n'
    assert [s.label for s in Suite.read(write(only)).systems] == ["rapo"]
    suite = Suite.read(write(only + '[[systems]]\nmethod = "procrustes"\n'))
    assert [(s.label, s.directions, s.rng_seeds) for s in suite.systems] == [
        ("rapo", ("en-fr",), (0, 1)),
        ("procrustes", ("en-fr",), (0,)),
    ]
    both = HEAD + 'systems_from = "one.toml"\nwithout = ["rapo"]\n' + SAMPLE
    assert [s.label for s in Suite.read(write(both)).systems] == ["ridge"]
    chosen = HEAD + 'systems_from = "one.toml"\n' + SAMPLE + '[defaults]\ndirections = ["en-fi"]\n'
    assert {s.directions for s in Suite.read(write(chosen)).systems} == {("en-fi",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RAPO + "vary = { hard = 3 }\n", "rapo: vary: hard = 3; needed a list of values"),
        (RAPO + 'vary = { hard = [1] }\nsearch = { space = "paper" }\n', "has vary and search"),
        (RAPO + 'search = { space = "papers" }\n', "rapo has no search space 'papers'"),
        (RAPO + "search = { trials = 3 }\n", "space is missing"),
        (RAPO + 'search = { space = "paper", rng_seed = 3 }\n', "unknown key 'rng_seed'"),
        (RAPO + "vary = { hart = [1] }\n", "system hart=1: method rapo has no setting 'hart'"),
    ],
)
def test_mistakes_are_refused(write, text, message):
    with pytest.raises(SuiteError, match=message):
        Suite.read(write(HEAD + SAMPLE + text))


def test_mistakes_about_another_suite_are_refused(write):
    write(HEAD + SAMPLE + RAPO, "one.toml")
    write(HEAD + SAMPLE + 'systems_from = "one.toml"\n', "no.toml")
    with pytest.raises(SuiteError, match=r"without: one.toml has no system 'rapp' \(did you mean 'rapo'\?\)"):
        Suite.read(write(HEAD + 'systems_from = "one.toml"\nwithout = ["rapp"]\n' + SAMPLE))
    write(HEAD + 'systems_from = "one.toml"\n' + SAMPLE, "two.toml")
    with pytest.raises(SuiteError, match=r"two.toml takes its systems from another suite"):
        Suite.read(write(HEAD + 'systems_from = "two.toml"\n' + SAMPLE))
