import pytest

from bilex.cli import installation as doctor
from bilex.search import bfloat16, int8, speedup


def test_for_people(bilex):
    result = bilex("doctor")
    assert (result.code, result.err) == (0, "")
    for what in ("bilex", "torch", "threads", "BLAS", "GPU", "memory", "data folder", "extra gensim", "self-check"):
        assert f"\n {what}" in result.out
    assert "passed in" in result.out


def test_json(bilex):
    found = bilex("doctor", "--json").json
    assert found["self_check"]["passed"] is True
    assert found["packages"]["torch"]
    assert found["threads"]["torch"] >= 1


@pytest.mark.parametrize(
    ("timed", "fast"),
    [
        ({}, []),
        ({"int8": 0.9}, []),
        ({"int8": 2.0}, ["int8"]),
        ({"int8": 1.0, "bfloat16": 2.0}, ["bfloat16"]),
        ({"int8": 3.5, "bfloat16": 2.0}, ["int8", "bfloat16"]),
    ],
)
def test_what_the_processor_is_fast_with(bilex, monkeypatch, timed, fast):
    monkeypatch.setattr(int8, "is_native", lambda: "int8" in timed)
    monkeypatch.setattr(bfloat16, "is_native", lambda: "bfloat16" in timed)
    monkeypatch.setattr(speedup, "speedup", lambda kind: timed[kind.__name__.lower()])
    found = bilex("doctor", "--json").json["processors"]
    assert (found["fast_with"], found["speedup"]) == (fast, timed)
    shown = bilex("doctor").out
    assert ("fast with " + " and ".join(fast) in shown) is bool(fast)
    assert all(f"{name} {times:.1f} times" in shown for name, times in timed.items())


@pytest.mark.parametrize(("limit", "told"), [(None, None), (2_560_000_000, 2.6)])
def test_memory(bilex, monkeypatch, limit, told):
    """Gigabytes, and nothing where the system tells nothing."""
    monkeypatch.setattr(doctor, "free_memory", lambda: limit)
    monkeypatch.setattr(doctor, "container_limit", lambda: limit)
    found = bilex("doctor", "--json").json["memory"]
    assert (found["free"], found["limit"]) == (told, told)
    assert found["total"] is None or found["total"] > 0.1


def test_missing_extras_have_their_line(monkeypatch):
    monkeypatch.setattr(
        doctor, "requires", lambda _: ["click>=8", 'no-such-thing>=1; extra == "odd"', "x; extra == 'test'"]
    )
    assert doctor.extras() == {"odd": {"packages": {"no-such-thing": None}, "install": "pip install 'bilex[odd]'"}}


@pytest.mark.parametrize("broken", [lambda: 98.0, lambda: 1 / 0])
def test_a_failed_check_is_1(bilex, monkeypatch, broken):
    monkeypatch.setattr(doctor, "_p_at_1_of_rotation", broken)
    result = bilex("doctor")
    assert result.code == 1
    assert "FAILED" in result.out


def test_the_home_folder_is_not_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    found = doctor.data_folder()
    assert (found["folder"].replace("\\", "/"), found["exists"]) == ("~/data", False)
