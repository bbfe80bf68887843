"""InstaMap: a rotation, and an individual shift of each word."""

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
from bilex.search.smoothing import nearest_average
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.storage.array_form import Forms
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class InstaMap(Method):
    """Rotation, then a shift of each word towards the translations of near dictionary words, in rounds: InstaMap.

    A round starts from tables X: (n, d), Z: (m, d) and pairs:

    1. X ← (X − mean of X) P, Z ← (Z − mean of Z) Q;  P, Q: (d, e) the leading principal axes of each table;
    2. X ← X W, W the orthogonal map that minimizes ‖XW − Z‖ over the pairs, whose rows are then sⱼ and tⱼ: (e,);
    3. x ← x + Σⱼ wⱼ (tⱼ − sⱼ), over the `neighbours` nearest sⱼ, wⱼ = cos(x, sⱼ) / Σ cos(x, sⱼ), for each source word;
       z ← z + Σⱼ wⱼ (sⱼ − tⱼ), over the `neighbours` nearest tⱼ, wⱼ = cos(z, tⱼ) / Σ cos(z, tⱼ), for each target word;
    4. for the next round, pairs ← all mutual nearest neighbours by cosine. The dictionary is used in round 0 only.

    Without step 3 this is Procrustes after a PCA. On tables that another method has mapped (`start=vecmap`) it is the
    IM.VM of the paper, which is better both in the paper and on our held-out words. The mapping stores the rows of the
    pairs of every round, so it maps new words like those of the tables.

    Deviations: in the paper W is a rotation without reflection. The sign of PCA axes is arbitrary, so that would flip
    an axis at random; here W may be a reflection. Negative cosines have weight 0, and a word with no positive cosine is
    not shifted; the paper does not mention this case, and its weights could grow without bound. Rows are normalized to
    length 1 first, which the paper does not do: between tables with vectors of different lengths, a shift would mostly
    change the length (P@1 on words held out of train, en-ru: 21.6 without, 60.9 with normalization).
    """

    name = "instamap"
    paper = "Glavaš and Vulić (2020). Non-linear instance-based cross-lingual mapping for non-isomorphic spaces. ACL"
    finds_pairs = True

    normalize: tuple[str, ...] = ("unit",)
    start: Method | None = None
    """A method that maps both tables first, with its own normalization; none: no such method."""
    rounds: int = 4
    """Number of rounds. In the paper three or four."""
    neighbours: int = 70
    """Dictionary words that determine the shift of a word; all, if there are fewer."""
    pca: float = 0.967
    """Share of the dimensions that the PCA keeps: 290 of 300."""
    induction: Induction = field(default_factory=lambda: Induction(max_rank=200_000, k=0))
    """How the pairs of the next round are induced."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "rounds", "neighbours")
        if not 0 < self.pca <= 1:
            raise SettingsError(f"{self.name}: pca={self.pca}; needed a number above 0, at most 1")

    @property
    def rank_cut(self) -> int:
        """Pairs are induced among the most frequent words only."""
        return self.induction.max_rank

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> InstaMapping:
        """All rounds."""
        start = None
        if self.start is not None:
            start, x, z = _fit_start(self.start, x, z, pairs, dev=dev, generator=generator, trace=trace)
        dims, rounds = max(1, round(self.pca * x.shape[1])), []
        for number in range(self.rounds):
            trace(round=number, pairs=len(pairs))
            rounds.append(_fit_round(x, z, pairs, dims, self.neighbours))
            x, z = rounds[-1].source(x), rounds[-1].target(z)
            if number + 1 < self.rounds:
                pairs = self.induction(unit(x), unit(z), generator).pairs
                if not len(pairs):
                    raise AlignmentError(f"round {number} of {self.name} found no pairs; relax its induction")
        return InstaMapping(start=start, rounds=tuple(rounds))


def _fit_start(
    method: Method, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
) -> tuple[Start, Tensor, Tensor]:
    """The mapping of another method, and the tables it has mapped."""
    (of_x, x), (of_z, z) = (Normalizer.fit(rows, method.normalize) for rows in (x, z))
    mapping = method.fit(x, z, pairs, dev=dev, generator=generator, trace=trace)
    return Start(of_x, of_z, mapping), mapping.source(x), mapping.target(z)


def _fit_round(x: Tensor, z: Tensor, pairs: Tensor, dims: int, neighbours: int) -> Round:
    """Steps 1 and 2."""
    (mean_x, p), (mean_z, q) = _principal(x, dims), _principal(z, dims)
    s, t = (x[pairs[:, 0]] - mean_x) @ p, (z[pairs[:, 1]] - mean_z) @ q
    w = procrustes(s, t)
    return Round(mean_x, p @ w, mean_z, q, s @ w, t, torch.tensor(neighbours))


def _principal(rows: Tensor, dims: int) -> tuple[Tensor, Tensor]:
    """Mean (d,) and leading principal axes (d, e) of the rows."""
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
        """Source rows, normalized and mapped by the other method."""
        among = None if among is None else self.source_normalizer(among)
        return self.mapping.source(self.source_normalizer(rows), among=among)

    def target(self, rows: Tensor, among: Tensor | None) -> Tensor:
        """Target rows, normalized and mapped by the other method."""
        among = None if among is None else self.target_normalizer(among)
        return self.mapping.target(self.target_normalizer(rows), among=among)


class Round(NamedTuple):
    """The parameters of a round.  means: (d,), matrices: (d, e), rows of the pairs s, t: (p, e)."""

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
        return nearest_average(unit(rows), unit(near), far - near, int(self.neighbours))


@dataclass(frozen=True, eq=False, kw_only=True)
class InstaMapping(Mapping, kind="instamap"):
    """All rounds, after the mapping of another method if there is one."""

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
        """Each round maps from one dimension to the next; the start has arrays of any form."""
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
