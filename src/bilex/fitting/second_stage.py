"""The second stage of a new alignment, learnt from its dictionary."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import torch

from bilex.errors import BilexError
from bilex.fitting.saved_folds import FoldFiles
from bilex.normalize import unit
from bilex.rerank.learning import SecondStage
from bilex.retrieval.sides import Sides
from bilex.run.second_stage import evidence
from bilex.training.checkpoint import NO_CHECKPOINT
from bilex.training.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.alignment import Alignment
    from bilex.fitting.inputs import Inputs
    from bilex.rerank.reranker import Reranker
    from bilex.training.checkpoint import Checkpoint


def fit_second_stage(
    alignment: Alignment,
    inputs: Inputs,
    settings: SecondStage | None = None,
    *,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Reranker | None:
    """Learn to rank the candidates; None if there are too few words, or if the vectors alone are as good.

    The folds are mapped by a light form of the method. Finished folds are saved beside the checkpoint.
    """
    settings = settings or SecondStage()
    x, z = alignment.normalized("source"), alignment.normalized("target")
    light = inputs.method.light()

    def fit(pairs: NDArray[np.int64]) -> Sides[Tensor]:
        known, generator = torch.from_numpy(pairs).to(alignment.device), torch.Generator().manual_seed(inputs.rng_seed)
        mapping = light.fit(x, z, known, dev=None, generator=generator, trace=Trace())
        mapping = alignment.mapping.completing(mapping, x, z, known)
        return Sides(unit(mapping.source(x)), unit(mapping.target(z)))

    known, saved = evidence(alignment), None
    if checkpoint.folder is not None:
        about = {
            "mapping": alignment.mapping.kind,
            "stage": asdict(settings),
            "light": light.describe(),
            "rng_seed": inputs.rng_seed,
        }
        saved = FoldFiles(checkpoint.folder, known, {**about, "method": light.name})
    try:
        return settings.fit(fit, known, rng_seed=inputs.rng_seed, saved=saved)
    except (BilexError, torch.linalg.LinAlgError):  # type: ignore[attr-defined]
        return None  # a fold has too few pairs for the method
