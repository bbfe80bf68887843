import dataclasses
import json
import math
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from bilex import Alignment, EmbeddingTable, Lexicon, align
from bilex.run.corrections import Corrections
from bilex.text.printable import printable


def shell(*args, **more):
    """The program in a process of its own."""
    return subprocess.run([sys.executable, "-m", "bilex", *map(str, args)], capture_output=True, check=True, **more)


class TestTranslate:
    def test_for_people(self, bilex, run, alignment):
        result = bilex("translate", run, "s100", "s101", "-n", 2)
        assert (result.code, result.err) == (0, "")
        for line, expected in zip(result.out.splitlines(), alignment.translate(["s100", "s101"], 2), strict=True):
            word, *candidates = line.split("\t")
            assert word == expected.word
            assert candidates == [f"{c.word} {c.score:.3f}" for c in expected.candidates]

    @pytest.mark.parametrize("options", [[], ["--direction", "backward"], ["--retrieval", "nn"], ["--k", 3]], ids=str)
    def test_json(self, bilex, run, options):
        words = ["t1", "t2"] if "backward" in options else ["s1", "s2"]
        result = bilex("translate", run, *words, *options, "--json")
        assert (result.code, result.err) == (0, "")
        first, second = result.json_lines
        assert (first["word"], first["through"], len(first["candidates"])) == (words[0], "table", 5)
        assert second["word"] == words[1]
        assert all(isinstance(c["score"], float) and isinstance(c["word"], str) for c in first["candidates"])

    def test_standard_input(self, bilex, run):
        result = bilex("translate", run, "-", "--json", stdin="s1\n\ns2\r\nnew york\ns3")
        assert result.code == 0
        assert [line["word"] for line in result.json_lines] == ["s1", "s2", "new york", "s3"]
        assert [line["through"] for line in result.json_lines] == ["table", "table", None, "table"]

    @pytest.mark.parametrize("content", ["s1\ns2\n", "\ufeffs1\r\ns2", " s1 \n\ts2\n \n"], ids=ascii)
    @pytest.mark.parametrize("words", [[], ["-"]], ids=str)
    def test_what_is_piped_is_read_also_without_a_word(self, bilex, run, words, content):
        """With the byte order mark of a Windows editor, or the space that `echo s1 | bilex` has there."""
        result = bilex("translate", run, *words, "--json", stdin=content)
        assert (result.code, result.err) == (0, "")
        assert [line["word"] for line in result.json_lines] == ["s1", "s2"]

    def test_more_lines_than_a_batch(self, bilex, run, monkeypatch):
        monkeypatch.setattr("bilex.cli.translate.BATCH", 7)
        words = [f"s{i}" for i in range(30)]
        result = bilex("translate", run, "-", "--json", stdin="\n".join(words))
        assert [line["word"] for line in result.json_lines] == words

    def test_unknown_words_go_to_stderr(self, bilex, run):
        result = bilex("translate", run, "S1", "s1", "zzz")
        assert result.code == 0
        assert result.err == "S1: not in the table of 160 words; 's1' is\nzzz: not in the table of 160 words\n"
        assert result.out.startswith("s1\t")
        assert result.out.count("\n") == 1

    def test_words_of_the_other_language(self, bilex, run):
        result = bilex("translate", run, "t1", "T2")
        assert result.code == 1
        said = "not in the table of 160 words"
        assert result.err == f"t1: {said}; the target table has it: --direction backward\nT2: {said}\n"
        back = bilex("translate", run, "s1", "t1", "--direction", "backward")
        assert (back.code, back.err) == (0, f"s1: {said}; the source table has it: --direction forward\n")

    def test_mistyped_words(self, bilex, words_run):
        run = words_run(["school", "café", "the", "2010", "Café"])
        result = bilex("translate", run, "schol", "Skhool", "cafe\u0301", "teh", "2011", "xylophone")
        said = "not in the table of 5 words"
        assert result.err.splitlines() == [
            f"schol: {said} (did you mean 'school'?)",
            f"Skhool: {said} (did you mean 'school'?)",
            f"cafe\u0301: {said}; 'café' is, the same letters in the Unicode form NFC",
            f"teh: {said}",
            f"2011: {said}",
            f"xylophone: {said}",
        ]

    def test_near_words_are_of_the_table_translated_from(self, bilex, words_run):
        run = words_run(["school", "house"], ["maison", "école"])
        assert "did you mean 'maison'" in bilex("translate", run, "mason", "--direction", "backward").err
        assert "did you mean 'house'" in bilex("translate", run, "hause").err
        assert "did you mean" not in bilex("translate", run, "mason").err

    @pytest.mark.parametrize("as_json", [False, True])
    def test_no_known_word_is_1(self, bilex, run, as_json):
        result = bilex("translate", run, "zzz", *["--json"] * as_json)
        assert result.code == 1
        if as_json:
            assert result.json == {"word": "zzz", "through": None, "candidates": []}
        else:
            assert (result.out, result.err) == ("", "zzz: not in the table of 160 words\n")

    def test_nothing_on_standard_input_is_1(self, bilex, run):
        for words in ["-"], []:
            result = bilex("translate", run, *words, stdin="\n")
            assert (result.code, result.out) == (1, "")
            assert result.err == "found no word on standard input; write one word per line, or give it as WORD\n"

    def test_through_subwords(self, bilex, world, tmp_path, monkeypatch):
        table = dataclasses.replace(world.source, subwords=lambda word: world.source.rows[3].copy(), origin=None)
        made = align(table, world.target, world.train, method="procrustes")
        monkeypatch.setattr(Alignment, "load", lambda *_, **__: made)
        result = bilex("translate", tmp_path / "run", "unheard-of", "-n", 1)
        assert result.out.startswith("unheard-of (through subwords)\t")

    def test_for_a_terminal_and_for_a_pipe(self, bilex, at_terminal, words_run):
        run = words_run(["\x1b]0;title\x07", "a\u202eb", "\x9b31m", "école", "日本", "house"])
        args = ["translate", run, "house", "-n", 6]
        raw = shell(*args).stdout.decode()
        assert {"école", "日本", "\x1b]0;title\x07", "a\u202eb", "\x9b31m"} <= set(re.split("[\t ]", raw))
        shown = at_terminal(*args).decode()
        assert shown == printable(raw, keep="\t\n") != raw
        western = at_terminal(*args, PYTHONIOENCODING="cp1252").decode("cp1252")
        assert western == shown.replace("日本", "\\u65e5\\u672c")
        as_json = at_terminal(*args, "--json").decode()
        assert printable(as_json, keep="\n") == as_json
        assert json.loads(as_json) == bilex(*args, "--json").json

    def test_mistakes(self, refused, run, tmp_path, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin.isatty", lambda: True)
            assert "needed at least one WORD" in refused("translate", run, code=2)
        assert "this is no run folder" in refused("translate", tmp_path / "absent", "s1")
        assert "-n" in refused("translate", run, "s1", "-n", 0, code=2)


class TestInduce:
    @pytest.mark.parametrize(
        ("options", "asked"),
        [
            ([], {}),
            (["-n", 3], {"n": 3}),
            (["--mutual"], {"mutual": True}),
            (["--max-rank", 50], {"max_rank": 50}),
            (["--direction", "backward"], {"direction": "backward"}),
            (["--no-given"], {"given": False}),
            (["--no-given", "--mutual"], {"given": False, "mutual": True}),
        ],
        ids=str,
    )
    def test_tsv_is_what_python_says(self, bilex, run, alignment, tmp_path, options, asked):
        path = tmp_path / "lexicon.tsv"
        result = bilex("induce", run, "--output", path, *options)
        expected = alignment.induce(**asked)
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        assert head == "# source\ttarget\tscore\trank\torigin"
        assert [(s, t, int(rank), origin) for s, t, _, rank, origin in map(str.split, lines)] == [
            (entry.source, entry.target, entry.rank, entry.origin) for entry in expected
        ]
        scores = [float(line.split("\t")[2]) for line in lines]
        assert scores == pytest.approx([entry.score for entry in expected], abs=1e-5)
        counts = Counter(entry.origin for entry in expected)
        parts = ", ".join(f"{counts[origin]} {origin}" for origin in ("given", "found") if counts[origin])
        said = f"{len(expected):,} pairs written to {path}{f': {parts}' if counts['given'] else ''}\n"
        assert (result.code, result.out, result.err) == (0, "", said)

    def test_is_a_dictionary_to_align_with(self, bilex, run, files, tmp_path):
        path = tmp_path / "lexicon.tsv"
        bilex("induce", run, "--mutual", "--output", path)
        lexicon = Lexicon.read(path)
        assert set(lexicon) == {(e.source, e.target) for e in Alignment.load(run).induce(mutual=True)}
        result = bilex(
            "align", files / "x.vec", files / "z.vec", "--train", path, "--fast", "--output", tmp_path / "next"
        )
        assert result.code == 0
        assert f"learnt from {len(lexicon):,} of {len(lexicon):,} pairs" in result.err

    def test_every_word_survives_being_written(self, bilex, tmp_path):
        """Words such as #tag are in all real tables, and must not turn into comments."""
        words = ["#tag", "#", '"', "a,b", "New York", "日本", "'", "</s>", "\u00a0x", "\ufeffy"]
        rows = np.random.default_rng(0).standard_normal((10, 4)).astype(np.float32)
        table = EmbeddingTable(words, rows)
        align(table, table, Lexicon.from_pairs((word, word) for word in words), method="procrustes").save(
            tmp_path / "run"
        )
        bilex("induce", tmp_path / "run", "--output", tmp_path / "lexicon.tsv")
        assert list(Lexicon.read(tmp_path / "lexicon.tsv")) == [(word, word) for word in words]

    def test_jsonl(self, bilex, run, alignment, tmp_path):
        bilex("induce", run, "--format", "jsonl", "--output", tmp_path / "l.jsonl")
        lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
        assert [(line["source"], line["target"], line["rank"]) for line in lines] == [
            (e.source, e.target, e.rank) for e in alignment.induce()
        ]
        assert all(math.isfinite(line["score"]) for line in lines)

    @pytest.mark.parametrize(("way", "codes"), [("forward", ["en", "fi"]), ("backward", ["fi", "en"])])
    def test_tmx(self, bilex, run, tmp_path, way, codes):
        path, languages = tmp_path / "l.tmx", ["--source-language", "en", "--target-language", "fi"]
        assert bilex("induce", run, "--format", "tmx", *languages, "--direction", way, "--output", path).code == 0
        assert re.findall(r'xml:lang="(\w+)"', path.read_text())[:2] == codes

    def test_the_name_says_the_format(self, bilex, run, tmp_path):
        heads = {"l.tmx": "<?xml", "l.jsonl": '{"source"', "l.ifo": "StarDict", "l.txt": "# source", "l": "# source"}
        for name, head in heads.items():
            assert bilex("induce", run, "--max-rank", 9, "--output", tmp_path / name).code == 0
            assert (tmp_path / name).read_text(encoding="utf-8").startswith(head)
        bilex("induce", run, "--max-rank", 9, "--format", "tsv", "--output", tmp_path / "m.tmx")
        assert (tmp_path / "m.tmx").read_text(encoding="utf-8").startswith("# source")

    def test_with_corrections(self, bilex, refused, run, tmp_path):
        file = run / "corrections.sqlite"
        assert "there are no corrections yet" in refused("induce", run, "--corrections", file, "--output", "-")
        assert not file.exists()
        plain = bilex("induce", run, "--format", "jsonl", "--output", "-").json_lines
        corrections = Corrections(file)
        corrections.decide("s1", plain[1]["target"], "corrected", target="new word")
        corrections.decide("s2", plain[2]["target"], "rejected")
        corrections.close()
        result = bilex("induce", run, "--corrections", file, "--format", "jsonl", "--min-score", -9, "--output", "-")
        new = {"source": "s1", "target": "new word", "score": None, "rank": 1, "origin": "corrected"}
        assert result.json_lines == [*plain[:1], new, *plain[3:]]
        assert f"with the decisions in {file}: 0 accepted, 1 rejected, 1 corrected" in result.err
        back = bilex("induce", run, "--corrections", file, "--direction", "backward", "--output", tmp_path / "b.tsv")
        assert back.code == 0
        assert ("new word", "s1") in set(Lexicon.read(tmp_path / "b.tsv"))

    def test_decisions_of_the_run_are_put_in_unless_refused(self, bilex, refused, run, tmp_path):
        path, file = tmp_path / "l.tsv", run / "corrections.sqlite"
        Corrections(file).close()
        assert "with the decisions" not in bilex("induce", run, "--output", path).err, "there are none"
        first, second = Lexicon.read(path).pairs[:2]
        corrections = Corrections(file)
        corrections.decide(*first, "rejected")
        corrections.decide(*second, "corrected", target=[second[1], "t9", "new word"])
        corrections.close()
        result = bilex("induce", run, "--output", path, "--force")
        said = f"with the decisions in {file}: 0 accepted, 1 rejected, 1 corrected (--no-corrections leaves them out)"
        assert result.err.splitlines()[0] == said
        assert "1 accepted, 2 corrected, 78 given" in result.err.splitlines()[1]
        pairs = Lexicon.read(path).pairs
        assert first not in pairs, "though the dictionary gives it"
        assert [target for source, target in pairs if source == second[0]] == [second[1], "t9", "new word"]
        scores = [line.split("\t")[2] for line in path.read_text().splitlines()[1:]]
        assert [number for number, score in enumerate(scores) if not score] == [pairs.index((second[0], "new word"))]
        result = bilex("induce", run, "--no-corrections", "--output", path, "--force")
        assert "with the decisions" not in result.err
        assert first in Lexicon.read(path).pairs
        assert sorted(p.name for p in run.iterdir() if p.name.startswith("corrections")) == ["corrections.sqlite"]
        both = ["--no-corrections", "--corrections", file]
        assert "contradict each other" in refused("induce", run, *both, "--output", path, code=2)

    def test_only_what_was_decided(self, bilex, refused, run, tmp_path):
        assert "no pair was accepted" in refused("induce", run, "--only-decided", "--output", tmp_path / "l.tsv")
        corrections = Corrections(run / "corrections.sqlite")
        corrections.decide("s1", "t1", "rejected")
        result = bilex("induce", run, "--only-decided", "--output", tmp_path / "l.tsv")
        assert (result.code, "no pair was accepted" in result.err) == (1, True)
        corrections.decide("s2", "t9", "accepted")
        corrections.decide("s3", "t3", "corrected", target="new word")
        corrections.close()
        assert bilex("induce", run, "--only-decided", "--output", tmp_path / "l.tsv").code == 0
        assert Lexicon.read(tmp_path / "l.tsv").pairs == (("s2", "t9"), ("s3", "new word"))
        both = ["--only-decided", "--no-corrections"]
        assert "leave out one" in refused("induce", run, *both, "--output", tmp_path / "m.tsv", code=2)

    def test_what_is_given_is_never_dropped(self, bilex, run, world, tmp_path):
        for name, options in (("a", ["--mutual"]), ("b", ["--min-score", 9]), ("c", ["-n", 3]), ("d", [])):
            assert bilex("induce", run, *options, "--output", tmp_path / name).code == 0
            assert set(world.train) <= set(Lexicon.read(tmp_path / name)), options
        assert set(Lexicon.read(tmp_path / "b")) == set(world.train)
        bilex("induce", run, "--min-score", 9, "--direction", "backward", "--output", tmp_path / "e")
        assert set(Lexicon.read(tmp_path / "e")) == set(world.train.swapped())

    @pytest.mark.parametrize(
        ("name", "mark"), [("l.jsonl", '"origin": "given"'), ("l.tmx", '"x-origin">given<'), ("l.ifo", "[given]")]
    )
    def test_every_format_marks_what_is_given(self, bilex, run, tmp_path, name, mark):
        assert bilex("induce", run, "--output", tmp_path / name).code == 0
        text = (tmp_path / name.replace(".ifo", ".dict")).read_text(encoding="utf-8")
        assert text.count(mark) == 80
        assert "nan" not in text.lower()

    def test_stardict(self, bilex, refused, run, tmp_path):
        args = ["induce", run, "--format", "stardict", "--max-rank", 9, "--output"]
        assert bilex(*args, tmp_path / "l.ifo").code == 0
        assert {path.suffix for path in tmp_path.glob("l.*")} == {".ifo", ".idx", ".dict"}
        (tmp_path / "l.ifo").unlink()
        assert "l.idx exists already" in refused(*args, tmp_path / "l.ifo")
        assert "ends in .ifo" in refused(*args, "-", code=2)

    def test_standard_output(self, bilex, run, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        result = bilex("induce", run, "--max-rank", 20, "--format", "jsonl", "--output", "-")
        assert len(result.json_lines) == 20
        assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]

    def test_min_score(self, bilex, run, tmp_path):
        for name, options in (("all", []), ("some", ["--min-score", "0.2"])):
            bilex("induce", run, "--output", tmp_path / name, *options)
        every, some = ((tmp_path / name).read_text().splitlines()[1:] for name in ("all", "some"))
        assert some == [line for line in every if line.endswith("given") or float(line.split("\t")[2]) >= 0.2]
        assert 0 < len(some) < len(every)

    def test_a_file_that_exists_needs_force(self, bilex, refused, run, tmp_path):
        path = tmp_path / "l.tsv"
        path.write_text("mine")
        assert "exists already and is left as it is" in refused("induce", run, "--output", path)
        assert path.read_text() == "mine"
        assert bilex("induce", run, "--output", path, "--force").code == 0
        assert path.read_text().startswith("# source")

    def test_mistakes(self, refused, run, tmp_path):
        assert "--mutual keeps one" in refused("induce", run, "--mutual", "-n", 2, "--output", tmp_path / "x", code=2)
        assert "--output" in refused("induce", run, code=2)
        assert "needed a code such as en" in refused("induce", run, "--source-language", "e n", "--output", "-", code=2)
        assert "this is no run folder" in refused("induce", tmp_path, "--output", tmp_path / "x")
        assert "there is no folder" in refused("induce", run, "--output", tmp_path / "absent" / "x.tsv")
        assert not (tmp_path / "x").exists()


class TestExport:
    @pytest.mark.parametrize("suffix", [".vec", ".vec.gz", ".bin", ".npz", ".safetensors"])
    def test_read_back(self, bilex, run, alignment, tmp_path, suffix):
        paths = [tmp_path / f"{side}{suffix}" for side in ("x", "z")]
        result = bilex("export", run, "--source", paths[0], "--target", paths[1])
        assert (result.code, result.out) == (0, "")
        assert all(f"written to {path}" in result.err for path in paths)
        for path, table, rows in zip(
            paths,
            (alignment.source, alignment.target),
            (alignment.source_rows, alignment.target_rows),
            strict=True,
        ):
            read = EmbeddingTable.read(path)
            assert read.words == table.words
            np.testing.assert_allclose(read.rows, rows.numpy(), atol=1e-5)

    def test_one_side(self, bilex, run, tmp_path):
        assert bilex("export", run, "--target", tmp_path / "z.vec").code == 0
        assert not (tmp_path / "x.vec").exists()

    def test_mistakes(self, refused, bilex, run, tmp_path):
        assert "needed --source FILE, --target FILE, or both" in refused("export", run, code=2)
        (tmp_path / "x.vec").write_text("mine")
        message = refused("export", run, "--source", tmp_path / "x.vec", "--target", tmp_path / "z.vec")
        assert "x.vec exists already" in message
        assert not (tmp_path / "z.vec").exists()
        assert "needed a name that ends in" in refused("export", run, "--target", tmp_path / "z.xlsx")
        assert bilex("export", run, "--source", tmp_path / "x.vec", "--force").code == 0

    def test_a_wrong_second_name_is_seen_before_the_first_is_written(self, refused, run, tmp_path):
        refused("export", run, "--source", tmp_path / "x.vec", "--target", tmp_path / "z.xlsx")
        assert not (tmp_path / "x.vec").exists()
