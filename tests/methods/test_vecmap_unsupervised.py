import pytest

from bilex import SettingsError, align, get_method


def test_a_dictionary_may_have_words_of_any_rank(exact):
    """Chance is played among fewer words than the dictionary has."""
    method = get_method("vecmap_unsupervised", {"first": "20", "max_rank": "100"})
    made = align(exact.source, exact.target, exact.train, method=method)
    assert made.evaluate(exact.test).scores.p_at_1 == 100


@pytest.mark.parametrize("name", ["first", "max_rank", "patience", "rounds", "k"])
def test_bad_settings_are_refused(name):
    with pytest.raises(SettingsError, match=f"{name}=0; needed at least 1"):
        get_method("vecmap_unsupervised", {name: "0"})
