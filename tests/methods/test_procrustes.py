import pytest

from bilex import AlignmentError, align


def test_pairs_without_a_direction_are_refused(world):
    """A table of one word has none once it is centred."""
    source, target, train = world.source.head(1), world.target, world.train.pairs
    pairs = [(source.words[0], train[0][1])]
    with pytest.raises(AlignmentError, match=r"train pairs \(1\) have no direction .* \(unit,center\) their .*unit$"):
        align(source, target, pairs, method="procrustes", normalize="unit,center")
    assert align(source, target, pairs, method="procrustes", normalize="unit").induce()
