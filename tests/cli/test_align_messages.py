import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from bilex import Lexicon, get_method
from bilex.cli import align_messages
from bilex.evaluation.held_out import Agreement, HeldOut
from bilex.fitting.inputs import collect

RUN = Path("my-run")
FOUND = HeldOut(words=289, p_at_1=71.97, p_at_5=84.08, p_at_10=88.0, mrr=0.77, way="never learnt")
TRAIN = {"pairs_covered": 5735, "pairs_total": 7427, "sources_covered": 2890}
WHY = "method procrustes, because it is so"
SHARES = "for 72.0 % (P@1), and one of the first five for 84.1 % (P@5)"
NEXT = "next: bilex translate my-run WORD"


def aligned(held_out=None, agreement=None, *, dev=None, spelling=None, train=TRAIN):
    """As much of an alignment as the messages need."""
    inputs = {"method": "rapo", "dev": dev, "spelling": spelling}
    provenance = {"inputs": inputs, "train_coverage": train}
    return SimpleNamespace(provenance=provenance, reranker=None, held_out=held_out, agreement=agreement)


class TestBefore:
    @pytest.fixture(autouse=True)
    def one_thread(self, monkeypatch):
        monkeypatch.setattr(torch, "get_num_threads", lambda: 1)

    @pytest.fixture
    def inputs(self, world):
        return collect(*world[:3], method="procrustes")

    @pytest.mark.parametrize(
        ("why", "seconds", "said"),
        [
            ("it is so", 130, [f"{WHY}: about 2 minutes on 1 thread; with --fast a few seconds"]),
            ("it is so", 5, [f"{WHY}: a few seconds on 1 thread"]),
            ("it is so", None, [WHY]),
            (None, 130, ["method procrustes: about 2 minutes on 1 thread"]),
            (None, 5, []),
            (None, None, []),
        ],
    )  # fmt: skip
    def test_the_method_why_and_about_how_long(self, inputs, why, seconds, said):
        assert align_messages.before(dataclasses.replace(inputs, why=why), seconds) == said

    def test_threads(self, inputs, monkeypatch):
        monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
        assert align_messages.before(inputs, 130) == ["method procrustes: about 2 minutes on 2 threads"]

    def test_without_a_dictionary_nothing_is_fast(self, world):
        inputs = collect(world.source, world.target, None)
        (said,) = align_messages.before(inputs, 130)
        assert said == "method rapo_unsupervised, because there is no dictionary: about 2 minutes on 1 thread"

    def test_only_of_processors_it_is_known(self, inputs, monkeypatch):
        assert align_messages.expected_seconds(inputs, "cpu") == pytest.approx(320 * 5e-6 * 12 / 300)
        monkeypatch.setattr("bilex.linalg.device.choose_device", lambda _: torch.device("cuda"))
        assert align_messages.expected_seconds(inputs, "cuda") is None


class TestWarnings:
    def said(self, world, pairs, **more):
        method = get_method(more.pop("method", "procrustes"))
        inputs = collect(world.source, world.target, Lexicon.from_pairs(pairs), method=method, **more)
        return list(align_messages.warnings(inputs))

    def capitalized(self, world, number):
        return [(source.upper(), target) for source, target in world.train.pairs[:number]]

    def test_a_good_dictionary(self, world):
        assert self.said(world, world.train) == []

    @pytest.mark.parametrize(("number", "warned"), [(7, False), (8, True), (40, True), (79, True)])
    def test_pairs_that_only_letter_case_keeps_out(self, world, number, warned):
        pairs = [*self.capitalized(world, number), *world.train.pairs[number:]]
        expected = [
            f"{80 - number} of 80 pairs of the dictionary are in both tables as they are spelt; 80 are if letter case "
            "is ignored: use --fold-case"
        ]
        said = [line for line in self.said(world, pairs) if "are too few to learn" not in line]
        assert said == (expected if warned else [])
        assert "--fold-case" not in "".join(self.said(world, pairs, fold_case=True))

    def test_few_pairs_for_another_reason(self, world):
        pairs = [*world.train, *((f"a{i}", f"b{i}") for i in range(400))]
        assert self.said(world, pairs) == [
            "few pairs of the dictionary are in both tables; check its languages, or read more words (--max-words)"
        ]

    def test_fewer_words_than_dimensions(self, world):
        few = world.train.pairs[:11]
        (said,) = self.said(world, few)
        assert said.startswith("11 source words are too few to learn 12 dimensions well")
        assert self.said(world, few, method="procrustes_refinement") == []
        assert self.said(world, world.train.pairs[:12]) == []

    def test_no_dictionary(self, world):
        assert list(align_messages.warnings(collect(world.source, world.target, None))) == []


class TestLearntFrom:
    def first(self, **more):
        return align_messages.after(aligned(**more), RUN, 12.345)[0]

    def test_a_dictionary(self):
        assert (
            self.first() == "rapo: learnt from 5,735 of 7,427 pairs (2,890 source words) in 12.3 s; written to my-run"
        )
        assert "(2,890 source words)" in self.first(held_out=dataclasses.replace(FOUND, way="second fit"))
        assert "(2,890 source words)" in self.first(held_out=FOUND, dev={"pairs": 5})

    def test_words_that_were_held_out_of_it(self):
        assert "(2,890 source words, 289 of them held out) in" in self.first(held_out=FOUND)
        before = dataclasses.replace(FOUND, way="before they were learnt")
        assert "(2,890 source words, 289 of them held out at first) in" in self.first(held_out=before)

    def test_no_dictionary(self):
        assert self.first(train={"pairs_total": 0}) == "rapo: learnt without a dictionary in 12.3 s; written to my-run"


class TestQuality:
    @pytest.mark.parametrize(
        ("way", "more", "said"),
        [
            ("never learnt", {}, f"On 289 held-out dictionary words the first translation is right {SHARES}"),
            (
                "before they were learnt",
                {},
                f"On 289 held-out dictionary words the first translation was right {SHARES}, before the final training "
                "on these words too",
            ),
            (
                "second fit",
                {},
                f"On 289 dictionary words left out of a second fit the first translation is right {SHARES}",
            ),
            (
                "never learnt",
                {"dev": {"pairs": 5}},
                f"On 289 words of the dev dictionary the first translation is right {SHARES}",
            ),
            (
                "never learnt",
                {"dev": {"pairs": 5}, "spelling": "identical"},
                f"On 289 words of the dev dictionary the first translation is right {SHARES}",
            ),
            (
                "never learnt",
                {"spelling": "identical"},
                f"On 289 held-out dictionary words, some of them only spelt alike, the first translation is right "
                f"{SHARES}",
            ),
        ],
    )
    def test_on_held_out_words(self, way, more, said):
        assert align_messages.quality(aligned(dataclasses.replace(FOUND, way=way), **more), RUN) == f"{said}; {NEXT}"

    @pytest.mark.parametrize(("words", "few"), [(29, True), (30, False)])
    def test_a_percentage_of_few_words_says_little(self, words, few):
        said = align_messages.quality(aligned(dataclasses.replace(FOUND, words=words)), RUN)
        assert said.endswith(f"; with so few words this is not reliable; {NEXT}") is few

    def test_where_no_word_can_tell(self):
        assert align_messages.quality(aligned(), RUN) == (
            "No words were held out, so the accuracy is not known; "
            "next: bilex evaluate my-run DICT, or bilex translate my-run WORD"
        )
        said = align_messages.quality(aligned(agreement=Agreement(words=4000, percent=93.7)), RUN)
        assert (
            "; of the pairs found among the 4,000 most frequent words 94 % agree with each other (90 % is very" in said
        )
