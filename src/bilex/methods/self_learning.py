"""Self-learning around any method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from bilex.errors import AlignmentError, SettingsError
from bilex.evaluation.criterion import dev_mrr, mean_cosine
from bilex.induction.neighbours import Induction
from bilex.mapping import Mapping, mapping_from_arrays
from bilex.methods.base import Method
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.trace import State, Trace


@dataclass(frozen=True, kw_only=True)
class SelfLearning(Method):
    """Train, induce pairs, train on these too, and so on: self-learning around any method.

    Each round maps both tables, takes the pairs that `induction` believes in, and adds those of them whose source word
    is not in the dictionary, which always stays. The best round is kept: by MRR on dev, or without dev by the mean
    cosine of mutual pairs. In the end it is trained once more, with the dev pairs.
    """

    name = "self_learning"
    paper = "Artetxe, Labaka and Agirre (2017). Learning bilingual word embeddings with (almost) no bilingual data. ACL"
    uses_dev = True

    base: Method = field(default_factory=VecMap)
    """The method of the first round, and of all if there is no other."""
    again: Method | None = None
    """The method of the later rounds."""
    rounds: int = 5
    induction: Induction = field(default_factory=Induction)
    warm: bool = True
    """Whether a method that can go on from the mapping of the round before does so."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds < 0:
            raise SettingsError(f"{self.name}: rounds={self.rounds}; needed at least 0")
        if self.normalize[-1:] != ("unit",):
            raise SettingsError(f"{self.name}: pairs are induced by cosine; let normalize end in unit")

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> Mapping:
        """The rounds."""
        state = trace.restore()
        if state is None:
            now = _Rounds(self.first_pairs(x, z, pairs, generator=generator, trace=trace), generator)
        else:
            now = _Rounds.restored(state, generator, x.device)
        while now.number <= self.rounds:
            mapping = self._train(x, z, now, dev, trace, state)
            state = None
            mapped = unit(mapping.source(x)), unit(mapping.target(z))
            score = mean_cosine(*mapped, self.induction.max_rank) if dev is None else dev_mrr(*mapped, dev)
            now.take(mapping, score)
            together = self.add_induced(*mapped, pairs, generator)
            trace(
                round=now.number,
                pairs=len(now.pairs),
                induced=len(together) - len(pairs),
                **{"mean_cosine" if dev is None else "dev_mrr": score},
            )
            if len(together) == len(pairs):
                raise AlignmentError(
                    f"round {now.number} of {self.name} found no pair to add: the map is too poor to learn from; "
                    "give more pairs, or loosen the induction"
                )
            now.pairs = together
            now.number += 1
            trace.checkpoint(now.arrays(), round=now.number)
        return self._finish(x, z, now, dev, trace, state)

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:  # noqa: ARG002
        """What the first round learns from: the dictionary."""
        return pairs

    def add_induced(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> Tensor:
        """The dictionary, and the induced pairs whose source word is not in it, from mapped tables."""
        induced = self.induction(unit(x), unit(z), generator).pairs
        return torch.cat([pairs, induced[~torch.isin(induced[:, 0], pairs[:, 0])]])

    def _train(
        self, x: Tensor, z: Tensor, now: _Rounds, dev: Tensor | None, trace: Trace, state: State | None
    ) -> Mapping:
        method = self.base if now.number == 0 else self.again or self.base
        warm = {"warm": now.mapping} if method.warm_starts and self.warm else {}
        part = trace.within(now.arrays(), state=None if state is None else state.inner(), round=now.number)
        dev = dev if method.uses_dev else None
        return method.fit(x, z, now.pairs, dev=dev, generator=now.generator, trace=part, **warm)

    def _finish(
        self, x: Tensor, z: Tensor, now: _Rounds, dev: Tensor | None, trace: Trace, state: State | None
    ) -> Mapping:
        """The best round; with dev, one more training on its pairs and the dev pairs."""
        if state is None or state.inner() is None:  # else it has been said
            trace(round=now.number, best_round=now.best_round)
        assert now.best is not None
        if dev is None:
            return now.best
        now.mapping, now.pairs = now.best, torch.cat([now.best_pairs, dev])
        return self._train(x, z, now, None, trace, state)


class _Rounds:
    """All that is carried from round to round."""

    def __init__(self, pairs: Tensor, generator: Generator) -> None:
        self.pairs = self.best_pairs = pairs
        self.generator = generator
        self.number = self.best_round = 0
        self.best_score = float("-inf")
        self.mapping: Mapping | None = None
        self.best: Mapping | None = None

    def take(self, mapping: Mapping, score: float) -> None:
        """The mapping of this round; kept if it is the best so far."""
        self.mapping = mapping
        if score > self.best_score:
            self.best, self.best_pairs, self.best_score, self.best_round = mapping, self.pairs, score, self.number

    def arrays(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        numbers = torch.tensor([self.number, self.best_round, self.best_score], dtype=torch.float64)
        arrays = {"pairs": self.pairs, "best_pairs": self.best_pairs, "numbers": numbers}
        arrays["generator"] = self.generator.get_state()
        for name, mapping in (("mapping", self.mapping), ("best", self.best)):
            if mapping is not None:
                arrays |= {f"{name}.{mapping.kind}.{key}": array for key, array in mapping.arrays().items()}
        return arrays

    @classmethod
    def restored(cls, state: State, generator: Generator, device: torch.device) -> _Rounds:
        """The inverse of `arrays`."""
        generator.set_state(state.arrays["generator"])
        arrays = {name: array.to(device) for name, array in state.arrays.items()}
        now = cls(arrays["pairs"], generator)
        now.best_pairs = arrays["best_pairs"]
        number, best_round, now.best_score = arrays["numbers"].tolist()
        now.number, now.best_round = int(number), int(best_round)
        now.mapping, now.best = _mapping(arrays, "mapping."), _mapping(arrays, "best.")
        return now


def _mapping(arrays: dict[str, Tensor], prefix: str) -> Mapping | None:
    found = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    if not found:
        return None
    kind = next(iter(found)).partition(".")[0]
    return mapping_from_arrays(kind, {name.partition(".")[2]: array for name, array in found.items()})
