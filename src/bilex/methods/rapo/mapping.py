"""The mapping that RAPO returns: both towers, with the neighbours of every word."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import torch

from bilex.mapping import Mapping
from bilex.methods.rapo.adapter import SLOPES, Activation, adapt
from bilex.methods.rapo.context import ContextMeans, ContextSettings, Neighbourhoods, context_vectors
from bilex.storage.array_form import ArrayForm

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.methods.rapo.context import Contexts
    from bilex.storage.array_form import Forms

MATRICES = ("source_adapter", "target_adapter", "source_projection", "target_projection")
KINDS = (Neighbourhoods, ContextMeans)


@dataclass(frozen=True, eq=False, kw_only=True)
class TowerMapping(Mapping, kind="towers"):
    """x → unit(x + σ(x̄ W)) A, z → unit(z + σ(z̄ W')) B, with x̄ the mean of x and its neighbours."""

    source_adapter: Tensor
    target_adapter: Tensor
    source_projection: Tensor
    target_projection: Tensor
    activation: Activation
    tau_source: float
    tau_target: float
    context_cap: int | None
    source_context: Contexts | None = None
    target_context: Contexts | None = None
    """Neighbours in the two tables that were aligned; stored, so that they need not be searched again."""

    @property
    def context_settings(self) -> ContextSettings:
        """The settings that the contexts were searched with."""
        return ContextSettings(tau_source=self.tau_source, tau_target=self.tau_target, cap=self.context_cap)

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """unit(x + σ(x̄ W)) A."""
        context = self._context(rows, among, self.tau_source, self.source_context)
        return adapt(rows, context, self.source_adapter.to(rows), self.activation) @ self.source_projection.to(rows)

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """unit(z + σ(z̄ W')) B."""
        context = self._context(rows, among, self.tau_target, self.target_context)
        return adapt(rows, context, self.target_adapter.to(rows), self.activation) @ self.target_projection.to(rows)

    def _context(self, rows: Tensor, among: Tensor | None, tau: float, stored: Contexts | None) -> Tensor:
        if self.activation == "none":
            return rows
        if among is None and stored is not None and stored.belong_to(rows):
            return stored.means(rows)
        return context_vectors(rows, tau, among=among, cap=self.context_cap)

    def arrays(self) -> dict[str, Tensor]:
        """The four matrices, the settings as numbers, and the neighbours if they are stored."""
        settings = [list(SLOPES).index(self.activation), self.tau_source, self.tau_target, self.context_cap or 0]
        arrays = {name: getattr(self, name) for name in MATRICES}
        for side in ("source", "target"):
            context: Contexts | None = getattr(self, f"{side}_context")
            if context is not None:
                arrays |= {f"{side}_context.{name}": array for name, array in vars(context).items()}
        return arrays | {"settings": torch.tensor(settings, dtype=torch.float64)}

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """Square matrices, four settings, and for each side either all arrays of its neighbours or none."""
        forms = {name: ArrayForm(("d", "d")) for name in MATRICES} | {"settings": ArrayForm((4,))}
        for side in ("source_context", "target_context"):
            n, k, probed = (f"{side}: {size}" for size in ("n + 1", "k", "probed"))
            if f"{side}.vectors" in arrays:
                forms[f"{side}.vectors"] = ArrayForm((f"{side}: n", "d"))
                forms[f"{side}.probe"] = ArrayForm((probed, "d"))
            elif any(name.startswith(f"{side}.") for name in arrays):
                forms[f"{side}.offsets"] = ArrayForm((n,), "int64")
                forms[f"{side}.members"] = ArrayForm((k,), "int64")
                forms[f"{side}.probe"] = ArrayForm((probed, "d"))
        return forms

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        activation, tau_source, tau_target, cap = arrays["settings"].tolist()
        if activation not in range(len(SLOPES)) or not cap.is_integer() or not 0 <= cap < 2**31:
            raise ValueError(f"the settings are {arrays['settings'].tolist()}, which are not settings of RAPO")
        source_context, target_context = (_stored(arrays, f"{side}_context.") for side in ("source", "target"))
        return cls(
            source_adapter=arrays["source_adapter"],
            target_adapter=arrays["target_adapter"],
            source_projection=arrays["source_projection"],
            target_projection=arrays["target_projection"],
            activation=list(SLOPES)[int(activation)],
            tau_source=tau_source,
            tau_target=tau_target,
            context_cap=int(cap) or None,
            source_context=source_context,
            target_context=target_context,
        )


def _stored(arrays: dict[str, Tensor], prefix: str) -> Contexts | None:
    """The stored neighbours of one side, if there are any."""
    for kind in KINDS:
        names = [field.name for field in fields(kind)]
        if all(prefix + name in arrays for name in names):
            context: Contexts = kind(*(arrays[prefix + name] for name in names))
            context.check()
            return context
    return None
