import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bilex.errors import LexiconError, SettingsError
from bilex.io.dictionary import ASCII_SPACE
from bilex.lexicon import Lexicon

GOLDEN_SPLIT = ["5", "8", "9"]


class Words:
    """The part of a table that a lexicon needs."""

    def __init__(self, text):
        self.words = text.split() if isinstance(text, str) else list(text)
        self.index = {word: row for row, word in reversed(list(enumerate(self.words)))}

    def __len__(self):
        return len(self.words)


def is_word(text):
    return text and text == text.strip(ASCII_SPACE) and not set("\t\n\r") & set(text)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(is_word)
lexicons = st.lists(st.tuples(words, words), min_size=1, max_size=30).map(Lexicon.from_pairs)
short = st.sampled_from("abcdefgh")
repetitive = st.lists(st.tuples(short, short), min_size=1, max_size=40).map(Lexicon.from_pairs)


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "pairs.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Lexicon.read(path, **options)

    return read


class TestReading:
    @pytest.mark.parametrize(
        ("content", "separator", "pairs"),
        [
            ("house\tmaison\ndog\tchien\n", "tab", [("house", "maison"), ("dog", "chien")]),
            ("house maison\ndog  chien", "space", [("house", "maison"), ("dog", "chien")]),
            ("house\tmaison\ndog chien\n", "space", [("house", "maison"), ("dog", "chien")]),
            ("house,maison\ndog,chien\n", "comma", [("house", "maison"), ("dog", "chien")]),
            ("house, maison\ndog, chien\n", "comma", [("house", "maison"), ("dog", "chien")]),
            ("ice cream\tcrème glacée\na,b\tc d\n", "tab", [("ice cream", "crème glacée"), ("a,b", "c d")]),
            ('"ice cream","a, b"\n"say ""so""",dis\n', "comma", [("ice cream", "a, b"), ('say "so"', "dis")]),
            ('"quoted\tmot\n', "tab", [('"quoted', "mot")]),
            ("a\u00a0b c\u3000d\n", "space", [("a\u00a0b", "c\u3000d")]),
            ("\u00a0a\tb\u2028c\n", "tab", [("\u00a0a", "b\u2028c")]),
            ("  house \t maison  \n", "tab", [("house", "maison")]),
            ("дом\t家\n", "tab", [("дом", "家")]),
        ],
    )  # fmt: skip
    def test_separators(self, read, content, separator, pairs):
        for choice in ("auto", separator):
            lexicon = read(content, separator=choice)
            assert list(lexicon) == pairs
            assert lexicon.report.separator == separator

    def test_reports_all_that_is_no_pair(self, read):
        lexicon = read("\ufeff# from somewhere\r\nhouse\tmaison\t0.9\r\n\r\n#old\tvieux\r\ndog\tchien\t\r\n".encode())
        assert lexicon.pairs == (("house", "maison"), ("dog", "chien"))
        report = lexicon.report
        assert (report.lines, report.pairs, report.blank, report.comments, report.extra_columns) == (5, 2, 1, 2, 1)
        assert (report.carriage_returns, report.byte_order_mark) == (5, True)

    def test_keeps_repeated_lines(self, read):
        assert len(read("a\tb\na\tb\n")) == 2

    @pytest.mark.parametrize("content", ["#\tdièse\n", "#\tdièse\nhouse\tmaison\n", "#,dièse\nhouse,maison\n"])
    def test_the_comment_sign_alone_is_a_word(self, read, content):
        assert read(content).pairs[0] == ("#", "dièse")

    def test_comments_do_not_decide_the_separator(self, read):
        lexicon = read("#\tmade by hand, today\n# a b c\nhouse maison\n")
        assert lexicon.pairs == (("house", "maison"),)
        assert lexicon.report.comments == 2

    def test_comments_can_be_switched_off_or_changed(self, read):
        assert read("#a #b\n", comment=None).pairs == (("#a", "#b"),)
        assert read("% note\n#a\t#b\n", comment="%").pairs == (("#a", "#b"),)

    def test_files_of_muse_have_no_comments(self, tmp_path):
        """They have words that begin with #, and are known by their names."""
        pairs = {True: (("#the", "#le"), ("the", "le")), False: (("the", "le"),)}
        for name in ("en-fr.0-5000.txt", "zh-en.5000-6500.txt", "en-fr.txt", "en-fr.0-5000.tsv", "my-en-fr.0-5000.txt"):
            (tmp_path / name).write_text("#the #le\nthe le\n")
            assert Lexicon.read(tmp_path / name).pairs == pairs[name in ("en-fr.0-5000.txt", "zh-en.5000-6500.txt")]
            assert Lexicon.read(tmp_path / name, comment="#").pairs == pairs[False]

    @pytest.mark.parametrize("encoding", ["no-such", "undefined", "\0"])
    def test_an_encoding_that_is_none(self, read, encoding):
        with pytest.raises(LexiconError, match="unknown encoding"):
            read("a b\n", encoding=encoding)

    def test_other_encodings(self, read):
        assert read("été\tkesä\n".encode("utf-16"), encoding="utf-16").pairs == (("été", "kesä"),)

    @pytest.mark.parametrize(
        ("content", "line", "found"),
        [
            ("house\tmaison\nlonely\n", 2, "separated by tab"),
            ("house maison\nlonely\n", 2, "separated by space"),
            ("house,maison\nlonely\n", 2, "separated by comma"),
            ("lonely\n", 1, "'lonely'"),
            ("a b c\n", 1, "'a b c'"),
            ("\n\nhouse\t\n", 3, "an empty word"),
            ("\tmaison\n\tchien\n", 1, "an empty word"),
            ('a,b\n"c,d\n', 2, "not valid CSV"),
            ("a\tb\rc\td\n", 1, "bare carriage return"),
            (b"a\tb\ncaf\xe9\x81\tcaf\n", 2, "byte 0xe9"),
        ],
    )
    def test_errors_name_the_line(self, read, content, line, found):
        with pytest.raises(LexiconError, match=rf"pairs\.txt:{line}: found .*{found}"):
            read(content)

    @pytest.mark.parametrize("separator", ["\t", " ", ","])
    def test_a_line_of_megabytes_is_not_taken_apart(self, read, separator):
        """As of a file with other line ends, or of none."""
        with pytest.raises(LexiconError, match=r":2: found a line of 2,000,000 characters, 'x") as caught:
            read("a\tb\n" + f"x{separator}" * 10**6 + "\n")
        assert len(str(caught.value)) < 500

    def test_a_chosen_separator_is_held_to(self, read):
        with pytest.raises(LexiconError, match=r":1: found 3 columns in 'ice cream glace'.*need tab or comma"):
            read("ice cream glace\n", separator="space")
        with pytest.raises(LexiconError, match=r":1: found 1 column in 'house maison'"):
            read("house maison\n", separator="tab")

    @pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n"])
    def test_no_pairs(self, read, content):
        with pytest.raises(LexiconError, match="found no pairs"):
            read(content)

    def test_what_cannot_be_opened(self, read, tmp_path):
        with pytest.raises(LexiconError, match=r"absent\.txt: cannot be read: No such file"):
            Lexicon.read(tmp_path / "absent.txt")
        with pytest.raises(LexiconError, match="unknown encoding 'klingon'"):
            read("a\tb", encoding="klingon")
        with pytest.raises(SettingsError, match="separator='pipe'"):
            read("a\tb", separator="pipe")


