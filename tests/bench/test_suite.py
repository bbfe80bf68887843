import pytest

from bilex.bench.suite import Suite
from bilex.bench.suite_file import shipped
from bilex.errors import SuiteError
from bilex.methods.base import Method, all_methods
from bilex.methods.self_learning import SelfLearning

HEAD = 'title = "Small"\n'
SAMPLE = '[directions.en-fr]\nsample = "en-fr"\n'
PROCRUSTES = '[[systems]]\nmethod = "procrustes"\n'
FILES = "[directions.x]\nsource = { file = 'x' }\ntarget = { file = 'z' }\ntest = { file = 'test' }\n"
CODES = ("es", "fr", "it", "ru", "zh", "fa", "tr", "he", "ar", "et")


@pytest.mark.parametrize("name", shipped())
def test_every_suite_that_is_shipped_can_be_read(name):
    suite = Suite.read(name)
    assert suite.name == name
    assert suite.title
    names = [cell.name for cell in suite.cells()]
    assert len(set(names)) == len(names)
    assert suite.describe()["directions"] == list(suite.directions)


def test_every_method_is_a_system_of_the_open_suite():
    wrong = sorted({system.method for system in Suite.read("open").systems} ^ set(all_methods()))
    assert not wrong, f"src/bilex/bench/suites/open.toml: add or remove [[systems]] with method = {wrong}"


def test_the_suites_hold_what_they_are_for():
    twenty = {name for suite in ("paper-table-1", "paper-table-2") for name in Suite.read(suite).directions}
    assert twenty == {f"en-{code}" for code in CODES} | {f"{code}-en" for code in CODES}
    low = [name for code in ("he", "ar", "es", "it") for name in (f"en-{code}", f"{code}-en")]
    rapo = Suite.read("open").cells(systems=["rapo", "rapo_semi"], directions=low)
    assert len(rapo) == 2 * 8 * 3, "three seeds in all poor directions"
    assert len(Suite.read("open-sensitivity").cells()) == 20
    assert {system.pairs for system in Suite.read("open-few").systems} == {100, 250, 500, 1000, 2500}
    assert {system.protocol for system in Suite.read("open-paper-protocol").systems} == {"honest", "paper"}


def test_identical_words_are_those_of_the_two_tables():
    direction = Suite.read("open-one-language").directions["ru-ru_news"]
    assert direction.train.tables == direction.test.tables == (direction.source, direction.target)
    assert (direction.train.label, direction.test.name) == ("identical 0-5000", "5000-6500")


def test_the_suites_of_the_paper_hold_its_tables():
    rows = {1: 14, 2: 13}
    for number, count in rows.items():
        suite = Suite.read(f"paper-table-{number}")
        assert len(suite.directions) == 10
        methods = [system.method for system in suite.systems]
        assert len(set(methods)) == count
        assert {system.rng_seeds for system in suite.systems if system.method in ("vecmap", "rcsls")} == {(0,)}
        assert {len(system.rng_seeds) for system in suite.systems if system.method == "rapo"} == {5}
        scaled_down = [s for s in suite.systems if "published" in s.make().presets()]
        assert {s.settings.get("preset") for s in scaled_down} == {"published"}
        assert all(s.label.endswith(", published") for s in scaled_down)
        assert {"honest", "paper"} == {s.protocol for s in suite.systems if s.method == "rapo_semi"}
    pairs = {f"en-{code}" for code in ("it", "ru", "tr", "he")}
    for number in (3, 4, 5):
        suite = Suite.read(f"paper-table-{number}")
        assert set(suite.directions) == pairs | {"-".join(reversed(pair.split("-"))) for pair in pairs}
        assert [s.settings for s in Suite.read(f"open-table-{number}").systems] == [s.settings for s in suite.systems]
    figure = Suite.read("paper-figure-3")
    assert set(figure.directions) == {"en-zh", "en-tr"}
    assert {s.method for s in figure.systems} == {"rapo", "rapo_semi"}
    taus = [s.settings["tau_source"] for s in figure.systems if s.method == "rapo" and "tau_source" in s.settings]
    assert sorted({float(tau) for tau in taus}) == [round(0.5 + 0.05 * i, 2) for i in range(10)]
    assert len(Suite.read("paper-search").systems) == 50
    assert set(Suite.read("paper-search").directions) == set(Suite.read("paper-table-1").directions) | set(
        Suite.read("paper-table-2").directions
    )


