import csv
import io
from dataclasses import replace

from bilex.bench.report.comparison import compare, margins
from bilex.bench.report.metrics import METRICS
from bilex.bench.report.report import scores_csv, tables
from bilex.bench.report.scores import score_table
from bilex.page.markup import escape_latex, escape_markdown, latex, markdown, table_csv


def texts(table):
    return [[entry.text for entry in row.entries] for row in table.rows]


def test_scores(mixed):
    table = score_table(mixed, beside=False)
    assert table.header == ("P@1", "en-fr", "en-fi", "mean")
    assert texts(table) == [
        ["procrustes", "25.00", "50.00", "37.50"],
        ["vecmap", "30.00", "52.50", "41.25"],
        ["rapo", "77.50 ± 2.50", "50.00 ± 0.00", "63.75"],
        ["adversarial", "27.50 (1 failed)", "1 failed, 1 error", "-"],
    ]
    bold = [(row.entries[0].text, entry.text) for row in table.rows for entry in row.entries if entry.bold]
    assert bold == [("vecmap", "52.50"), ("rapo", "77.50 ± 2.50")]


def test_a_significant_lead_is_marked_and_the_mark_explained(mixed):
    table = score_table(mixed, margins=margins(mixed, ["rapo*"]))
    marked = [entry.text for row in table.rows for entry in row.entries if entry.mark]
    assert marked == ["77.50 ± 2.50"]
    assert any("‡: p < 0.01" in note and "sign test" in note and "Holm" in note for note in table.notes)


def test_published_figures_are_beside_methods_as_they_are_by_default(cell, grid_of):
    grid = grid_of(cell("rapo"), cell("rapo tanh", settings={"activation": "tanh"}), cell("rapo, 100 pairs", pairs=100))
    table = score_table(grid)
    beside = [row for row in table.rows if row.beside]
    assert [entry.text for entry in beside[0].entries] == ["published, other vectors", "83.5", ""]
    assert len(beside) == 1
    assert any("other vectors" in note and "cannot be compared" in note for note in table.notes)
    assert not any(row.beside for row in score_table(grid, METRICS["mrr"]).rows)


def test_published_figures_are_told_once_for_all_presets_of_a_method(cell, grid_of):
    presets = [cell(f"rapo, {name}", method="rapo", settings={"preset": name}) for name in ("authors", "paper")]
    table = score_table(grid_of(*presets, cell("rapo tanh", method="rapo", settings={"activation": "tanh"})))
    assert [row.beside for row in table.rows] == [False, False, False, True]


def test_published_figures_of_the_same_vectors_are_not_called_those_of_others(cell, grid_of):
    def of(*tables):
        names = zip(("source", "target"), tables, strict=True)
        return cell("rapo", provenance={"inputs": {side: {"file": name} for side, name in names}})

    same, other = of("muse en, first 200,000 words", "muse fr"), of("muse en", "shared fr")
    for cells, label, note in (
        ((same,), "published", "with the same vectors"),
        ((same, cell("vecmap", status="failed")), "published", "with the same vectors"),
        ((other,), "published, other vectors", "cannot be compared"),
        ((same, replace(other, direction="fr-en")), "published, other vectors", "cannot be compared"),
    ):
        table = score_table(grid_of(*cells))
        assert {row.entries[0].text for row in table.rows if row.beside} == {label}
        assert [note in text for text in table.notes if "named published" in text] == [True]


def test_what_was_chosen_on_test_is_not_bold(cell, grid_of):
    grid = grid_of(*(cell("rapo", right=range(20), protocol=p) for p in ("honest", "paper")), cell("geomm"))
    rapo, paper = (row for row in score_table(grid, beside=False).rows if row.entries[0].text.startswith("rapo"))
    assert [row.entries[1].bold for row in (rapo, paper)] == [True, False]


def test_nothing_is_best_where_words_differ_or_nothing_is_beside_it(cell, grid_of):
    for grid in (grid_of(cell("a", right=[1]), cell("b", words=30)), grid_of(cell("a", right=[1]))):
        assert not any(entry.bold for row in score_table(grid).rows for entry in row.entries)


def test_other_metrics(mixed):
    assert texts(score_table(mixed, METRICS["mrr"]))[0] == ["procrustes", "0.500", "0.667", "0.583"]
    assert texts(score_table(mixed, METRICS["p_at_1_all"]))[0] == ["procrustes", "20.00", "40.00", "30.00"]
    assert texts(score_table(mixed, METRICS["coverage"]))[0] == ["procrustes", "80.0", "80.0", "80.0"]
    seconds = score_table(mixed, METRICS["seconds"])
    assert texts(seconds)[2] == ["rapo", "60.0 ± 0.0", "90.0 ± 0.0", "75.0"]
    assert not any(entry.bold for row in seconds.rows for entry in row.entries)