class TestWriting:
    @settings(deadline=None)
    @given(lexicon=lexicons)
    def test_round_trip(self, lexicon, tmp_path_factory):
        path = tmp_path_factory.mktemp("lexicon") / "pairs.tsv"
        lexicon.write(path)
        again = Lexicon.read(path)
        assert again == lexicon
        assert again.report.comments == again.report.extra_columns == 0

    def test_bytes(self, tmp_path):
        Lexicon.from_pairs([("été", "kesä"), ("#tag", "a"), ("a", "#tag")]).write(tmp_path / "pairs.tsv")
        assert (tmp_path / "pairs.tsv").read_bytes() == "été\tkesä\n #tag\ta\na\t#tag\n".encode()

    @pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb", " a", "a ", "\ud800"])
    def test_words_that_a_line_cannot_hold(self, word, tmp_path):
        with pytest.raises(LexiconError, match="cannot be written"):
            Lexicon.from_pairs([(word, "b")]).write(tmp_path / "pairs.tsv")
        assert not list(tmp_path.iterdir())

    def test_empty_words_are_no_pair(self):
        with pytest.raises(LexiconError, match="pair 2: found an empty word"):
            Lexicon.from_pairs([("a", "b"), ("a", " ")])


class TestPairs:
    def test_a_pair_is_in_it_or_not(self):
        lexicon = Lexicon.from_pairs([("dog", "chien"), ("cat", "chat")])
        assert ("dog", "chien") in lexicon
        assert ["cat", "chat"] in lexicon
        assert ("dog", "chat") not in lexicon
        assert 5 not in lexicon
        with pytest.raises(LexiconError, match="found the word 'dog'; a lexicon has pairs"):
            "dog" in lexicon  # noqa: B015

    def test_a_string_is_one_word(self):
        lexicon = Lexicon.from_pairs([("dog", "chien"), ("d", "d"), ("o", "o")])
        assert lexicon.without_sources("dog").sources == ["d", "o"]
        assert lexicon.without_sources(["dog", "o"]).sources == ["d"]

    def test_other_lexicons_in_any_form(self, tmp_path):
        lexicon = Lexicon.from_pairs([("dog", "chien"), ("cat", "chat")])
        lexicon.write(tmp_path / "d.tsv")
        assert lexicon.union({"cat": ["chat", "chatte"]}).pairs == (*lexicon, ("cat", "chatte"))
        assert lexicon.union(tmp_path / "d.tsv") == lexicon
        assert lexicon.shared_sources([("cat", "katt"), ("cow", "ko")]) == {"cat"}
        assert lexicon.index((["dog"], [[1.0]]), {"chien": [1.0]}).pairs.tolist() == [[0, 0]]