def test_old_names_of_suites():
    assert Suite.read("muse-rich").name == "paper-table-1"
    assert Suite.read("muse-low").name == "paper-table-2"


def test_the_protocol_of_the_paper_of_a_method_that_would_train_on_its_choices(write, monkeypatch):
    text = HEAD + SAMPLE + "[[systems]]\nmethod = 'rapo_semi'\nprotocol = 'paper'\n"
    assert Suite.read(write(text)).systems[0].make().learns_dev is False
    monkeypatch.setattr(SelfLearning, "without_refit", Method.without_refit)
    with pytest.raises(SuiteError, match="rapo_semi always trains on the dictionary of its choices"):
        Suite.read(write(text))


def test_cells_are_systems_by_directions_by_seeds(write):
    suite = Suite.read(
        write(
            HEAD + SAMPLE + '[directions.en-fi]\nsample = "en-fi"\n'
            "[defaults]\nrng_seeds = [3]\n" + PROCRUSTES + "pairs = [50, 100]\n"
            '[[systems]]\nlabel = "RAPO!"\nmethod = "rapo"\nprotocol = "paper"\ndirections = ["en-fi"]\n'
            'rng_seeds = [0, 1]\nsettings = { hard = 32, decay = false, start = "vecmap" }\n'
        )
    )
    assert [cell.name for cell in suite.cells()] == [
        "RAPO-paper-protocol.en-fi.0",
        "RAPO-paper-protocol.en-fi.1",
        "procrustes-50-pairs.en-fr.3",
        "procrustes-100-pairs.en-fr.3",
        "procrustes-50-pairs.en-fi.3",
        "procrustes-100-pairs.en-fi.3",
    ]
    rapo = suite.systems[-1]
    assert rapo.label == "RAPO!, paper protocol"
    assert rapo.settings == {"hard": "32", "decay": "false", "start": "vecmap"}
    assert rapo.make().refit is False
    assert [cell.name for cell in suite.cells(systems=["*50*"], directions=["en-fi"], rng_seeds=[7])] == [
        "procrustes-50-pairs.en-fi.7"
    ]
    assert len(suite.cells(systems=["procrustes, 100 pairs"])) == 2
    assert suite.cells(systems="*50*", directions="en-fi") == suite.cells(systems=["*50*"], directions=["en-fi"])


def test_a_byte_order_mark_does_no_harm(write):
    assert Suite.read(write("\ufeff" + HEAD + SAMPLE + PROCRUSTES)).directions["en-fr"].source.name == "en"


