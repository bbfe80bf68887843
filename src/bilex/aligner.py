"""`align` with the interface of scikit-learn: arrays in, arrays out. Scikit-learn is not required."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np
import torch

from bilex.errors import AlignmentError, LexiconError, SettingsError, TableError
from bilex.fitting.fit import fit
from bilex.fitting.inputs import collect
from bilex.io.in_memory import is_gensim
from bilex.lexicon import Lexicon
from bilex.table import EmbeddingTable
from bilex.text.suggest import suggestion
from bilex.text.words import describe_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bilex.alignment import Alignment
    from bilex.io.in_memory import LexiconLike, TableLike
    from bilex.methods.base import Method
    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Side

    Rows: TypeAlias = ArrayLike | TableLike


class Aligner:
    """Maps the rows of X and Z into one space, fitted to pairs of rows that are translations.

    method: a name or a method; the default is chosen as in `align`, with `fast` too. settings: those of a method that
    is given by name. retrieval: the search of `predict`, by default CSLS. Rows should be in order of frequency, as for
    `align`. After `fit`, `alignment_` is the `Alignment`: `aligner.alignment_.save("run")`.
    """

    def __init__(
        self,
        method: str | Method | None = None,
        *,
        fast: bool = False,
        settings: Mapping[str, Any] | None = None,
        retrieval: Retrieval | None = None,
        rng_seed: int = 0,
        device: str | None = None,
    ) -> None:
        self.method = method
        self.fast = fast
        self.settings = settings
        self.retrieval = retrieval
        self.rng_seed = rng_seed
        self.device = device

    def fit(
        self,
        X: Rows,
        Z: Rows,
        pairs: ArrayLike | LexiconLike | None = None,
        *,
        dev: ArrayLike | LexiconLike | None = None,
    ) -> Self:
        """Fit.  X: (n, d), Z: (m, d); pairs, dev: (p, 2), row of X and row of Z.

        X and Z can also be tables, or anything that `EmbeddingTable.of` accepts; then pairs and dev can be lexicons, or
        anything that `Lexicon.of` accepts. Choices of a method are made on dev, or on pairs held out of `pairs`.
        """
        source, target = _table(X), _table(Z)
        lexicons = [None if given is None else _lexicon(given, source, target) for given in (pairs, dev)]
        inputs = collect(
            source,
            target,
            lexicons[0],
            dev=lexicons[1],
            method=self.method,
            fast=self.fast,
            settings=self.settings,
            rng_seed=self.rng_seed,
        )
        self.alignment_: Alignment = fit(inputs, device=self.device, measured=True)
        return self

    def transform(self, X: Rows, side: Side = "source") -> NDArray[np.float32]:
        """Map rows of the source or target space to the shared space, unit rows: (q, d) → (q, e)."""
        return self._fitted().apply(_table(X), side).rows

    def predict(self, X: Rows, n: int | None = None) -> NDArray[np.int64]:
        """The row of Z that translates each row of X: (q,); with n, the n best rows, best first: (q, n)."""
        alignment = self._fitted()
        mapped = torch.from_numpy(self.transform(X)).to(alignment.device)
        best: NDArray[np.int64] = alignment.index(self.retrieval).topk(mapped, n or 1).indices.cpu().numpy()
        return best[:, 0] if n is None else best

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (the name scikit-learn calls)
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        for name, value in params.items():
            if name not in _parameters():
                known = _parameters()
                raise SettingsError(f"Aligner has no parameter {name!r}{suggestion(name, known)}; {', '.join(known)}")
            setattr(self, name, value)
        return self

    def _fitted(self) -> Alignment:
        if not hasattr(self, "alignment_"):
            raise AlignmentError("this Aligner is not fitted yet; call fit(X, Z, pairs) first")
        return self.alignment_

    def __sklearn_tags__(self) -> Any:
        """Tags that scikit-learn needs for a step of a pipeline."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def __repr__(self) -> str:
        return f"Aligner({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"


def _parameters() -> list[str]:
    return [name for name in inspect.signature(Aligner.__init__).parameters if name != "self"]


def _table(rows: Rows) -> EmbeddingTable:
    """A table. For a plain array, the row numbers are the words."""
    if isinstance(rows, EmbeddingTable | str | PathLike | Mapping) or is_gensim(rows):
        return EmbeddingTable.of(cast("TableLike", rows))
    try:
        array = np.ascontiguousarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"found {describe_value(rows)}; needed a matrix of numbers (n, d), or a table: {error}"
        ) from None
    return EmbeddingTable([str(i) for i in range(len(array))], array)


def _lexicon(given: ArrayLike | LexiconLike, source: EmbeddingTable, target: EmbeddingTable) -> Lexicon:
    """A lexicon. Pairs of row numbers become pairs of the words of these rows."""
    rows = None if isinstance(given, Lexicon | str | PathLike | Mapping) else np.asarray(given)
    if rows is None or rows.dtype.kind == "U":
        return Lexicon.of(cast("LexiconLike", given))
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise LexiconError(f"pairs are {rows.dtype} of shape {rows.shape}; needed whole numbers of shape (pairs, 2)")
    sizes = (len(source), len(target))
    if len(rows) and ((rows < 0).any() or (rows >= sizes).any()):
        raise LexiconError(
            f"pairs name rows up to {rows.max(0)}, from {rows.min(0)}; X has {sizes[0]} rows and Z {sizes[1]}"
        )
    return Lexicon.from_pairs((source.words[i], target.words[j]) for i, j in rows.tolist())