class TestParts:
    @settings(deadline=None)
    @given(lexicon=repetitive, share=st.floats(0.05, 0.95), rng_seed=st.integers(0, 2**32))
    def test_split_parts_the_source_words(self, lexicon, share, rng_seed):
        held = round(share * len(lexicon.sources))
        if not 0 < held < len(lexicon.sources):
            with pytest.raises(LexiconError, match="one part would be empty"):
                lexicon.split(share, rng_seed=rng_seed)
            return
        rest, out = lexicon.split(share, rng_seed=rng_seed)
        assert len(out.sources) == held
        assert not set(rest.sources) & set(out.sources)
        assert [pair for pair in lexicon if pair[0] in set(out.sources)] == list(out)
        assert [pair for pair in lexicon if pair[0] in set(rest.sources)] == list(rest)
        assert lexicon.split(count=held, rng_seed=rng_seed) == (rest, out)

    def test_split_stays_the_same_over_the_years(self):
        lexicon = Lexicon.from_pairs((str(i), "x") for i in range(10))
        _, out = lexicon.split(0.3, rng_seed=1)
        assert out.sources == GOLDEN_SPLIT
        assert lexicon.split(0.3, rng_seed=2)[1].sources != GOLDEN_SPLIT

    @settings(deadline=None)
    @given(lexicon=lexicons, random=st.randoms(use_true_random=False), rng_seed=st.integers(-1, 3))
    def test_split_does_not_depend_on_the_order_of_lines(self, lexicon, random, rng_seed):
        assume(len(lexicon.sources) > 1)
        shuffled = [*lexicon, *lexicon.pairs[:2]]
        random.shuffle(shuffled)
        for part, again in zip(
            lexicon.split(count=1, rng_seed=rng_seed),
            Lexicon.from_pairs(shuffled).split(count=1, rng_seed=rng_seed),
            strict=True,
        ):
            assert set(part) == set(again)

    @pytest.mark.parametrize("share", [0.0, 1.0, -1.0, 2.0, float("nan")])
    def test_split_share_out_of_range(self, share):
        with pytest.raises(SettingsError, match="between 0 and 1"):
            Lexicon.from_pairs([("a", "b"), ("c", "d")]).split(share, rng_seed=0)

    @pytest.mark.parametrize("count", [-1, 0, 2, 3])
    def test_split_count_out_of_range(self, count):
        with pytest.raises(LexiconError, match="of 2 source words"):
            Lexicon.from_pairs([("a", "b"), ("c", "d")]).split(count=count, rng_seed=0)

    def test_sources_and_targets(self):
        lexicon = Lexicon.from_pairs([("b", "x"), ("a", "y"), ("b", "z"), ("b", "x")])
        assert lexicon.sources == ["b", "a"]
        assert lexicon.targets_of() == {"b": ["x", "z"], "a": ["y"]}
        assert len(lexicon) == 4

    @settings(deadline=None)
    @given(lexicon=repetitive)
    def test_swapped_twice_is_the_same(self, lexicon):
        assert lexicon.swapped().swapped() == lexicon
        assert set(lexicon.swapped().sources) == {target for _, target in lexicon}

    @settings(deadline=None)
    @given(lexicon=repetitive, other=repetitive)
    def test_union_and_without_sources(self, lexicon, other):
        union = lexicon.union(other)
        assert set(union) == set(lexicon) | set(other)
        assert union.pairs[: len(lexicon)] == lexicon.pairs
        assert set(lexicon.without_sources(other.sources).sources) == set(lexicon.sources) - set(other.sources)

    def test_parts_remember_their_file(self, read):
        lexicon = read("a\tb\nc\td\n")
        rest, out = lexicon.split(count=1, rng_seed=0)
        assert lexicon.origin == rest.origin == out.origin == lexicon.swapped().origin


