"""Rough estimate of the time of an alignment, shown before a long run.

In seconds, with n and m words, d dimensions, p pairs of the dictionary that have vectors, and t threads:

    procrustes          (n + m) · 5 µs · d / 300 / s
    rapo                R(p) = ((270 µs · p + 37 µs · (n + m)) · epochs + 1.2 ns · (n² + n m + m²)) · d / 300 / s,
                        without refit 0.6 · R(p)
    rapo_semi           (0.6 + rounds) · R(p)
    rapo_semi with a small dictionary, and rapo_unsupervised
                        V + (1 + rounds) · 0.6 · R(q),  q = p + half of the words among which pairs are induced
    V, for the linear maps before:  (min(n, 20,000) + min(m, 20,000)) · 3.2 ms · d / 300 / s

s is the speedup of t threads: t^0.8 from 100,000 words of both tables on, else 1. The constants were fitted to
measurements on an AMD EPYC processor, with 300 dimensions unless another number is given (measured seconds, and seconds
of the formula in brackets):

    procrustes          200,000 x 200,000 words, 2 threads                  1.2 (1.1)
    rapo                5,700 x 5,700 words, 5,735 pairs, 1 thread          11 (10)
                        20,000 x 40,000 words, 9,035 pairs, 1 thread        27 (27)
                        40,000 x 40,000 words, 100 dimensions, 7,301 pairs, 1 thread    12 (10)
                        200,000 x 200,000 words, 5,000 pairs, 2 threads     154 (129)
    rapo_semi           20,000 x 40,000 words, 8,172 pairs, 1 thread        34 (41)
    rapo_unsupervised   20,000 x 40,000 words, 1 thread                     174 (178)

So the estimate can be wrong by a factor of up to two, and by more on a busy machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.methods.procrustes import Procrustes
from bilex.methods.rapo.rapo import Rapo
from bilex.methods.rapo.rapo_semi import RapoSemi

if TYPE_CHECKING:
    from bilex.methods.base import Method

PARALLEL_WORDS = 100_000
"""Words of both tables from which on more threads are faster."""
LINEAR_WORDS = 20_000
"""Words per language that the linear maps without a dictionary look at."""


def estimate(
    method: Method, *, words: tuple[int, int], dim: int, pairs: int, source_words: int, threads: int
) -> float | None:
    """Estimated seconds with these threads; None if there is no formula for the method.

    words: number of words of both tables; pairs, source_words: those of the dictionary that have vectors.
    """
    speedup: float = threads**0.8 if sum(words) >= PARALLEL_WORDS else 1.0
    scale = dim / 300 / speedup
    if isinstance(method, Procrustes):
        return sum(words) * 5e-6 * scale
    if isinstance(method, Rapo):
        return (1.0 if method.refit else 0.6) * _two_trainings(method, words, pairs) * scale
    if isinstance(method, RapoSemi) and isinstance(method.base, Rapo):
        return _rapo_semi(method, method.base, words, pairs, small=method.is_small(source_words)) * scale
    return None


def rough(seconds: float) -> str:
    """A time as text: `a few seconds`, `about 40 seconds`, `about 3 minutes`, `about 2 hours`."""
    if seconds < 7:
        return "a few seconds"
    if seconds < 55:
        return f"about {round(seconds, -1):.0f} seconds"
    minutes = seconds / 60
    if minutes < 1.5:
        return "about a minute"
    if minutes < 55:
        return f"about {minutes if minutes < 10 else 5 * round(minutes / 5):.0f} minutes"
    return "about an hour" if minutes < 90 else f"about {minutes / 60:.0f} hours"


def _rapo_semi(method: RapoSemi, base: Rapo, words: tuple[int, int], pairs: int, *, small: bool) -> float:
    if not small:
        return (0.6 + method.rounds) * _two_trainings(base, words, pairs)
    enlarged = pairs + min(*words, method.induction.max_rank) // 2
    linear = sum(min(size, LINEAR_WORDS) for size in words) * 3.2e-3
    return linear + (1 + method.rounds) * 0.6 * _two_trainings(base, words, enlarged)


def _two_trainings(method: Rapo, words: tuple[int, int], pairs: int) -> float:
    """R(p) of the formula, for 300 dimensions and one thread."""
    n, m = words
    return (270e-6 * pairs + 37e-6 * (n + m)) * method.epochs + 1.2e-9 * (n * n + n * m + m * m)
