import hashlib
import subprocess
import sys

import pytest

from bilex import EmbeddingTable, Lexicon, sample
from bilex.data.folder import Place

TABLE = b"3 2\nthe 1 2\nof 3 4\nand 5 6\n"
WORDS = b"the el\n"


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder with a table and dictionaries, where others have a server."""
    folder = tmp_path / "mirror"
    for path, content in {
        "fasttext/vectors-wiki/wiki.en.vec": TABLE,
        "fasttext/vectors-wiki/wiki.es.vec": TABLE,
        "arrival/dictionaries/en-es.0-5000.txt": WORDS,
        "arrival/dictionaries/en-es.5000-6500.txt": WORDS,
        "arrival/dictionaries/en-es.txt": WORDS,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BILEX_MIRROR", str(folder))
    return folder


def test_fetch(bilex, mirror, tmp_path):
    result = bilex("data", "fetch", "muse", "en-es")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == f"{tmp_path}/data/muse/en-es.0-5000.txt  0.0 MB  fetched"
    assert [line.split()[0].rsplit("/", 1)[1] for line in lines[1:]] == [
        "en-es.5000-6500.txt",
        "wiki.en.vec",
        "wiki.es.vec",
    ]
    assert "muse, dictionaries: licence CC BY-NC 4.0; Conneau" in result.err
    assert "muse, vectors: licence CC BY-SA 3.0; Bojanowski" in result.err
    assert (tmp_path / "data/muse/wiki.en.vec").read_bytes() == TABLE
    assert bilex("data", "fetch", "muse", "en-es").out.count("exists already") == 4


def test_fetch_for_machines(bilex, mirror, tmp_path):
    found = bilex("data", "fetch", "muse", "en-es", "--vectors", "--max-words", 2, "--json").json
    assert found["folder"] == str(tmp_path / "data")
    assert [file["file"] for file in found["files"]] == ["wiki.en.vec", "wiki.es.vec"]
    cut = b"2 2\nthe 1 2\nof 3 4\n"
    assert found["files"][0] | {"fetched_at": ""} == {
        "file": "wiki.en.vec",
        "path": str(tmp_path / "data/muse/wiki.en.vec"),
        "status": "fetched",
        "licence": "CC BY-SA 3.0",
        "url": str(mirror / "fasttext/vectors-wiki/wiki.en.vec"),
        "bytes": len(cut),
        "words": 2,
        "sha256": hashlib.sha256(cut).hexdigest(),
        "fetched_at": "",
    }


def test_fetch_options(bilex, mirror, tmp_path):
    args = ["data", "fetch", "muse", "en-es", "--dictionaries", "--full", "--folder", tmp_path / "other"]
    assert len(bilex(*args).out.splitlines()) == 3
    assert (tmp_path / "other/muse/en-es.txt").exists()
    sums = tmp_path / "sums"
    sums.write_text(f"{hashlib.sha256(WORDS).hexdigest()}  en-es.txt\n")
    assert bilex(*args, "--checksums", sums, "--verify").code == 0
    assert bilex("data", "fetch", "muse", "en", "--whole", "--mirror", mirror.as_uri()).code == 0


def test_a_file_that_is_not_what_it_was(bilex, refused, mirror):
    bilex("data", "fetch", "muse", "en-es", "--dictionaries")
    (mirror / "arrival/dictionaries/en-es.0-5000.txt").write_bytes(b"the la\n")
    assert "--accept-changed" in _last(bilex("data", "fetch", "muse", "en-es", "--dictionaries", "--force"))
    assert bilex("data", "fetch", "muse", "en-es", "--dictionaries", "--force", "--accept-changed").code == 0


def _last(result):
    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines()[-1].startswith("bilex: ")
    return result.err.splitlines()[-1]


def test_refusals(bilex, refused, mirror, tmp_path):
    assert "no collection 'muses' (did you mean 'muse'?)" in refused("data", "fetch", "muses", "en-es")
    assert "'en-es-fr' is not a language or direction" in refused("data", "fetch", "muse", "en-es-fr")
    assert "no such file in the mirror; muse: it has" in _last(bilex("data", "fetch", "muse", "en-xx"))
    assert "needed http://" in _last(bilex("data", "fetch", "muse", "en-es", "--mirror", "ftp://x/y"))


@pytest.mark.parametrize(
    "args",
    [
        ["muse"],
        ["muse", "en", "--whole", "--max-words", 3],
        ["muse", "en", "--max-words", 0],
        ["muse", "en", "--timeout", 0],
    ],
)
def test_wrong_usage(refused, args):
    assert "Usage: bilex data fetch" in refused("data", "fetch", *args, code=2)


def test_list(bilex, mirror, tmp_path):
    result = bilex("data", "list")
    assert result.err == ""
    assert result.out.endswith(f"in {tmp_path}/data: nothing yet\n")
    for part in ("muse - MUSE", "wiki.{language}.vec", "CC BY-NC 4.0", "rich: en-es es-en", "fasttext-cc"):
        assert part in result.out
    bilex("data", "fetch", "muse", "en-es")
    (tmp_path / "data/muse/mine.vec").write_bytes(TABLE)
    (tmp_path / "data/muse/wiki.es.vec").write_bytes(TABLE[:5])
    listed = bilex("data", "list").out.partition(f"in {tmp_path}/data:\n")[2]
    assert "muse/mine.vec" in listed
    assert "not fetched by bilex" in listed
    assert "changed since it was fetched" in listed


def test_list_for_machines(bilex, mirror, tmp_path):
    bilex("data", "fetch", "muse", "en", "--folder", tmp_path / "other")
    found = bilex("data", "list", "--folder", tmp_path / "other", "--json").json
    muse = found["collections"]["muse"]
    assert muse["vectors"]["licence"] == "CC BY-SA 3.0"
    assert muse["dictionaries"]["files"]["train"] == "{pair}.0-5000.txt"
    assert [file["file"] for file in muse["there"]] == ["wiki.en.vec"]
    assert muse["there"][0]["words"] == 3
    assert found["collections"]["fasttext-cc"]["there"] == []


def test_an_interrupt_is_no_traceback(bilex, mirror, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Place, "make", interrupt)
    result = bilex("data", "fetch", "muse", "en")
    assert result.code == 130
    assert result.err.endswith("bilex: interrupted\n")


def test_nothing_heavy_is_imported():
    code = (
        "import sys\nfrom bilex.cli import main\n"
        "try:\n    main(['data', 'list'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'torch', 'numpy', 'polars', 'scipy'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_half_a_minute_of_silence_ends_a_try(bilex):
    told = " ".join(bilex("data", "fetch", "--help").out.split())
    assert "Seconds without data after which an attempt is given up. [default: 30;" in told


class TestSample:
    def test_its_files_are_what_the_package_has(self, bilex, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        result = bilex("data", "sample")
        names = ["en.vec", "fr.vec", "en-fr.train.tsv", "en-fr.dev.tsv", "en-fr.test.tsv"]
        assert (result.code, result.out) == (0, f"written: {', '.join(names)}\n")
        data = sample.load("en-fr")
        assert EmbeddingTable.read("fr.vec").words == data.target.words
        assert [len(Lexicon.read(name)) for name in names[2:]] == [len(data.train), len(data.dev), len(data.test)]

    def test_files_that_exist_are_left_as_they_are(self, bilex, refused, tmp_path):
        (tmp_path / "en-fi.dev.tsv").write_text("mine\n")
        assert "--force" in refused("data", "sample", "en-fi", "--output", tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["en-fi.dev.tsv"]
        result = bilex("data", "sample", "en-fi", "--output", tmp_path, "--force", "--json")
        assert result.json["dev"] == str(tmp_path / "en-fi.dev.tsv")
        assert len(Lexicon.read(tmp_path / "en-fi.dev.tsv")) > 100

    def test_another_pair(self, refused):
        assert "choose one of en-fr, en-fi" in refused("data", "sample", "en-de")
