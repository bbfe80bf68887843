"""InstaMap: a rotation, and a shift for each word."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import torch

from bilex.errors import AlignmentError, SettingsError
from bilex.induction.induction import Induction
from bilex.linalg.procrustes import procrustes
from bilex.mapping import Mapping, nested_arrays, nested_mapping
from bilex.methods.base import Method
from bilex.normalize import Normalizer, unit
from bilex.search.topk import topk
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.storage.array_form import Forms
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class InstaMap(Method):
    """Rotation, then a shift of each word by those of the dictionary words nearest to it, in rounds: InstaMap.

    A round begins with tables X: (n, d), Z: (m, d) and pairs, and does

    1. X ← (X − mean of X) P, Z ← (Z − mean of Z) Q;  P, Q: (d, e) the leading principal axes of each table;
    2. X ← X W, W the orthogonal map that minimizes ‖XW − Z‖ over the pairs, whose rows are then sⱼ and tⱼ: (e,);
    3. x ← x + Σⱼ wⱼ (tⱼ − sⱼ), over the `neighbours` nearest sⱼ, wⱼ = cos(x, sⱼ) / Σ cos(x, sⱼ), for each source word;
       z ← z + Σⱼ wⱼ (sⱼ − tⱼ), over the `neighbours` nearest tⱼ, wⱼ = cos(z, tⱼ) / Σ cos(z, tⱼ), for each target word;
    4. for the next round, pairs ← all words that are each other's nearest by cosine. The dictionary counts once only.

    Without step 3 this is Procrustes after a PCA. On the tables that another method has mapped (`start=vecmap`) it is
    the paper's IM.VM, the better one there as on our held-out words. The mapping holds the rows of the pairs of every
    round, so that it maps new words as those of the tables.

    Where it deviates: the paper makes W a rotation without a reflection. The axes of a PCA have no sign, so that this
    would turn one of them around or not by chance, and W may be a reflection here. Negative cosines have no weight, and
    a word that has no others is not shifted; the paper does not say, and its weights could grow without bound. Rows are
    of length 1 in the beginning; the paper takes them as they are, but a shift from one table to another that has
    vectors of another length is all length (P@1 on words held out of train, en-ru: 21.6 as they are, 60.9 so).
    """

    name = "instamap"
    paper = "Glavaš and Vulić (2020). Non-linear instance-based cross-lingual mapping for non-isomorphic spaces. ACL"
    finds_pairs = True

    normalize: tuple[str, ...] = ("unit",)
    start: Method | None = None
    """What maps both tables first, normalized as it wants them; none: nothing does."""
    rounds: int = 4
    """Times that rows are shifted. The paper stops after three or four."""
    neighbours: int = 70
    """Dictionary words that each shift is taken from; all, if there are not so many."""
    pca: float = 0.967
    """The share of the dimensions that stays: 290 of 300."""
    induction: Induction = field(default_factory=lambda: Induction(max_rank=200_000, k=0))
    """Which pairs enlarge the dictionary of the next round."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "rounds", "neighbours")
        if not 0 < self.pca <= 1:
            raise SettingsError(f"{self.name}: pca={self.pca}; needed a number above 0, at most 1")

    @property
    def rank_cut(self) -> int:
        """Pairs are induced among so many words only."""
        return self.induction.max_rank

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> InstaMapping:
        """The rounds, one after the other."""
        start = None
        if self.start is not None:
            start, x, z = _begin(self.start, x, z, pairs, dev=dev, generator=generator, trace=trace)
        dims, rounds = max(1, round(self.pca * x.shape[1])), []
        for number in range(self.rounds):
            trace(round=number, pairs=len(pairs))
            rounds.append(_learn(x, z, pairs, dims, self.neighbours))
            x, z = rounds[-1].source(x), rounds[-1].target(z)
            if number + 1 < self.rounds:
                pairs = self.induction(unit(x), unit(z), generator).pairs
                if not len(pairs):
                    raise AlignmentError(f"round {number} of {self.name} found no pairs; loosen the induction")
        return InstaMapping(start=start, rounds=tuple(rounds))


def _begin(
    method: Method, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
) -> tuple[Start, Tensor, Tensor]:
    """Another method's mapping, and the tables it has mapped."""
    (of_x, x), (of_z, z) = (Normalizer.fit(rows, method.normalize) for rows in (x, z))
    mapping = method.fit(x, z, pairs, dev=dev, generator=generator, trace=trace)
    return Start(of_x, of_z, mapping), mapping.source(x), mapping.target(z)


def _learn(x: Tensor, z: Tensor, pairs: Tensor, dims: int, neighbours: int) -> Round:
    """Steps 1 and 2."""
    (mean_x, p), (mean_z, q) = _principal(x, dims), _principal(z, dims)
    s, t = (x[pairs[:, 0]] - mean_x) @ p, (z[pairs[:, 1]] - mean_z) @ q
    w = procrustes(s, t)
    return Round(mean_x, p @ w, mean_z, q, s @ w, t, torch.tensor(neighbours))


def _principal(rows: Tensor, dims: int) -> tuple[Tensor, Tensor]:
    """Mean (d,) and leading principal axes (d, e)."""
    mean = rows.mean(0)
    centred = rows - mean
    axes = torch.linalg.eigh((centred.T @ centred).double()).eigenvectors
    return mean, axes.flip(1)[:, :dims].to(rows).contiguous()


