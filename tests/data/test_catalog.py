from urllib.parse import urlsplit

import pytest

from bilex.data import all_collections, get_collection
from bilex.errors import DataError


def names(collection, *args, **more):
    return [item.name for item in get_collection(collection).items(args, **more)]


def test_a_direction_of_muse():
    items = get_collection("muse").items(["en-es"])
    assert [item.name for item in items] == ["en-es.0-5000.txt", "en-es.5000-6500.txt", "wiki.en.vec", "wiki.es.vec"]
    assert [item.max_words for item in items] == [None, None, 200_000, 200_000]
    assert items[0].url == "https://dl.fbaipublicfiles.com/arrival/dictionaries/en-es.0-5000.txt"
    assert items[2].url == "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.en.vec"


def test_a_string_is_one_name():
    muse = get_collection("muse")
    assert muse.items("en-es") == muse.items(["en-es"])


def test_each_file_once():
    assert names("muse", "en-es", "es-en", only="vectors") == ["wiki.en.vec", "wiki.es.vec"]


def test_kinds():
    assert names("muse", "en-es", only="dictionaries", full=True)[2] == "en-es.txt"
    assert names("muse", "en") == ["wiki.en.vec"]
    assert names("muse", "zh_yue") == ["wiki.zh_yue.vec"]


def test_how_many_words():
    muse = get_collection("muse")
    assert muse.items(["en"], whole=True)[0].max_words is None
    assert muse.items(["en"], max_words=5)[0].max_words == 5


def test_groups_are_the_directions_of_the_paper():
    rich, low = (names("muse", group, only="dictionaries") for group in ("rich", "low"))
    assert len(rich) == len(low) == 20
    assert "zh-en.5000-6500.txt" in rich
    assert "et-en.5000-6500.txt" in low
    assert len(names("muse", "rich", "low", only="vectors")) == 11


def test_the_first_words_of_a_gzipped_table_are_plain_text():
    assert names("fasttext-cc", "en-es") == ["cc.en.300.vec", "cc.es.300.vec"]
    assert names("fasttext-cc", "en", whole=True) == ["cc.en.300.vec.gz"]


@pytest.mark.parametrize(
    "name", ["", "e", "en-", "en-es-fr", "EN-es", "../x", "en/es", "en_", "{pair}", "en es", "en\n"]
)
def test_what_is_no_code(name):
    with pytest.raises(
        DataError, match="is not a language or direction of muse; it has dictionaries to and from en of af"
    ):
        get_collection("muse").items([name])


def test_nothing_of_that_kind():
    with pytest.raises(DataError, match="fasttext-cc has no dictionaries for en-es; it has vectors by language code"):
        get_collection("fasttext-cc").items(["en-es"], only="dictionaries")
    with pytest.raises(DataError, match="muse has no dictionaries for en;"):
        get_collection("muse").items(["en"], only="dictionaries")


def test_an_unknown_collection():
    with pytest.raises(DataError, match=r"no collection 'mus' \(did you mean 'muse'\?\); there are: muse, fasttext-cc"):
        get_collection("mus")


@pytest.mark.parametrize("collection", all_collections().values(), ids=lambda collection: collection.name)
def test_every_entry_is_complete(collection):
    assert collection.title
    assert collection.max_words == 200_000
    for source in collection.sources().values():
        assert urlsplit(source.base).scheme == "https"
        assert source.base.endswith("/")
        assert source.licence.startswith("CC BY")
        assert source.cite
        assert source.size
