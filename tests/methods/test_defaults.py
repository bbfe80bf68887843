"""What every method is by default: documents state it, and published figures were made with it."""

from dataclasses import asdict, fields, is_dataclass

import pytest

from bilex import all_methods
from bilex.induction.induction import Induction

USUAL = ("unit", "center", "unit")
INDUCTION = {
    "max_rank": 15000,
    "candidates": None,
    "beyond": True,
    "k": 10,
    "direction": "mutual",
    "confidence": "score",
    "rank_penalty": 0.0,
    "threshold": None,
    "share": 1.0,
    "max_pairs": None,
    "keep_probability": 1.0,
}
RAPO = {
    "normalize": USUAL,
    "start": "geomm",
    "activation": "linear",
    "projection": "householder",
    "orthogonality": 0.0,
    "reflections": None,
    "tau_source": 0.9,
    "tau_target": 0.9,
    "context_cap": None,
    "hard": 64,
    "random": 64,
    "negatives": "shared",
    "warm_up": 0,
    "ranking": 1.0,
    "count": "words",
    "lambda_1": 0.0,
    "distance": "euclidean",
    "lambda_2": 0.0,
    "regularize": "adapters",
    "two_way": False,
    "epochs": 5,
    "batch": 256,
    "learning_rate": 0.001,
    "decay": True,
    "patience": 5,
    "smooth": 3,
    "refit": True,
    "warm_start": True,
    "k": 10,
    "dtype": "auto",
}
RAPO_ADDED = {
    "adapters": "zeros",
    "tau_included": False,
    "origin": "start",
    "shuffle": "words",
    "choose_by": "mrr",
}
SELF_LEARNING_ADDED = {
    "extend": "new_words",
    "accumulate": False,
    "base_dev": "first",
    "choice": "within_error",
    "refit": True,
}
VECMAP = {
    "normalize": USUAL,
    "dropout_max_rank": 4000,
    "max_rank": 20000,
    "keep_probability": 0.1,
    "patience": 5,
    "rounds": 5,
    "min_agreement": 0.4,
    "tries": 2,
    "k": 10,
    "keep_dictionary": True,
}
DEFAULTS = {
    "adversarial": {
        "normalize": (),
        "epochs": 20,
        "steps": 1000,
        "learning_rate": 0.1,
        "beta": 0.001,
        "restarts": 3,
        "enough_agreement": 0.5,
        "adversary": {
            "hidden": 256,
            "dropout": 0.1,
            "smoothing": 0.1,
            "turns": 5,
            "batch": 32,
            "learning_rate": 0.1,
            "max_rank": 75000,
        },
        "refinement": {
            "method": "procrustes_refinement",
            "normalize": USUAL,
            "rounds": 4,
            "induction": {**INDUCTION, "candidates": 200000, "beyond": False, "direction": "forward"},
            "keep_dictionary": False,
            "choose": True,
            "min_dev_words": 100,
        },
        "min_agreement": 0.4,
    },
    "adversarial_autoencoder": {
        "normalize": (),
        "epochs": 20,
        "steps": 1000,
        "learning_rate": 0.1,
        "beta": 0.001,
        "restarts": 3,
        "enough_agreement": 0.5,
        "adversary": {
            "hidden": 256,
            "dropout": 0.1,
            "smoothing": 0.1,
            "turns": 5,
            "batch": 32,
            "learning_rate": 0.1,
            "max_rank": 50000,
        },
        "refinement": {
            "method": "procrustes_refinement",
            "normalize": USUAL,
            "rounds": 4,
            "induction": {**INDUCTION, "candidates": 200000, "beyond": False, "direction": "forward"},
            "keep_dictionary": False,
            "choose": True,
            "min_dev_words": 100,
        },
        "min_agreement": 0.4,
        "code": 200,
        "cycle": 5.0,
        "rounds": 5,
    },
    "bliss": {
        "normalize": ("unit",),
        "epochs": 20,
        "steps": 50,
        "learning_rate": 1.0,
        "supervised_rate": 1.0,
        "batch": 128,
        "k": 10,
        "pool": 100000,
        "adversary": {
            "hidden": 512,
            "dropout": 0.1,
            "smoothing": 0.1,
            "turns": 5,
            "batch": 32,
            "learning_rate": 0.1,
            "max_rank": 75000,
        },
        "rounds": 3,
        "max_rank": 15000,
        "most_hits": 20,
    },
    "cca": {"normalize": USUAL, "share": 0.8, "penalty": 1000.0},
    "contrastive": {
        "normalize": ("unit",),
        "rounds": 2,
        "steps": 30,
        "learning_rate": 1.5,
        "decay": 0.99,
        "clip": 0.15,
        "temperature": 1.0,
        "negatives": 150,
        "pool": 60000,
        "refresh": 3,
        "max_pairs": 10000,
        "max_rank": 60000,
        "train_induced": False,
        "k": 10,
    },
    "css": {
        "normalize": USUAL,
        "epochs": 5,
        "steps": 50,
        "batch": 1000,
        "learning_rate": 10.0,
        "k": 10,
        "pool": 100000,
        "samples": 10,
        "sample": 2000,
        "max_rank": 20000,
        "candidates": 20000,
        "step_size": 0.0625,
        "temperature": 0.1,
        "epsilon": 1.0,
        "tolerance": 0.001,
        "iterations": 100,
        "induction": {**INDUCTION, "max_rank": 20000, "confidence": "mean_margin", "max_pairs": 10000},
    },
    "geomm": {"normalize": ("unit", "center"), "penalty": (3000.0, 10000.0), "refit": True},
    "geomm_semi": {
        "normalize": USUAL,
        "base": {"method": "geomm", "normalize": ("unit", "center"), "penalty": (3000.0,), "refit": False},
        "rounds": 10,
        "patience": 1,
        "induction": {**INDUCTION, "max_rank": 25000, "direction": "union"},
        "warm": True,
        "precision": None,
        "min_share": 0.35,
        "newest": False,
        "min_dev_words": 100,
        **SELF_LEARNING_ADDED,
    },
    "graph_cliques": {
        "normalize": USUAL,
        "dropout_max_rank": 4000,
        "max_rank": 20000,
        "keep_probability": 0.1,
        "patience": 5,
        "rounds": 5,
        "min_agreement": 0.4,
        "tries": 2,
        "k": 10,
        "keep_dictionary": False,
        "words": 10000,
        "neighbours": 20,
        "degree": 10.0,
        "min_size": 3,
        "cliques": 4000,
    },
    "instamap": {
        "normalize": ("unit",),
        "start": None,
        "rounds": 4,
        "neighbours": 70,
        "pca": 0.967,
        "induction": {**INDUCTION, "max_rank": 200000, "k": 0},
    },
    "least_squares": {"normalize": USUAL},
    "lnmap": {
        "normalize": USUAL,
        "hidden": 400,
        "code": 350,
        "mapper_hidden": 400,
        "autoencoder_epochs": 25,
        "samples": 25600,
        "iterations": 5,
        "epochs": 20,
        "batch": 128,
        "learning_rate": 0.0005,
        "mapper_rate": 0.0001,
        "dropout": 0.25,
        "mapper_dropout": 0.1,
        "growth": 2000,
        "induction": {**INDUCTION, "candidates": 30000, "beyond": False},
    },
    "procrustes": {"normalize": USUAL},
    "procrustes_refinement": {
        "normalize": USUAL,
        "rounds": 5,
        "induction": {**INDUCTION, "max_rank": 10000, "candidates": 200000, "beyond": False},
        "keep_dictionary": True,
        "choose": True,
        "min_dev_words": 100,
    },
    "pss": {
        "normalize": USUAL,
        "epochs": 5,
        "steps": 50,
        "batch": 1000,
        "learning_rate": 10.0,
        "k": 10,
        "pool": 100000,
        "samples": 10,
        "sample": 2000,
        "max_rank": 200000,
        "candidates": 20000,
        "step_size": 0.0625,
        "temperature": 0.1,
        "epsilon": 1.0,
        "tolerance": 0.001,
        "iterations": 100,
        "induction": {**INDUCTION, "max_rank": 100000, "confidence": "mean_margin", "max_pairs": 10000},
    },
    "rapo": {**RAPO, **RAPO_ADDED},
    "rapo_semi": {
        "normalize": USUAL,
        "base": {"method": "rapo", **RAPO, **RAPO_ADDED, "refit": False, "warm_start": False},
        "rounds": 1,
        "patience": None,
        "induction": {**INDUCTION, "candidates": 40000, "confidence": "margin", "rank_penalty": 0.04},
        "warm": True,
        "precision": 0.9,
        "min_share": 0.35,
        "newest": True,
        "min_dev_words": 100,
        **SELF_LEARNING_ADDED,
        "enlarge_below": 1500,
        "initial": {"method": "vecmap_unsupervised", **VECMAP},
        "linear_rounds": 5,
    },
    "rapo_unsupervised": {
        "normalize": USUAL,
        "base": {"method": "rapo", **RAPO, **RAPO_ADDED, "refit": False, "warm_start": False},
        "rounds": 2,
        "patience": None,
        "induction": {**INDUCTION, "candidates": 40000, "confidence": "margin", "rank_penalty": 0.08},
        "warm": True,
        "precision": 0.9,
        "min_share": 0.5,
        "newest": True,
        "min_dev_words": 100,
        **SELF_LEARNING_ADDED,
        "enlarge_below": 1500,
        "initial": {"method": "vecmap_unsupervised", **VECMAP},
        "linear_rounds": 5,
    },
    "rcsls": {"normalize": ("unit",), "iterations": 10, "learning_rate": 25.0, "k": 10, "spectral": False},
    "ridge": {"normalize": USUAL, "penalty": 100.0},
    "self_learning": {
        "normalize": USUAL,
        "base": {"method": "vecmap", "normalize": USUAL, "reweight": "both"},
        "rounds": 5,
        "patience": None,
        "induction": {**INDUCTION},
        "warm": True,
        "precision": None,
        "min_share": 0.35,
        "newest": True,
        "min_dev_words": 100,
        **SELF_LEARNING_ADDED,
    },
    "vecmap": {"normalize": USUAL, "reweight": "both"},
    "vecmap_semi": {**VECMAP, "choose": True, "min_dev_words": 100},
    "vecmap_unsupervised": VECMAP,
}


