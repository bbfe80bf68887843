"""Processes side by side. What they do and how they end: tests/bench/test_cell.py, tests/tune/test_batches.py."""

import subprocess
import sys
import threading
import time

from bilex.parallel.process import side_by_side


def test_whoever_stops_asking_ends_those_at_work():
    begun = threading.Event()

    def work(item, live):
        if item == "quick":
            begun.wait(60)
            return "done"
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], text=True)
        live.add(process)
        begun.set()
        return process.wait()

    results, started = side_by_side(work, ["endless", "quick"], jobs=2), time.monotonic()
    assert next(results) == (1, "done")
    results.close()
    assert time.monotonic() - started < 60
