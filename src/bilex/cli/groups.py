"""Groups of commands that say what a mistyped command may have been."""

from __future__ import annotations

import click


class SuggestingGroup(click.Group):
    """A group that knows the names of its commands, and which is the nearest to one that it has not got."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            from bilex.text.suggest import suggestion

            raise click.UsageError(f"there is no command {name!r}{suggestion(name, known)}", ctx)
        return super().resolve_command(ctx, args)