class TestIndex:
    def test_exact_account(self):
        lexicon = Lexicon.from_pairs(
            [
                ("a", "x"),
                ("a", "y"),
                ("a", "x"),
                ("no", "x"),
                ("b", "nein"),
                ("no", "nein"),
                ("b", "nein"),
                ("a", "non"),
            ]
        )
        index = lexicon.index(Words("b a"), Words("x y z"))
        assert index.pairs.tolist() == [[1, 0], [1, 1]]
        assert index.pairs.dtype == np.int64
        assert index.gold == {1: [0, 1]}
        assert index.sources == {"a": 1}
        assert (index.pairs_total, index.pairs_covered, index.duplicates, index.folded) == (8, 2, 2, 0)
        assert (index.missing_source.pairs, index.missing_source.words) == (1, ("no",))
        assert (index.missing_target.pairs, index.missing_target.words) == (2, ("nein", "non"))
        assert (index.missing_both.pairs, index.missing_both.words) == (1, ("no", "nein"))
        assert (index.sources_total, index.sources_covered) == (3, 1)
        assert json.loads(json.dumps(index.to_json()))["missing_target"] == {"pairs": 2, "words": ["nein", "non"]}

    @settings(deadline=None)
    @given(lexicon=repetitive, source=st.sets(short), target=st.sets(short), fold_case=st.booleans())
    def test_everything_is_accounted_for(self, lexicon, source, target, fold_case):
        index = lexicon.index(Words(sorted(source)), Words(sorted(target)), fold_case=fold_case)
        missing = (index.missing_source, index.missing_target, index.missing_both)
        assert index.pairs_total == index.pairs_covered + index.duplicates + sum(part.pairs for part in missing)
        assert {pair for pair in lexicon if pair[0] in source and pair[1] in target} == {
            (sorted(source)[row], sorted(target)[column]) for row, column in index.pairs
        }
        assert sum(map(len, index.gold.values())) == index.pairs_covered
        assert index.sources_covered == len(index.gold)

    def test_folding_is_counted_and_exact_matches_come_first(self):
        lexicon = Lexicon.from_pairs([("Paris", "pariisi"), ("THE", "se"), ("strasse", "tie"), ("the", "se")])
        source, target = Words("the The paris Paris Straße"), Words("Pariisi se tie")
        assert lexicon.index(source, target).pairs.tolist() == [[0, 1]]
        index = lexicon.index(source, target, fold_case=True)
        assert index.pairs.tolist() == [[3, 0], [0, 1], [4, 2]]
        assert (index.folded, index.duplicates) == (3, 1)
        assert "3 words matched only by folding case" in index.summary()

    def test_summary_is_for_people(self):
        lexicon = Lexicon.from_pairs([("a", "x"), *((f"w{i}", "x") for i in range(9))])
        assert lexicon.index(Words("a"), Words("x")).summary() == [
            "1 of 10 pairs are in both vocabularies",
            "1 of 10 source words have a translation there",
            "9 pairs lack the source word: w0, w1, w2, w3, w4, ...",
        ]

    def test_nothing_usable(self, read):
        lexicon = read("House\tMaison\nDog\tChien\n")
        index = lexicon.index(Words("house dog"), Words("maison"))
        assert index.pairs.shape == (0, 2)
        with pytest.raises(LexiconError) as error:
            index.require_usable()
        for part in (
            "pairs.txt: 0 of 2 pairs are in both vocabularies",
            "2 and 1 words",
            "House",
            "`fold_case`",
            "`max_words`",
        ):
            assert part in str(error.value)

    def test_usable_gives_itself_back(self):
        index = Lexicon.from_pairs([("a", "x")]).index(Words("a"), Words("x"))
        assert index.require_usable() is index
        with pytest.raises(LexiconError, match="needed at least 2"):
            index.require_usable(2)

    def test_the_other_way_round(self):
        lexicon = Lexicon.from_pairs([("same", "same"), *((f"t{i}", f"s{i}") for i in range(12))])
        source, target = Words(["same", *(f"s{i}" for i in range(12))]), Words(["same", *(f"t{i}" for i in range(12))])
        index = lexicon.index(source, target)
        with pytest.raises(LexiconError, match="1 of 13 pairs fit as given, 13 when swapped; swap the two tables"):
            index.require_usable()
        lexicon.swapped().index(source, target).require_usable()

    def test_one_word_on_the_other_side_makes_no_swapped_pair(self):
        """As a name that both languages have."""
        lexicon = Lexicon.from_pairs([("a", "x"), *((f"t{i}", "gone") for i in range(20)), ("b", "s")])
        source, target = Words(["a", "s"]), Words(["x", *(f"t{i}" for i in range(20))])
        assert lexicon.index(source, target).require_usable().pairs_covered == 1

    def test_a_few_swapped_pairs_are_no_proof(self):
        lexicon = Lexicon.from_pairs([("a", "x"), *((f"t{i}", f"s{i}") for i in range(9))])
        source, target = Words(["a", *(f"s{i}" for i in range(9))]), Words(["x", *(f"t{i}" for i in range(9))])
        assert lexicon.index(source, target).require_usable().pairs_covered == 1


def test_reading_a_dictionary_does_not_wait_for_torch():
    code = "import sys, bilex.lexicon; raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
