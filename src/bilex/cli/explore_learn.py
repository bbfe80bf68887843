"""bilex explore --learn and --unlearn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.cli import options

if TYPE_CHECKING:
    from pathlib import Path


def relearn_run(run: Path, file: Path, *, back: bool, device: str, as_json: bool) -> None:
    """Let the second stage of a run learn from a file of decisions, or take that back."""
    from bilex.run.reranker_file import remove_relearnt, write_relearnt

    if back:
        found = remove_relearnt(run)
        said = (
            "taken back: candidates are ranked by what the dictionary taught"
            if found
            else "there is nothing to take back"
        )
        _tell(run, 0, said, as_json=as_json)
        return
    alignment = options.load_run(run, device).relearnt(file)
    assert alignment.reranker is not None
    assert alignment.reranker.decided is not None
    words = alignment.reranker.decided.words
    write_relearnt(alignment.reranker, run)
    entries = "1 decided entry" if words == 1 else f"{words:,} decided entries"
    _tell(run, words, f"learnt from {entries}; to take it back: bilex explore {run} --unlearn", as_json=as_json)


def _tell(run: Path, words: int, said: str, *, as_json: bool) -> None:
    if as_json:
        options.print_json({"run": str(run), "learnt_from": words})
    options.say(f"{run}: {said}")
