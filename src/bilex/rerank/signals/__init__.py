"""What can be known of a candidate, one signal in each file."""

from bilex.rerank.signals.backward import Backward
from bilex.rerank.signals.base import Columns, Measure, Signal
from bilex.rerank.signals.case import Case
from bilex.rerank.signals.cosine import Cosine
from bilex.rerank.signals.csls import Csls
from bilex.rerank.signals.dictionary import Dictionary
from bilex.rerank.signals.endings import Endings
from bilex.rerank.signals.frequency import Frequency
from bilex.rerank.signals.identity import Identity
from bilex.rerank.signals.inflection import Inflection
from bilex.rerank.signals.neighbours import Neighbours
from bilex.rerank.signals.relatives import Relatives
from bilex.rerank.signals.spelling import Spelling
from bilex.rerank.signals.transliteration import Transliteration

SIGNALS: dict[str, Signal] = {
    signal.name: signal
    for signal in (
        Csls(),
        Cosine(),
        Backward(),
        Frequency(),
        Identity(),
        Spelling(),
        Transliteration(),
        Endings(),
        Inflection(),
        Relatives(),
        Neighbours(),
        Dictionary(),
        Case(),
    )
}

__all__ = ["SIGNALS", "Columns", "Measure", "Signal"]
