"""bilex bench report."""

from __future__ import annotations

import click

from bilex.errors import BilexError


@click.command()
def report() -> None:
    """Make tables, plots and a page of the results."""
    raise BilexError("reports are not there yet; read FOLDER/cells")