def test_cost_and_data_and_failures(mixed):
    assert texts(tables.cost_table(mixed))[2] == ["rapo", "75.0", "90.0", "0.5", "0.75", "1"]
    assert texts(tables.data_table(mixed))[0] == ["en-fr", "20,000", "20,000", "300", "5,000", "50", "40", "80.0"]
    assert texts(tables.failure_table(mixed)) == [
        ["adversarial", "en-fr", "its pairs do not agree", "1", "0", "2"],
        ["adversarial", "en-fi", "its pairs do not agree / killed by signal 9", "1", "1", "2"],
    ]


def test_comparisons(cell, grid_of, mixed):
    grid = grid_of(cell("a", right=range(5, 30)), cell("b", right=range(10)))
    table = tables.comparison_table(compare(grid, "a", "b"), "x", "X")
    shown = dict(zip(table.header, texts(table)[0], strict=True))
    assert shown["difference"] == "+37.50"
    assert shown["words won : lost"] == "20 : 5"
    assert shown["p"] == "0.0041"
    assert "seeds p < 0.01" not in table.header
    several = tables.comparison_table(compare(mixed, "rapo", "vecmap"), "x", "X")
    assert texts(several)[0][-1] == "3 of 3"
    assert texts(several)[0][7] == "19.0 : 0.0"


def test_markdown(mixed):
    text = markdown(score_table(mixed, margins=margins(mixed, ["rapo*"])))
    lines = text.splitlines()
    assert lines[0] == "## P@1, over the covered source words"
    assert lines[2:4] == ["| P@1 | en-fr | en-fi | mean |", "| --- | ---: | ---: | ---: |"]
    assert "| rapo | **77.50 ± 2.50**‡ | 50.00 ± 0.00 | 63.75 |" in lines
    assert "| *published, other vectors* | *82.1* |  |  |" in lines


def test_latex(mixed):
    text = latex(score_table(mixed, margins=margins(mixed, ["rapo*"])))
    assert r"\begin{tabular}{lrrr}" in text
    assert r"    rapo & \textbf{77.50 $\pm$ 2.50}$^{\ddagger}$ & 50.00 $\pm$ 0.00 & 63.75 \\" in text
    for rule in ("toprule", "midrule", "bottomrule"):
        assert text.count(rf"\{rule}") == 1
    assert r"\label{tab:p-at-1}" in text


def test_hostile_names_in_every_markup(cell, grid_of, hostile):
    table = score_table(grid_of(cell(hostile, method="rapo", right=[1])))
    row = markdown(table).splitlines()[4]
    assert "<script" not in row
    assert r"\[z\](http" in row
    assert row.replace("\\|", "").count("|") == 4
    assert r"\$x\_1\$ \% \# \{y\} \textbackslash{}" in latex(table)
    assert next(csv.reader(io.StringIO(table_csv(table).split("\n", 1)[1])))[0] == hostile


def test_escapes():
    assert escape_latex("a_b 5% {x} \\ ~^ #&$\n±") == (
        r"a\_b 5\% \{x\} \textbackslash{} \textasciitilde{}\textasciicircum{} \#\&\$ $\pm$"
    )
    assert escape_markdown("rapo_semi, p < 0.01 & more") == "rapo_semi, p < 0.01 & more"
    assert escape_markdown("_a_ *b* |c| &lt; <b>") == r"\_a\_ \*b\* \|c\| &amp;lt; &lt;b>"


def test_the_csv_of_scores_has_every_figure(mixed):
    found = list(csv.DictReader(io.StringIO(scores_csv(mixed))))
    assert len(found) == 8 * len(METRICS)
    rapo = next(r for r in found if (r["system"], r["direction"], r["metric"]) == ("rapo", "en-fr", "p_at_1"))
    assert (rapo["mean"], rapo["sd"], rapo["done"], rapo["failed"]) == ("77.5", "2.5", "3", "0")
    lost = next(r for r in found if (r["system"], r["direction"]) == ("adversarial", "en-fi"))
    assert (lost["mean"], lost["done"], lost["failed"], lost["errors"]) == ("", "0", "1", "1")


def test_a_spreadsheet_computes_nothing(cell, grid_of):
    assert "'=SUM(A1)" in scores_csv(grid_of(cell("=SUM(A1)", method="rapo")))
