"""Public data: a catalogue of collections, the data folder, and downloads.

>>> from bilex.data import data_folder, fetch, get_collection
>>> fetch(get_collection("muse").items(["en-es"]))
>>> data_folder() / "muse" / "wiki.en.vec"
"""

from bilex.data.catalog import Collection, Item, all_collections, get_collection
from bilex.data.fetch import Fetched, fetch
from bilex.data.folder import data_folder

__all__ = ["Collection", "Fetched", "Item", "all_collections", "data_folder", "fetch", "get_collection"]
