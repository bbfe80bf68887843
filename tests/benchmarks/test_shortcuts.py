import pytest

import shortcuts
from measuring import read_lines


def run(rng_seed, p_at_1, *, unhurried, **changes):
    usual = {"method": "rapo", "settings": [], "words": 500, "threads": 2}
    return {**usual, "rng_seed": rng_seed, "unhurried": unhurried, "p_at_1": p_at_1, **changes}


@pytest.mark.parametrize(("last", "difference", "met"), [(80.5, 0.2, True), (81.1, 0.4, False), (78.8, -0.37, False)])
def test_means_over_the_seeds_are_compared(last, difference, met):
    runs = [run(1, 80.1, unhurried=False), run(0, 80.0, unhurried=False), run(2, last, unhurried=False)]
    runs += [run(seed, 80.0, unhurried=True) for seed in range(3)]
    figures, (target,) = shortcuts.compare_runs(runs)
    assert figures["rapo 500 words: with shortcuts"] == f"80.00 80.10 {last:.2f}"
    assert figures["rapo 500 words: without, mean"] == 80
    assert figures["rapo 500 words: mean difference"] == pytest.approx(difference)
    assert target.value == pytest.approx(abs(difference), abs=0.01)
    assert target.met is met


def test_what_has_no_counterpart_is_left_out():
    runs = [run(0, 80.0, unhurried=False), run(0, 80.0, unhurried=True), run(1, 20.0, unhurried=False)]
    runs += [run(0, 20.0, unhurried=True, settings=["epochs=1"]), run(0, 20.0, unhurried=True, words=600)]
    figures, targets = shortcuts.compare_runs(runs)
    assert figures["rapo 500 words: with shortcuts"] == "80.00"
    assert len(targets) == 1


def test_a_run_is_made_once(tmp_path, monkeypatch):
    made = []
    answer = {"P@1": 80.0, "all (s)": 3.0}
    monkeypatch.setattr(shortcuts, "run_script", lambda *arguments: made.append(arguments) or answer)
    one = {key: value for key, value in run(0, 0, unhurried=True, settings=["k=5"]).items() if key != "p_at_1"}
    for _ in range(2):
        shortcuts.make(tmp_path / "runs.jsonl", one)
    ((_, *arguments, state),) = made
    assert state.parent == tmp_path
    assert arguments == [
        *("--method", "rapo", "--words", 500, "--rng-seed", 0, "--set", "k=5", "--unhurried", "--threads", 2),
        "--checkpoint",
    ]
    assert read_lines(tmp_path / "runs.jsonl") == [{**one, "p_at_1": 80.0, "seconds": 3.0}]
