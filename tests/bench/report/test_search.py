from bilex.bench.report.search import search_table


def trial(cell, number, dev, right):
    trace = [{"epoch": 0, "dev_p_at_1": dev - 5}, {"epoch": 1, "dev_p_at_1": dev}, {"epoch": 2}]
    return cell(f"trial {number}", method="rapo", right=range(right), trace=trace)


def test_the_best_by_held_out_words_and_by_test(cell, grid_of):
    trials = [trial(cell, 0, 50.0, 20), trial(cell, 1, 70.0, 30), trial(cell, 2, 60.0, 40), cell("rapo")]
    table = search_table(grid_of(*trials))
    assert [[entry.text for entry in row.entries] for row in table.rows] == [
        ["en-fr", "3", "trial 1", "70.00", "75.00", "trial 2", "100.00", "25.00"]
    ]


def test_without_trials_there_is_no_table(cell, grid_of):
    assert search_table(grid_of(cell("rapo"), cell("trial 0", method="rapo"))).rows == ()
