import numpy as np
import pytest

from bilex import AlignmentError, EmbeddingTable, SettingsError, align, get_method
from bilex.training.trace import Trace


def test_a_dictionary_may_have_words_of_any_rank(exact):
    """Some of its words are rarer than those that chance is played among."""
    rare = exact.test
    assert any(int(word[1:]) >= 140 for pair in rare for word in pair)
    method = get_method("vecmap_unsupervised", {"dropout_max_rank": "140"})
    made = align(exact.source, exact.target, rare, method=method)
    assert made.evaluate(exact.train).scores.p_at_1 == 100


def test_tables_in_no_order_are_known_by_the_second_try(exact):
    order = np.random.default_rng(0).permutation(len(exact.target))
    shuffled = EmbeddingTable([exact.target.words[i] for i in order], exact.target.rows[order])
    trace = Trace()
    method = get_method("vecmap_unsupervised", {"min_agreement": "0.9"})  # of few dimensions any pairs agree a little
    made = align(exact.source, shuffled, method=method, trace=trace)
    assert made.evaluate(exact.test).scores.p_at_1 == 100
    first, second = (record["agreement"] for record in trace.records if "agreement" in record)
    assert first < 0.9 <= second


def test_tables_that_have_nothing_to_do_with_each_other_are_refused():
    """Their words find partners all the same; that these do not agree gives the map away."""
    rng = np.random.default_rng(0)
    tables = [
        EmbeddingTable([f"{side}{i}" for i in range(500)], rng.normal(size=(500, 50)).astype(np.float32))
        for side in "ab"
    ]
    trace = Trace()
    with pytest.raises(
        AlignmentError, match=r"has failed, tried 2 times: .* gives back \d+% of the others, needed 40%"
    ):
        align(*tables, method="vecmap_unsupervised", trace=trace)
    assert trace.records[-1]["agreement"] < 0.4
    assert trace.records[-2]["pairs"] == 1000


@pytest.mark.parametrize("name", ["dropout_max_rank", "max_rank", "patience", "rounds", "tries", "k"])
def test_bad_settings_are_refused(name):
    with pytest.raises(SettingsError, match=f"{name}=0; needed at least 1"):
        get_method("vecmap_unsupervised", {name: "0"})


def test_rows_of_other_lengths_are_refused():
    with pytest.raises(SettingsError, match="let normalize end in unit"):
        get_method("vecmap_semi", {"normalize": "unit,center"})
