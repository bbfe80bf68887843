"""Readers of lexicons in each format, which share no code with the writers."""

import json
import struct
import xml.etree.ElementTree as ElementTree
import zipfile

import openpyxl

from bilex.io.tbx import NAMESPACE

LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_pairs(path):
    """The pairs of a file, by its suffix; those of an archive of a StarDict dictionary without marks of origin."""
    return {
        ".tsv": _pairs_of_tsv,
        ".jsonl": _pairs_of_jsonl,
        ".xlsx": _pairs_of_xlsx,
        ".tmx": _pairs_of_tmx,
        ".tbx": _pairs_of_tbx,
        ".zip": _pairs_of_archive,
    }[path.suffix](path)


def read_stardict(path):
    """A small reader of our own: words in the order of the index, with their articles."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head == "StarDict's dict ifo file"
    about = dict(line.split("=", 1) for line in lines)
    assert about["version"] == "2.4.2"
    assert about["sametypesequence"] == "m"
    index, articles = path.with_suffix(".idx").read_bytes(), path.with_suffix(".dict").read_bytes()
    assert len(index) == int(about["idxfilesize"])
    found, place = [], 0
    while place < len(index):
        end = index.index(b"\0", place)
        offset, size = struct.unpack(">II", index[end + 1 : end + 9])
        found.append((index[place:end].decode(), articles[offset : offset + size].decode()))
        place = end + 9
    assert len(found) == int(about["wordcount"])
    return about, found


def read_tbx(path):
    """Concepts of the file: a list of (language, [(term, note)]) of each."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{{{NAMESPACE}}}tbx"
    assert (root.get("type"), root.get("style")) == ("TBX-Basic", "dca")
    names = {"x": NAMESPACE}
    assert root.find("x:tbxHeader/x:fileDesc/x:sourceDesc/x:p", names) is not None
    return root, [
        [
            (
                section.get(LANG),
                [(t.findtext("x:term", None, names), t.findtext("x:note", None, names)) for t in section],
            )
            for section in concept
        ]
        for concept in root.findall("x:text/x:body/x:conceptEntry", names)
    ]


def _pairs_of_tsv(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")[:2]) for line in lines if not line.startswith("#")]


def _pairs_of_jsonl(path):
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(entry["source"], entry["target"]) for entry in entries]


def _pairs_of_xlsx(path):
    rows = openpyxl.load_workbook(path).active.iter_rows(min_row=2, max_col=2, values_only=True)
    return [tuple(row) for row in rows]


def _pairs_of_tmx(path):
    units = ElementTree.parse(path).getroot().iter("tu")
    return [tuple(segment.text for segment in unit.iter("seg")) for unit in units]


def _pairs_of_tbx(path):
    concepts = [[terms for _, terms in concept] for concept in read_tbx(path)[1]]
    return [(word, target) for ((word, _),), targets in concepts for target, _ in targets]


def _pairs_of_archive(path):
    folder = path.parent / path.stem
    zipfile.ZipFile(path).extractall(folder)
    (description,) = folder.glob("*.ifo")
    articles = read_stardict(description)[1]
    return [(word, line.partition(" [")[0]) for word, article in articles for line in article.split("\n")]
