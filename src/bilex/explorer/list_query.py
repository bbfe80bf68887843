"""The filter of the review list, as parameters of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, get_args

import numpy as np
from fastapi import Depends, HTTPException, Query

from bilex.explorer.entries import Doubt, Filter, Hidden, Order
from bilex.explorer.review import Status  # noqa: TC001 (FastAPI reads the types)
from bilex.run.decision import MAX_WORD_LENGTH, Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.explorer.explorer import Explorer

Bound = Annotated[float | None, Query(allow_inf_nan=False)]
Rank = Annotated[int | None, Query(ge=1)]


class Wanted(NamedTuple):
    """Which entries to list: by what they are, and by what was decided."""

    filter: Filter
    status: Status | Literal[""]
    mark: Mark
    part: str
    """Part of speech."""

    def rows(self, explorer: Explorer) -> NDArray[np.int64]:
        """The rows of the entries, in order."""
        keep = explorer.review.with_status(self.status) if self.status else None
        if self.mark:
            marked = explorer.review.with_mark(self.mark)
            keep = marked if keep is None else keep & marked
        if self.part:
            of_part = np.array([part == self.part for part in explorer.parts])
            keep = of_part if keep is None else keep & of_part
        return explorer.entries.select(self.filter, keep)


def wanted(
    text: Annotated[str, Query(max_length=MAX_WORD_LENGTH)] = "",
    status: Status | Literal[""] = "",
    mark: Mark = "",
    doubt: Doubt | Literal["any", ""] = "",
    origin: Literal["given", "found", ""] = "",
    min_score: Bound = None,
    max_score: Bound = None,
    min_margin: Bound = None,
    min_confidence: Bound = None,
    max_confidence: Bound = None,
    min_rank: Rank = None,
    max_rank: Rank = None,
    script: Annotated[str, Query(max_length=40)] = "",
    part: Annotated[str, Query(max_length=100)] = "",
    hide: Annotated[str, Query(max_length=40)] = "",
    order: Order = "frequency",
    ascending: bool = True,
) -> Wanted:
    """The filter of a request. hide: names of `Hidden` with commas between them."""
    hidden = frozenset(filter(None, hide.split(",")))
    if not hidden <= set(get_args(Hidden)):
        raise HTTPException(422, f"hide: found {hide!r}, needed some of {', '.join(get_args(Hidden))}")
    made = Filter(
        text=text,
        doubt=doubt,
        origin=origin,
        min_score=min_score,
        max_score=max_score,
        min_margin=min_margin,
        min_confidence=min_confidence,
        max_confidence=max_confidence,
        min_rank=min_rank,
        max_rank=max_rank,
        script=script,
        hide=hidden,  # type: ignore[arg-type]  # checked above
        order=order,
        ascending=ascending,
    )
    return Wanted(made, status, mark, part)


Page = Annotated[Wanted, Depends(wanted)]
