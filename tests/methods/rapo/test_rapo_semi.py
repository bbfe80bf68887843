from dataclasses import replace

import pytest
import torch

from bilex import SettingsError, get_method
from bilex.normalize import unit
from bilex.training.trace import Trace


def grown(dictionary, found, share):
    """The dictionary, and of this share of the pairs, the most confident, those of words that are not in it."""
    best = sorted(range(len(found.confidence)), key=lambda i: -float(found.confidence[i]))[
        : round(share * len(found.confidence))
    ]
    known = set(dictionary[:, 0].tolist())
    more = [found.pairs[i].tolist() for i in sorted(best) if int(found.pairs[i, 0]) not in known]
    return torch.tensor([*dictionary.tolist(), *more])


@pytest.mark.parametrize(("rounds", "shares"), [(1, [0.4]), (3, [0.4, 0.6, 0.8])])
def test_a_small_dictionary_grows_from_round_to_round(given, rounds, shares):
    """By more of the pairs each time; what RAPO begins with are the most confident of the last map alone."""
    x, z, train, _ = given
    few, linear = train[:20], get_method("procrustes")
    method = replace(get_method("rapo_semi"), initial=linear, linear_rounds=rounds, min_share=0.4)
    mapping, sizes = linear.fit(x, z, few), []
    for share in [*shares, 0.4]:
        found = method.induction(unit(mapping.source(x)), unit(mapping.target(z)), torch.Generator())
        expected = grown(few, found, share)
        sizes.append(len(expected))
        mapping = get_method("geomm").fit(x, z, expected, dev=None, trace=Trace())
    trace = Trace()
    pairs = method.first_pairs(x, z, few, generator=torch.Generator(), trace=trace)
    assert pairs.tolist() == expected.tolist()
    assert trace.records == [{"linear_round": i, "pairs": size} for i, size in enumerate(sizes[:-1])]


def test_a_dictionary_of_enough_words_is_taken_as_it_is(given):
    """Words count, and not their translations."""
    x, z, train, _ = given
    pairs = torch.cat([train[:30], torch.stack([train[:30, 0], train[1:31, 1]], 1)])
    trace = Trace()
    enough, too_few = (
        replace(get_method("rapo_semi"), enlarge_below=few, initial=get_method("procrustes")) for few in (30, 31)
    )
    assert enough.first_pairs(x, z, pairs, generator=torch.Generator(), trace=trace) is pairs
    assert not trace.records
    assert len(too_few.first_pairs(x, z, pairs, generator=torch.Generator(), trace=trace)) > len(pairs)


def test_bad_settings_are_refused():
    with pytest.raises(SettingsError, match="rapo_semi: linear_rounds=0; needed at least 1"):
        get_method("rapo_semi", {"linear_rounds": "0"})
