"""What a signal does to a command: tests/cli/test_align.py."""

import signal

import pytest

from bilex.cli.interruption import Terminated, signals_as_exceptions


def test_signals_are_handled_in_it_and_not_after_it():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(Terminated) as ended, signals_as_exceptions():
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 128 + signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_who_handles_or_ignores_a_signal_goes_on_to():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with signals_as_exceptions():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
