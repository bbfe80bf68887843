"""bilex completion, and the completion of methods and settings."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from click.shell_completion import CompletionItem

VARIABLE = "_BILEX_COMPLETE"
"""Environment variable by which the shell asks `bilex` for completions."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that makes SHELL complete the commands, options, methods and settings of bilex.

    bash: add `eval "$(bilex completion bash)"` to ~/.bashrc. zsh: the same with zsh, in ~/.zshrc. fish: `bilex
    completion fish > ~/.config/fish/completions/bilex.fish`. Then open a new shell.
    """
    from click.shell_completion import get_completion_class

    from bilex.cli import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "bilex", VARIABLE).source())


def complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Methods that start with this text. A method has the name of its file, so nothing heavy is imported."""
    import bilex.methods

    return [name for name in _files(bilex.methods.__path__) if name.startswith(incomplete.replace("-", "_"))]


def _files(folders: Iterable[str]) -> Iterator[str]:
    """Files of methods. In a package of several methods, such as rapo, their names start with its name."""
    for finder, name, is_package in pkgutil.iter_modules(folders):
        if is_package:
            inner = [str(Path(finder.path, name))]  # type: ignore[union-attr]
            yield from (module.name for module in pkgutil.iter_modules(inner) if module.name.startswith(name))
        elif name != "base":
            yield name


def complete_preset(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Presets of the given or default method."""
    from bilex.settings.presets import presets_of

    name = (ctx.params.get("method") or "rapo").replace("-", "_")
    return [preset for preset in presets_of(name) if preset.startswith(incomplete)]


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Settings of the given or default method as KEY=, and the values of settings that have few."""
    from click.shell_completion import CompletionItem

    from bilex.errors import BilexError
    from bilex.methods.base import get_method

    try:
        default = "procrustes" if ctx.params.get("fast") else "rapo"
        types = {s.name: s.type for s in get_method(ctx.params.get("method") or default).settings()}
    except BilexError:  # no such method; the command itself reports it
        return []
    key, equals, value = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=", help=kind) for name, kind in types.items() if name.startswith(key)]
    return [CompletionItem(f"{key}={one}") for one in _values(types.get(key, "")) if one.startswith(value)]


def _values(kind: str) -> list[str]:
    """The values of a type such as `linear|tanh` or `bool`, and `none` where it is allowed; none for other types."""
    constants = {"bool": ["true", "false"], "none": ["none"]}
    return [v for part in kind.split(" or ") for v in constants.get(part, part.split("|") if "|" in part else [])]
