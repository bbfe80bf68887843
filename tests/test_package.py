import inspect
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import pytest

import bilex


@pytest.mark.parametrize("name", bilex.__all__)
def test_public_names_are_there_and_documented(name):
    thing = getattr(bilex, name)
    assert inspect.isclass(thing) or inspect.isfunction(thing) or callable(thing)
    assert thing.__doc__
    if not inspect.isclass(thing):
        return
    for attribute, member in vars(thing).items():
        function = getattr(member, "func", getattr(member, "fget", getattr(member, "__func__", member)))
        if not attribute.startswith("_") and inspect.isfunction(function) and function.__module__ == thing.__module__:
            assert function.__doc__, f"{name}.{attribute} has no docstring"


def test_all_is_complete_and_listed():
    assert set(bilex.__all__) == set(bilex._MODULES)
    assert set(bilex.__all__) <= set(dir(bilex))


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'alignn'"):
        bilex.alignn  # noqa: B018
    assert not hasattr(bilex, "numpy")


def test_one_version():
    assert bilex.__version__ == version("bilex")


def test_type_checkers_are_told_that_it_is_typed():
    assert files("bilex").joinpath("py.typed").is_file()


def test_one_exception_tree():
    errors = [getattr(bilex, name) for name in bilex.__all__ if name.endswith("Error")]
    assert all(issubclass(error, bilex.BilexError) for error in errors)
    missing = str(bilex.MissingExtraError("faiss-cpu", "faiss", "approximate search"))
    assert missing == "approximate search needs the package faiss-cpu: pip install 'bilex[faiss]'"


def test_importing_the_package_is_light():
    code = "import sys, bilex; raise SystemExit(bool({'torch', 'numpy', 'polars', 'click'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
