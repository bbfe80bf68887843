"""The contents of a report on a run, measured once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.methods.base import all_methods
from bilex.report.citation import citations, input_files
from bilex.report.examples import doubtful_pairs, gaps, right, wrong
from bilex.report.figures import measure, mrr_interval, p_at_1_interval
from bilex.retrieval import CSLS, Nearest
from bilex.retrieval.sides import SIDES
from bilex.storage.files import file_name

if TYPE_CHECKING:
    from bilex.alignment import Alignment
    from bilex.coverage import LexiconIndex
    from bilex.evaluation.hubness import Hubness
    from bilex.lexicon import Lexicon
    from bilex.report.examples import Example
    from bilex.report.figures import Figures
    from bilex.search.blocks import Progress


@dataclass(frozen=True, eq=False, kw_only=True)
class RunReport:
    """A run and its measurements; `measured` has the test dictionary first, if there is one."""

    alignment: Alignment
    measured: tuple[Figures, ...]
    hubness: dict[str, Hubness]
    coverage: dict[str, LexiconIndex]
    right: list[Example]
    wrong: list[Example]
    gaps: list[Example]
    doubtful: list[Example]

    @property
    def test(self) -> Figures | None:
        """The figures on the test dictionary."""
        return next((figures for figures in self.measured if figures.part == "test"), None)

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the run, from its alignment.json."""
        found: dict[str, Any] = self.alignment.provenance["inputs"]
        return found

    @property
    def title(self) -> str:
        """The names of the two tables, and the method."""
        names = [file_name(self.inputs[side]["file"] or side) for side in SIDES]
        return f"{names[0]} to {names[1]}, {self.inputs['method']}"

    @property
    def citations(self) -> list[str]:
        """What to cite; a method that this version does not know has no paper."""
        return citations(all_methods().get(self.inputs["method"]))

    @property
    def files(self) -> dict[str, str | None]:
        """Files by part."""
        test = self.test
        own = {} if test is None else {"test": str(test.lexicon.origin) if test.lexicon.origin else None}
        return input_files(self.inputs) | own

    def sentences(self) -> list[str]:
        """The main results in sentences."""
        found = [sentence for figures in self.measured for sentence in _sentences(figures)]
        if self.test is None:
            found += ["No test dictionary was given, so the accuracy on new words is not known."]
        before, after = (self.hubness[name].skewness for name in ("nn", "csls"))
        return [*found, f"Hubness: skewness {before:.2f} with nearest neighbours, {after:.2f} with CSLS."]

    def to_json(self) -> dict[str, Any]:
        """The figures in plain values."""
        lists = {name: getattr(self, name) for name in ("right", "wrong", "gaps", "doubtful")}
        return {
            "title": self.title,
            "inputs": self.inputs,
            "figures": {figures.part: figures.to_json() for figures in self.measured},
            "hubness": {name: hubs.to_json() for name, hubs in self.hubness.items()},
            "coverage": {part: index.to_json() for part, index in self.coverage.items()},
            "examples": {name: [vars(example) for example in examples] for name, examples in lists.items()},
            "cite": self.citations,
        }


def make_run_report(
    alignment: Alignment,
    test: Lexicon | None = None,
    *,
    fold_case: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Measure a run on a test dictionary and on its own dev dictionary, if they exist."""
    trained_folded = alignment.provenance["inputs"].get("fold_case", False)
    given = {"test": (test, fold_case), "dev": (alignment.dev, trained_folded)}
    measured = tuple(
        measure(alignment, part, lexicon, fold_case=folded, progress=progress)
        for part, (lexicon, folded) in given.items()
        if lexicon is not None
    )
    coverage = {"train": alignment.train.index(alignment.source, alignment.target, fold_case=trained_folded)}
    coverage |= {figures.part: figures.indexed for figures in reversed(measured)}
    shown = measured[0] if measured else None
    return RunReport(
        alignment=alignment,
        measured=measured,
        hubness={"nn": alignment.hubness(retrieval=Nearest()), "csls": alignment.hubness(retrieval=CSLS())},
        coverage=coverage,
        right=[] if shown is None else right(alignment, shown),
        wrong=[] if shown is None else wrong(alignment, shown),
        gaps=[] if shown is None else gaps(alignment, shown),
        doubtful=doubtful_pairs(alignment, fold_case=trained_folded),
    )


def _sentences(figures: Figures) -> list[str]:
    result, p_at_1, mrr = figures.csls, p_at_1_interval(figures.csls), mrr_interval(figures.csls)
    said = [
        f"On {result.covered:,} of {result.sources:,} source words of the {figures.part} dictionary, P@1 is "
        f"{result.scores.p_at_1:.1f} (95 % interval {p_at_1.low:.1f} to {p_at_1.high:.1f}) and MRR "
        f"{result.scores.mrr:.3f} ({mrr.low:.3f} to {mrr.high:.3f}), with CSLS."
    ]
    if result.train_overlap:
        said += [
            f"{result.train_overlap:,} of these words were trained on or used for choices, so the figures are too high."
        ]
    if figures.chosen_on:
        said += [
            f"The method made choices on the {figures.part} words, and some methods also train on them in the end. The "
            "figures on these words are too high, and do not measure the accuracy on new words."
        ]
    return said
