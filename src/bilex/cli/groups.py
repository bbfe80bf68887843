"""Groups of commands that suggest the nearest name for a mistyped command."""

from __future__ import annotations

import click


class SuggestingGroup(click.Group):
    """A group that names the most similar command when a command is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            from bilex.text.suggest import suggestion

            raise click.UsageError(f"there is no command {name!r}{suggestion(name, known)}", ctx)
        return super().resolve_command(ctx, args)
