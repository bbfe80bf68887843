"""The result files of a search: settings for `bilex align`, and a table of the trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.page.markup import csv_text
from bilex.settings.file import MethodSettings, write_settings
from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bilex.tune.search import Verdict
    from bilex.tune.space import Space
    from bilex.tune.trial import Outcome

BEST, TRIALS = "best.toml", "trials.csv"


def write_report(folder: Path, space: Space, verdict: Verdict, outcomes: Sequence[Outcome]) -> None:
    """Write the chosen settings and all trials."""
    chosen = MethodSettings(space.method.name, {**space.given, **verdict.chosen.settings})
    write_settings(folder / BEST, chosen, comments=comments(verdict, len(outcomes)))
    columns = ["trial", "state", "dev_mrr", "dev_p_at_1", "seconds", *space.searched, "error"]
    with atomic_write(folder / TRIALS) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        rows = (_row(outcome) for outcome in outcomes)
        file.write(csv_text(columns, ([row.get(column, "") for column in columns] for row in rows)))


def comments(verdict: Verdict, trials: int) -> list[str]:
    """How the settings were chosen, in sentences."""
    words = len(verdict.default.ranks)
    head = f"Chosen by `bilex tune` from {trials} trials, by MRR on {words} dev words."
    default = f"Defaults: MRR {verdict.default.mrr:.4f}, P@1 {verdict.default.p_at_1:.1f}."
    if verdict.best is verdict.default:
        return [head, default, "No trial was better. These are the default settings."]
    best = f"Trial {verdict.best.number}: MRR {verdict.best.mrr:.4f}, P@1 {verdict.best.p_at_1:.1f}."
    gain = f"a gain of {verdict.gain:.4f}, with a standard error of {verdict.standard_error:.4f}"
    if verdict.defaults_stand:
        return [
            head,
            default,
            f"{best} It is the best, but its gain may be due to chance: {gain}. These are the default settings.",
        ]
    return [head, default, f"{best} It has {gain}. These are its settings."]


def to_json(folder: Path, space: Space, verdict: Verdict, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The same for programs."""
    states = [outcome.state for outcome in outcomes]
    return {
        "folder": str(folder),
        "method": space.method.name,
        "settings": {**space.given, **verdict.chosen.settings},
        "defaults_stand": verdict.defaults_stand,
        "objective": "dev_mrr",
        "dev_words": len(verdict.default.ranks),
        "default": _figures(verdict.default),
        "best": _figures(verdict.best),
        "gain": verdict.gain,
        "standard_error": verdict.standard_error,
        "trials": {"all": len(states), **{state: states.count(state) for state in ("done", "stopped", "failed")}},
        "seconds": sum(outcome.seconds for outcome in outcomes),
    }


def _figures(outcome: Outcome) -> dict[str, Any]:
    return {
        "trial": outcome.number,
        "dev_mrr": outcome.mrr,
        "dev_p_at_1": outcome.p_at_1,
        "settings": outcome.settings,
    }


def _row(outcome: Outcome) -> dict[str, Any]:
    return {
        "trial": outcome.number,
        "state": outcome.state,
        "dev_mrr": outcome.mrr,
        "dev_p_at_1": outcome.p_at_1,
        "seconds": round(outcome.seconds, 2),
        **outcome.settings,
        "error": outcome.error,
    }
