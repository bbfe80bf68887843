import re

import numpy as np
import pytest

from bilex import EmbeddingTable, Lexicon
from bilex.alignment import Candidate, Translation
from bilex.page.display import format_count, format_list

NASTY = "<script>alert('x')</script>\n\x1b[31m\u202e" + "y" * 500


@pytest.fixture(scope="module")
def everything(alignment, world):
    """What is shown in a terminal and in a notebook, by name."""
    nasty = EmbeddingTable([NASTY, "b"], np.eye(2, dtype=np.float32))
    return {
        "table": world.source,
        "nasty table": nasty,
        "one word": nasty.head(1),
        "lexicon": world.train,
        "nasty lexicon": Lexicon.from_pairs([(NASTY, NASTY)]),
        "empty lexicon": Lexicon.from_pairs([]),
        "alignment": alignment,
        "translation": alignment.translate("s1", 7),
        "no translation": alignment.translate("nowhere"),
        "nasty translation": Translation(NASTY, (Candidate(NASTY, 0.5),), "subwords"),
        "evaluation": alignment.evaluate(world.test),
        "seen": alignment.evaluate(world.train),
        "coverage": world.train.index(world.source, world.target),
    }


LINES = {
    "table": "<EmbeddingTable: 160 words of 12 dimensions: 's0', 's1', 's2', ...>",
    "lexicon": "<Lexicon: 80 pairs of 80 source words: 's0' - 't4', 's1' - 't11', 's2' - 't12', ...>",
    "empty lexicon": "<Lexicon: 0 pairs of 0 source words>",
    "alignment": "<Alignment: procrustes, 80 train pairs, 160 source and 160 target words of 12 dimensions>",
    "no translation": "<Translation: 'nowhere' -> nothing, it has no vector>",
    "coverage": "<LexiconIndex: 80 of 80 pairs are in both vocabularies; 80 of 80 source words have a translation "
    "there>",
}


@pytest.mark.parametrize(("name", "line"), LINES.items())
def test_a_line_says_what_it_is(everything, name, line):
    assert repr(everything[name]) == line


def test_lines_have_the_figures(everything):
    found = everything["translation"]
    first = found.candidates[0]
    assert repr(found).startswith(f"<Translation: 's1' -> '{first.word}' {first.score:.3f}, ")
    assert repr(found).endswith(", ...>")
    result = everything["evaluation"]
    assert f"P@1 {result.scores.p_at_1:.1f}, P@5" in repr(result)
    assert repr(result).endswith("over 80 of 80 source words, forward, csls>")
    assert repr(everything["seen"]).endswith("; 80 source words trained on>")
    assert "(through subwords)" in repr(everything["nasty translation"])


def test_no_line_is_long_or_breaks(everything):
    for shown in everything.values():
        line = repr(shown)
        assert len(line) < 250
        assert line.isprintable()


def test_notebooks_get_a_small_table_and_no_markup_of_words(everything):
    for name, shown in everything.items():
        html = shown._repr_html_()
        assert len(html) < 3000, name
        assert "<table>" in html
        assert "<script" not in html
        assert "\x1b" not in html
        assert html.count("<tr>") <= 12
    assert "&lt;script&gt;" in everything["nasty table"]._repr_html_()
    assert "and 155 more words" in everything["table"]._repr_html_()
    assert "more" not in everything["nasty table"]._repr_html_()
    figures = re.findall(r">(\d+\.\d)<", everything["evaluation"]._repr_html_())
    assert figures[0] == f"{everything['evaluation'].scores.p_at_1:.1f}"


def test_an_alignment_names_the_files_it_was_made_of(world, tmp_path):
    from bilex import Alignment, align

    world.source.write(tmp_path / "en.vec")
    world.target.write(tmp_path / "fr.vec")
    align(tmp_path / "en.vec", tmp_path / "fr.vec", world.train, dev=world.test, method="procrustes").save(
        tmp_path / "run"
    )
    opened = Alignment.load(tmp_path / "run")
    assert "80 train and 80 dev pairs" in repr(opened)
    assert "<td>en.vec</td>" in opened._repr_html_()
    assert "from 'source.safetensors'" in repr(opened.source)


def test_counts():
    assert [format_count(n, "word") for n in (0, 1, 5700)] == ["0 words", "1 word", "5,700 words"]
    assert [format_list(["a", "b"][:n], n, most=1) for n in (0, 1, 2)] == ["", "a", "a, ..."]
