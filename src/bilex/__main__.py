"""python -m bilex."""

from bilex.cli import main

main()
