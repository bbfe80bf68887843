import json

from bilex.io.report import FAULT_KINDS, MAX_EXAMPLES, Fault, FaultCounter, ReadReport


def report():
    tally = FaultCounter()
    for line in range(17, 37):
        tally.add(Fault("wrong_width", line, "299 numbers, needed 300"))
    tally.add(Fault("header", 1, "it says 9, the file has 7"))
    tally.add(Fault("zero", 5, "the vector of 'x'"))
    return ReadReport(1000, 979, tally.repairs())


def test_summary_is_made_of_sentences():
    assert report().summary() == [
        "20 lines left out: wrong number of fields (first: line 17: 299 numbers, needed 300)",
        "1 line left out: a vector of zeros only, which has no direction (first: line 5: the vector of 'x')",
        "the header's count of words is wrong: it says 9, the file has 7",
    ]
    assert ReadReport().summary() == []


def test_counts_are_whole_and_examples_few():
    found = report()
    assert [found.count(kind) for kind in FAULT_KINDS] == [20, 0, 0, 0, 0, 1, 0, 1]
    assert len(found.repairs[0].examples) == MAX_EXAMPLES


def test_json():
    found = json.loads(json.dumps(report().to_json()))
    assert (found["lines"], found["kept"], found["unit"]) == (1000, 979, "line")
    assert found["repairs"]["zero"] == {
        "kind": "zero",
        "count": 1,
        "examples": [{"line": 5, "detail": "the vector of 'x'"}],
    }
