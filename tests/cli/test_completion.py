import os
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from bilex.cli import COMMANDS, cli
from bilex.methods.base import all_methods


def completed(*args):
    """What is offered for the last of the words."""
    found = ShellComplete(cli, {}, "bilex", "_BILEX_COMPLETE").get_completions(list(args[:-1]), args[-1])
    return [item.value for item in found]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(bilex, shell):
    result = bilex("completion", shell)
    assert result.code == 0
    assert "_BILEX_COMPLETE" in result.out
    assert "bilex" in result.out


def test_an_unknown_shell(refused):
    assert "'tcsh'" in refused("completion", "tcsh", code=2)


def test_commands_and_options():
    assert completed("") == list(COMMANDS)
    assert completed("al") == ["align"]
    assert "--unsupervised" in completed("align", "--un")


def test_methods_are_those_there_are():
    assert completed("align", "--method", "") == sorted(all_methods())
    assert completed("methods", "vecmap-s") == ["vecmap_semi"]


def test_presets_are_those_of_the_method():
    assert completed("align", "--preset", "auth") == ["authors", "authors-en-tr", "authors-en-zh"]
    assert completed("tune", "--method", "css", "--preset", "") == ["published"]
    assert completed("align", "--method", "ridge", "--preset", "") == []


def test_settings_of_the_method():
    assert "epochs=" in completed("align", "--method", "rapo", "--set", "ep")
    assert completed("align", "--method", "rcsls", "--set", "spectral=") == ["spectral=true", "spectral=false"]
    assert completed("align", "--set", "norm") == ["normalize="]
    assert completed("align", "--fast", "--set", "") == ["normalize="]
    assert completed("align", "--method", "nonsense", "--set", "") == []
    assert "epochs=" in completed("tune", "--set", "ep")


def test_asking_for_commands_and_methods_imports_nothing_heavy():
    code = (
        "import sys\nfrom bilex.cli import main\n"
        "try:\n    main([])\nexcept SystemExit as stopped:\n    assert not stopped.code\n"
        "print(sorted({'torch', 'numpy', 'polars', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    for words in ("bilex ", "bilex align --method "):
        asked = {"_BILEX_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()))}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **asked}
        )
        assert done.stderr == "[]\n"
        assert "plain," in done.stdout