def test_directions_can_be_those_of_another_suite(write):
    write(HEAD + SAMPLE + PROCRUSTES, "one.toml")
    path = write(HEAD + 'directions_from = "one.toml"\n' + PROCRUSTES, "two.toml")
    assert Suite.read(path).directions["en-fr"].source.name == "en"
    path = write(HEAD + f'directions_from = "{"x" * 5000}.toml"\n' + PROCRUSTES, "four.toml")
    with pytest.raises(SuiteError, match=r"x\.toml: there is no such file; suites that come with bilex"):
        Suite.read(path)
    path = write(HEAD + 'directions_from = "two.toml"\n' + PROCRUSTES, "three.toml")
    with pytest.raises(SuiteError, match=r"two\.toml takes its directions from another suite"):
        Suite.read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 1\n" + SAMPLE + PROCRUSTES, "the suite: title is 1; needed a text"),
        (SAMPLE + PROCRUSTES, "title is missing"),
        (HEAD + "titel = 1\n" + SAMPLE + PROCRUSTES, "unknown key 'titel' .did you mean 'title'"),
        (HEAD + PROCRUSTES, "there are no directions"),
        (HEAD + SAMPLE, "there are no systems"),
        ("title = ", "cannot be read"),
        ("title = " + "[" * 100_000, "cannot be read: .*recursion.*; correct the file"),
        ("title = " + "9" * 5000, "cannot be read: .*digits.*; correct the file"),
        (HEAD + "systems = 3\n" + SAMPLE, "systems is 3; needed an array of tables"),
        (HEAD + "directions.x = 3\n" + PROCRUSTES, "direction x: is 3; needed a table"),
        (HEAD + '[directions."a/b"]\nsample = "en-fr"\n' + PROCRUSTES, "direction a/b: its name is used in file names"),
        (HEAD + "[directions.x]\nsample = 'en'\n" + PROCRUSTES, "sample = 'en'; needed two languages"),
        (HEAD + "[directions.x]\nsource = { file = 'a' }\n" + PROCRUSTES, "direction x: has no target"),
        (HEAD + FILES.replace("'x'", "'x', shared = 'en'"), "direction x: source: names 2 places"),
        (HEAD + FILES.replace("'test'", "'test', max_words = 3"), "direction x: test: has an unknown key 'max_words'"),
        (HEAD + FILES.replace("file = 'test'", "identical = '5'"), "identical = '5'; needed a range of the words"),
        (HEAD + FILES.replace("file = 'x'", "identical = '0-5'"), "source: has an unknown key"),
        (HEAD + FILES.replace("'x'", "'x', max_words = 0"), "max_words = 0; needed a whole number of at least 1"),
        (HEAD + FILES + PROCRUSTES, "procrustes trains on a dictionary, but direction x has no train"),
        (HEAD + SAMPLE + "[[systems]]\nmethod = 'procrustos'\n", "no method 'procrustos' .did you mean 'procrustes'"),
        (HEAD + SAMPLE + "[[systems]]\nlabel = 'x'\n", "a system: method is missing"),
        (HEAD + SAMPLE + PROCRUSTES + "settings = { k = 3 }\n", "system procrustes: .* has no setting 'k'"),
        (HEAD + SAMPLE + PROCRUSTES + "settings = { normalize = [1] }\n", "setting normalize = .1.; needed a text"),
        (HEAD + SAMPLE + PROCRUSTES + "directions = ['en-de']\n", "no direction 'en-de'; directions: en-fr"),
        (HEAD + SAMPLE + PROCRUSTES + "rng_seeds = [1, 1]\n", "needed a list of different whole numbers"),
        (HEAD + SAMPLE + PROCRUSTES + "pairs = [0]\n", "pairs = 0; needed at least 1"),
        (HEAD + SAMPLE + PROCRUSTES + "protocol = 'papers'\n", "protocol = 'papers'; needed one of honest, paper"),
        (HEAD + SAMPLE + PROCRUSTES + "protocol = 'paper'\n", "but procrustes makes no choices on a dictionary"),
        (HEAD + SAMPLE + "[[systems]]\nmethod = 'adversarial'\npairs = [5]\n", "trains without a dictionary"),
        (HEAD + SAMPLE + PROCRUSTES + PROCRUSTES, "two systems have the label 'procrustes'"),
    ],
)
def test_mistakes_are_refused(write, text, message):
    with pytest.raises(SuiteError, match=f"small.toml: .*{message}|small.toml: {message}"):
        Suite.read(write(text))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"systems": ["vecmap"]}, "has no system 'vecmap'; it has: procrustes; ridge, weak"),
        ({"directions": ["en-fr"]}, "has no direction 'en-fr'; it has: s-t, short"),
        ({"systems": ["ridge*"], "directions": ["short"]}, "none of these systems is measured"),
    ],
)
def test_a_choice_that_is_not_there(small, asked, message):
    with pytest.raises(SuiteError, match=message):
        small.cells(**asked)


@pytest.mark.parametrize(("name", "message"), [("opne", "did you mean 'open'"), ("x.toml", "there is no such file")])
def test_a_suite_that_is_not_there(name, message):
    with pytest.raises(SuiteError, match=message):
        Suite.read(name)
