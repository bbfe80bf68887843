import pytest

from bilex import SettingsError, align, get_method


def test_a_dictionary_may_have_words_of_any_rank(exact):
    """Some of its targets are rarer than the words that chance is played among."""
    assert any(int(target[1:]) >= 140 for _, target in exact.train)
    method = get_method("vecmap_unsupervised", {"first": "140"})
    made = align(exact.source, exact.target, exact.train, method=method)
    assert made.evaluate(exact.test).scores.p_at_1 == 100


@pytest.mark.parametrize("name", ["first", "max_rank", "patience", "rounds", "k"])
def test_bad_settings_are_refused(name):
    with pytest.raises(SettingsError, match=f"{name}=0; needed at least 1"):
        get_method("vecmap_unsupervised", {name: "0"})