@pytest.mark.parametrize("name", all_methods())
def test_a_method(name):
    """A change here is a change of results: it belongs into the changelog, and into the tables of the documents."""
    described = all_methods()[name]().describe()
    assert name in DEFAULTS, f"a new method: add {name!r} to DEFAULTS in this file, with {described}"
    assert described == DEFAULTS[name]


def test_induction():
    assert asdict(Induction()) == INDUCTION


def test_first_names():
    """Results are recognised by a hash of settings under these names: they never change."""
    settings = all_methods()["rapo_semi"]().describe(first_names=True)
    base = {"method": "rapo", **RAPO, "refit": False, "go_on": False}
    assert settings["base"] == {name: value for name, value in base.items() if name != "warm_start"}
    assert settings["induction"] == {
        **{name: INDUCTION[name] for name in ("max_rank", "beyond", "k", "direction", "threshold", "share")},
        "candidates": 40000,
        "sure": "margin",
        "frequent": 0.04,
        "most": None,
        "keep": 1.0,
    }
    assert (settings["few"], settings["least_share"], settings["least_dev"]) == (1500, 0.35, 100)
    assert settings["initial"].keys() >= {"first", "keep", "keep_seed", "least_agreement"}


@pytest.mark.parametrize("name", all_methods())
def test_no_old_name_of_a_setting_is_that_of_another(name):
    pending = [all_methods()[name]()]
    while pending:
        settings = pending.pop()
        names, renamed = {field.name for field in fields(settings)}, getattr(settings, "renamed", {})
        assert set(renamed.values()) <= names
        assert not renamed.keys() & names
        pending += [value for value in vars(settings).values() if is_dataclass(value)]
