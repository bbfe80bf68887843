import pytest

from bilex.errors import AlignmentError, SettingsError
from bilex.fitting.default import check_settings, choose
from bilex.methods.rapo.rapo_semi import RapoSemi

FEW = RapoSemi.enlarge_below

CHOICES = [
    pytest.param({"source_words": FEW}, "rapo", f"the dictionary has {FEW:,} source words with vectors", id="full"),
    pytest.param(
        {"source_words": FEW - 1},
        "rapo_semi",
        f"the dictionary has {FEW - 1:,} source words with vectors, fewer than {FEW:,}",
        id="small",
    ),
    pytest.param(
        {"source_words": 0},
        "rapo_semi",
        f"the dictionary has 0 source words with vectors, fewer than {FEW:,}",
        id="none",
    ),
    pytest.param({"source_words": None}, "rapo_unsupervised", "there is no dictionary", id="no dictionary"),
    pytest.param(
        {"source_words": 9000, "only_spelling": True},
        "rapo_semi",
        "words spelt alike are the only dictionary",
        id="spelling",
    ),
    pytest.param({"source_words": 3, "fast": True}, "procrustes", "`fast` was given", id="fast"),
    pytest.param(
        {"source_words": 3, "only_spelling": True, "fast": True}, "procrustes", "`fast` was given", id="fast, spelling"
    ),
]


@pytest.mark.parametrize(("given", "name", "why"), CHOICES)
def test_the_best_that_the_data_allow(given, name, why):
    found = choose(**given)
    assert (found.method.name, found.why) == (name, why)


def test_the_fast_one_needs_a_dictionary():
    with pytest.raises(AlignmentError, match=r"`fast=True` is procrustes, .* leave out `fast`"):
        choose(None, fast=True)


def test_settings_are_those_of_the_method():
    assert choose(FEW, settings={"epochs": "3"}).method.epochs == 3
    with pytest.raises(SettingsError, match="rapo_semi has no setting 'epochs'"):
        choose(FEW - 1, settings={"epochs": "3"})


class TestSettingsAreChecked:
    """Before the data are read, when it is not known yet how large the dictionary is."""

    @pytest.mark.parametrize("settings", [{}, {"epochs": 3}, {"rounds": 2}])
    def test_those_of_a_method_that_may_be_chosen_are_taken(self, settings):
        check_settings(settings, fast=False, dictionary=True)

    @pytest.mark.parametrize(
        ("settings", "given", "message"),
        [
            ({"epoch": 3}, {"fast": False, "dictionary": True}, r"rapo has no setting 'epoch' \(did you mean 'epochs'"),
            ({"epochs": 3}, {"fast": True, "dictionary": True}, "procrustes has no setting 'epochs'"),
            ({"epochs": 3}, {"fast": False, "dictionary": False}, "rapo_unsupervised has no setting 'epochs'"),
            ({"epochs": 3, "rounds": 2}, {"fast": False, "dictionary": True}, "rapo has no setting 'rounds'"),
        ],
    )
    def test_others_are_refused(self, settings, given, message):
        with pytest.raises(SettingsError, match=message):
            check_settings(settings, **given)

    def test_other_names_may_have_been_meant(self):
        with pytest.raises(SettingsError, match="did you mean 'rng_seed'"):
            check_settings({"rng_sed": 1}, fast=False, dictionary=True, others=["rng_seed"])
