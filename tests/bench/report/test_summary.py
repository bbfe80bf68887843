from bilex.bench.report.comparison import margins
from bilex.bench.report.summary import sentences

TEST = "(sign test, p < 0.01 after Holm's correction)"


def said(grid, *patterns):
    return sentences(grid, margins(grid, patterns or ("rapo*",)))


def test_a_mixed_suite(mixed):
    assert said(mixed) == [
        "4 systems on 2 directions, 1 to 3 random seeds each: 11 of 14 runs done.",
        "Over the 2 directions rapo has the highest mean P@1, 63.75, 22.50 points above vecmap (3 systems complete).",
        f"rapo is best on en-fr: 47.50 above vecmap (en-fr). The lead is significant on en-fr {TEST}.",
        f"vecmap is best on en-fi: 2.50 above procrustes (en-fi). The lead is not significant {TEST}.",
        "rapo is above its best peer on 1 of 2 directions (from -2.50 points on en-fi, against vecmap, to +47.50 "
        f"points on en-fr, against vecmap). The lead is significant on en-fr {TEST}.",
        "Failed: adversarial on en-fr (1 of 2) and en-fi (1 of 2).",
        "Ended by an error: adversarial on en-fi (1 of 2).",
    ]


def test_one_run(cell, grid_of):
    assert said(grid_of(cell("geomm", right=[1]))) == [
        "1 system on 1 direction, 1 random seed each: 1 of 1 run done.",
        "geomm is best on en-fr.",
        "Nothing failed.",
    ]


def test_all_failed(cell, grid_of):
    found = said(grid_of(cell("rapo", status="failed", error="no"), cell("geomm", status="error", error="no")))
    assert found[1:] == ["Failed: rapo on en-fr (1 of 1).", "Ended by an error: geomm on en-fr (1 of 1)."]


def test_a_system_that_is_worse(cell, grid_of):
    grid = grid_of(cell("rapo", right=range(5)), cell("geomm", right=range(30)))
    assert said(grid)[2] == (
        "rapo is above its best peer on no direction (-62.50 points on en-fr, against geomm). It is significantly "
        "worse on en-fr."
    )


def test_choices_on_test_are_named(cell, grid_of):
    grid = grid_of(cell("rapo", right=range(5)), cell("rapo", right=range(30), protocol="paper"))
    assert said(grid)[-1].startswith("rapo (chosen on test) made choices on the test dictionary")
    assert said(grid)[1] == "rapo is best on en-fr."


def test_many_named_systems_have_few_sentences(cell, grid_of):
    grid = grid_of(cell("geomm"), *(cell(f"rapo {i}", right=range(i)) for i in range(9)))
    assert "The table of margins has 5 systems more." in said(grid)
