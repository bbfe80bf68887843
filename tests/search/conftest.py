import pytest
from torch.profiler import ProfilerActivity, profile


@pytest.fixture(scope="session")
def peak_bytes():
    """The most memory that torch held at a time during a call, beyond what it held before."""

    def measure(call):
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
            call()
        events = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
        held = peak = 0
        for event in sorted(events, key=lambda event: event.start_ns()):
            held += event.nbytes()
            peak = max(peak, held)
        return peak

    return measure
