"""Plots of a search: its history, and the importance of the settings."""

from __future__ import annotations

import warnings
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bilex.errors import MissingExtraError
from bilex.storage.files import atomic_write
from bilex.tune.space import import_optuna

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bilex.tune.study import Study
    from bilex.tune.trial import Outcome

HISTORY, IMPORTANCE = "history.svg", "importance.svg"
MIN_TRIALS = 20
"""Finished trials that are needed to estimate the importance of the settings."""


def draw(folder: Path, study: Study) -> list[Path]:
    """Draw the plots that the trials so far allow."""
    figure_class = _import_figure()
    drawn = [_history(folder / HISTORY, figure_class, study.outcomes)]
    if found := importances(study):
        drawn.append(_importance(folder / IMPORTANCE, figure_class, found))
    return drawn


def importances(study: Study) -> dict[str, float]:
    """Importance of each setting: its share in what separates the best tenth of the trials from the rest (PED-ANOVA).

    Empty if there are too few trials.
    """
    done = [outcome for outcome in study.outcomes if outcome.state == "done"]
    if len(done) < MIN_TRIALS or len({outcome.mrr for outcome in done}) == 1:
        return {}
    optuna = import_optuna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental in some releases
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found: dict[str, float] = optuna.importance.get_param_importances(study.optuna_study, evaluator=evaluator)
    return found


def _history(path: Path, figure_class: Any, outcomes: Sequence[Outcome]) -> Path:
    """The dev MRR of each trial, the best so far, and the defaults."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    numbers, scores = [outcome.number for outcome in done], [outcome.mrr or 0.0 for outcome in done]
    figure = figure_class(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.scatter(numbers, scores, s=18, color="tab:blue", label="trial")
    axes.step(numbers, list(accumulate(scores, max)), where="post", color="tab:orange", label="best so far")
    axes.axhline(scores[0], color="gray", linestyle="--", linewidth=1, label="defaults")
    axes.set(xlabel="trial", ylabel="MRR on dev words")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    return _save(path, figure)


def _importance(path: Path, figure_class: Any, found: dict[str, float]) -> Path:
    names = sorted(found, key=lambda name: found[name])
    figure = figure_class(figsize=(7, 1 + 0.35 * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, [found[name] for name in names], color="tab:blue")
    axes.set(xlabel="importance: share in what separates the best tenth of the trials")
    return _save(path, figure)


def _save(path: Path, figure: Any) -> Path:
    """Write the figure so that the same trials give the same bytes."""
    import matplotlib as mpl

    with atomic_write(path) as temporary, mpl.rc_context({"svg.hashsalt": path.name, "svg.fonttype": "none"}):
        figure.savefig(temporary, format="svg", metadata={"Date": None})
    return path


def _import_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "drawing") from None
    return Figure
