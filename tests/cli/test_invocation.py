import time

import click

from bilex.cli.invocation import Invocation


def test_a_process_started_before_its_command_line_was_read():
    before = time.perf_counter()
    assert Invocation.of_process(["align"]).started < before <= Invocation.of_program(["align"]).started


def test_that_of_the_command_that_is_running():
    called = Invocation.of_program(["align", "x.vec"])
    with click.Context(click.Group(), obj=called) as root, click.Context(click.Command("align"), parent=root):
        assert Invocation.running() is called
