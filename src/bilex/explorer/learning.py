"""The second stage learns from the decisions, in the background of the page, and the lexicon is ranked anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.errors import ExplorerError
from bilex.explorer.preparation import Background, NotReadyError
from bilex.run.relearning import relearn
from bilex.run.reranker_file import remove_relearnt, write_relearnt

if TYPE_CHECKING:
    from collections.abc import Callable

    from bilex.explorer.explorer import Explorer
    from bilex.rerank.reranker import Reranker
    from bilex.search.blocks import Progress


class Learning:
    """Learns from all valid decisions at once, or takes back what was learnt.

    The saved stage stays as it is: what is learnt is in a file beside it. The most frequent words are ranked first, and
    shown within seconds; the others follow.
    """

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._work: Background | None = None

    def start(self) -> None:
        """Learn from the decisions."""
        self._begin({"learning from the decisions": lambda _: self._learn()})

    def take_back(self) -> None:
        """Rank by what was learnt from the dictionary alone."""
        self._begin({"taking back": lambda _: self._take_back()})

    def stop(self) -> None:
        """Stop what is being done, and wait for its end."""
        if self._work is not None:
            self._work.stop()

    def status(self) -> dict[str, Any]:
        """Whether a run can learn at all, from how many words it has learnt, and what is being done."""
        reranker = self._explorer.alignment.reranker
        decided = None if reranker is None else reranker.decided
        return {
            "possible": self._explorer.ranks and reranker is not None and bool(reranker.original.lists),
            "words": 0 if decided is None else decided.words,
            "running": self._work is not None and self._work.running,
            **({"step": "", "share": 0.0, "done": True, "error": None} if self._work is None else self._work.status()),
        }

    def _begin(self, first: dict[str, Callable[[Progress], object]]) -> None:
        if not self._explorer.ranks:
            raise ExplorerError("this run has no second stage that could learn from decisions; align again for one")
        if not self._explorer.preparation.status()["done"]:
            raise NotReadyError("The lexicon is still being induced")
        if self._work is not None and self._work.running:
            raise NotReadyError("The lexicon is being ranked anew")
        self._work = Background(
            {**first, "the most frequent words": self._show_first, "all words": self._show_all}, "bilex-learning"
        )
        self._work.start()

    def _learn(self) -> None:
        alignment, corrections = self._explorer.alignment, self._explorer.corrections
        learnt = relearn(alignment, *corrections.judged())
        if alignment.folder is not None:
            write_relearnt(learnt, alignment.folder)
        self._turn_to(learnt)

    def _take_back(self) -> None:
        alignment = self._explorer.alignment
        assert alignment.reranker is not None
        if alignment.folder is not None:
            remove_relearnt(alignment.folder)
        self._turn_to(alignment.reranker.original)

    def _turn_to(self, reranker: Reranker) -> None:
        self._alignment = self._explorer.alignment.reranked(reranker)
        self._induced = self._explorer.induced_by(self._alignment)

    def _show_first(self, progress: Progress) -> None:
        before = self._explorer.induced.ranked
        assert before is not None
        self._induced.find_first(before, progress)
        self._explorer.show(self._alignment, self._induced)

    def _show_all(self, progress: Progress) -> None:
        self._induced.find(progress)
        self._explorer.show(self._alignment, self._induced)