class Start(NamedTuple):
    """How another method normalized and mapped the tables."""

    source_normalizer: Normalizer
    target_normalizer: Normalizer
    mapping: Mapping

    def source(self, rows: Tensor, among: Tensor | None) -> Tensor:
        """Source rows, normalized and mapped."""
        among = None if among is None else self.source_normalizer(among)
        return self.mapping.source(self.source_normalizer(rows), among=among)

    def target(self, rows: Tensor, among: Tensor | None) -> Tensor:
        """Target rows, normalized and mapped."""
        among = None if among is None else self.target_normalizer(among)
        return self.mapping.target(self.target_normalizer(rows), among=among)


class Round(NamedTuple):
    """What a round does to any row.  means: (d,), matrices: (d, e), the rows of the pairs s and t: (p, e)."""

    source_mean: Tensor
    source_matrix: Tensor
    target_mean: Tensor
    target_matrix: Tensor
    s: Tensor
    t: Tensor
    neighbours: Tensor

    def source(self, rows: Tensor) -> Tensor:
        """Rotate and shift."""
        rows = (rows - self.source_mean.to(rows)) @ self.source_matrix.to(rows)
        return rows + self._shift(rows, self.s.to(rows), self.t.to(rows))

    def target(self, rows: Tensor) -> Tensor:
        """Project and shift."""
        rows = (rows - self.target_mean.to(rows)) @ self.target_matrix.to(rows)
        return rows + self._shift(rows, self.t.to(rows), self.s.to(rows))

    def _shift(self, rows: Tensor, near: Tensor, far: Tensor) -> Tensor:
        """The weighted mean of far − near over the nearest of `near`.  rows: (n, e); near, far: (p, e)."""
        found = topk(unit(rows), unit(near), int(self.neighbours))
        weights = found.values.clamp_min(0)
        weights = weights / weights.sum(1, keepdim=True).clamp_min(1e-12)
        # as a bag of embeddings, so that the n x k rows are never gathered
        return torch.nn.functional.embedding_bag(found.indices, far - near, per_sample_weights=weights, mode="sum")


@dataclass(frozen=True, eq=False, kw_only=True)
class InstaMapping(Mapping, kind="instamap"):
    """A chain of rounds, after another mapping if there is one."""

    rounds: tuple[Round, ...]
    start: Start | None = None

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Round after round."""
        rows = rows if self.start is None else self.start.source(rows, among)
        for each in self.rounds:
            rows = each.source(rows)
        return rows

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Round after round."""
        rows = rows if self.start is None else self.start.target(rows, among)
        for each in self.rounds:
            rows = each.target(rows)
        return rows

    def arrays(self) -> dict[str, Tensor]:
        """`0.source_mean`, ... of each round; of the start `start.source.0.unit`, ..., `start.mapping.KIND.NAME`."""
        arrays = {f"{i}.{name}": array for i, each in enumerate(self.rounds) for name, array in each._asdict().items()}
        if self.start is not None:
            for side, normalizer in (
                ("source", self.start.source_normalizer),
                ("target", self.start.target_normalizer),
            ):
                for i, (step, state) in enumerate(zip(normalizer.steps, normalizer.states, strict=True)):
                    arrays[f"start.{side}.{i}.{step}"] = state
                if normalizer.median is not None:
                    arrays[f"start.{side}.median"] = normalizer.median
            arrays |= nested_arrays(self.start.mapping, "start.mapping.")
        return arrays

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """Each round leads from one dimension to the next; of the start its own parts know."""
        start = {name: array for name, array in arrays.items() if name.startswith("start.")}
        forms, rounds = super().forms(start), sum(name.endswith(".s") for name in arrays.keys() - start)
        for i in range(max(1, rounds)):
            d, e, p = f"d after {i} rounds", f"d after {i + 1} rounds", f"pairs {i}"
            shapes = ((d,), (d, e), (d,), (d, e), (p, e), (p, e))
            floats = dict(zip(Round._fields, map(ArrayForm, shapes), strict=False))
            forms |= {f"{i}.{name}": form for name, form in floats.items()}
            forms[f"{i}.neighbours"] = ArrayForm((), "int64")
        return forms

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        rounds: tuple[Round, ...] = ()
        while f"{len(rounds)}.s" in arrays:
            rounds += (Round(**{name: arrays[f"{len(rounds)}.{name}"] for name in Round._fields}),)
            if not 0 < int(rounds[-1].neighbours) < 2**31:
                raise ValueError(f"a round has {int(rounds[-1].neighbours)} neighbours; needed at least 1")
        mapping = nested_mapping(arrays, "start.mapping.")
        if mapping is None:
            return cls(rounds=rounds)
        return cls(
            rounds=rounds,
            start=Start(_normalizer(arrays, "start.source."), _normalizer(arrays, "start.target."), mapping),
        )


def _normalizer(arrays: dict[str, Tensor], prefix: str) -> Normalizer:
    names = sorted(name for name in arrays if name.startswith(prefix) and name != f"{prefix}median")
    states = {f"{prefix}{i}": arrays[name] for i, name in enumerate(names)}
    states |= {name: array for name, array in arrays.items() if name == f"{prefix}median"}
    return Normalizer.from_arrays([name.rpartition(".")[2] for name in names], states, prefix.removesuffix("."))
