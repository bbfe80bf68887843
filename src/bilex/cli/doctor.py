"""bilex doctor."""

from __future__ import annotations

from typing import Any

import click

from bilex.cli import options

NONE = "-"


@click.command()
@options.as_json
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show the installed versions, and run a self-check on two tiny tables. Put the output into a bug report.

    The exit code is 1 if the self-check fails.
    """
    from bilex.cli.installation import examine, self_check

    found, check = examine(), self_check()
    if as_json:
        options.print_json({**found, "self_check": check})
    else:
        options.print_table(["what", "found"], [*_rows(found), ("self-check", _check(check))], left=2, fold=False)
    ctx.exit(0 if check["passed"] else 1)


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    memory, folder, processors = found["memory"], found["data_folder"], found["processors"]
    gpus = [f"{gpu['name']} ({gpu['gigabytes']} GB)" for gpu in found["gpus"]]
    return [
        *((name, found[name]) for name in ("bilex", "python", "platform")),
        *((name, _or_missing(installed)) for name, installed in found["packages"].items()),
        ("processors", f"{processors['usable']} of {processors['all']}{_fast(processors)}"),
        ("threads", _pairs(found["threads"])),
        ("BLAS", _pairs(found["blas"])),
        ("GPU", ", ".join(gpus) or "none that torch can use"),
        ("memory, GB", _pairs(memory)),
        ("data folder", f"{folder['folder']} ({'exists' if folder['exists'] else 'does not exist yet'})"),
        ("free on that disk, GB", str(folder["free_gigabytes"])),
        *((f"extra {name}", _extra(extra)) for name, extra in found["extras"].items()),
    ]


def _fast(processors: dict[str, Any]) -> str:
    fast = " and ".join(processors["fast_with"])
    timed = ", ".join(f"{name} {times:.1f} times" for name, times in processors["speedup"].items())
    start = f", fast with {fast}: large searches start with it" if fast else ""
    return f"{start} (speed relative to float32: {timed})" if timed else start


def _extra(extra: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {_or_missing(installed)}" for name, installed in extra["packages"].items())
    return packages if extra["install"] is None else f"{packages}: {extra['install']}"


def _check(check: dict[str, Any]) -> str:
    return f"passed in {check['seconds']} s" if check["passed"] else f"FAILED: {check['error']}"


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None) or NONE


def _or_missing(found: str | None) -> str:
    return found or "missing"
