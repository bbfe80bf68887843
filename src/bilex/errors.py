"""All exceptions of bilex. Each message says what was found, what was needed, and what to do.

The advice names Python parameters in backquotes: "read more words (`max_words`)", "replace it with `replace=True`".
The command line replaces them by its options (bilex.cli.parameters). No other module names options.
"""

MAX_MESSAGE_LENGTH, MESSAGE_TAIL_LENGTH = 4000, 1000
"""Characters of a message that is too long: in total, and at its end, which says what to do."""


class BilexError(Exception):
    """An error that the user can fix. The command line prints it without a traceback and exits with 1.

    The message is one printable line, even if it quotes a damaged file.
    """

    def __init__(self, message: object = "") -> None:
        text = str(message)
        if (more := len(text) - MAX_MESSAGE_LENGTH) > 0:
            head, tail = text[: MAX_MESSAGE_LENGTH - MESSAGE_TAIL_LENGTH], text[-MESSAGE_TAIL_LENGTH:]
            text = f"{head} ... ({more:,} characters left out) ... {tail}"
        super().__init__(escape_nonprintable(text))


class TableError(BilexError):
    """A table of word vectors cannot be read, written or used."""


class UnknownWordError(TableError, KeyError):
    """A word has no vector. It is a `KeyError` too, as for a dict."""

    __str__ = BilexError.__str__  # KeyError.__str__ would put the message into quotation marks


class LexiconError(BilexError):
    """A dictionary cannot be read or does not fit the tables."""


class SettingsError(BilexError):
    """A setting is unknown, of the wrong type or out of range."""


class AlignmentError(BilexError):
    """A run cannot be created, saved, opened or resumed."""


class CheckpointError(BilexError):
    """The checkpoint of an interrupted run cannot be read."""


class LockError(BilexError):
    """Another process is using the same files."""


class DiskFullError(BilexError):
    """The disk does not have enough free space."""


class DataError(BilexError):
    """Public data cannot be fetched, or are not as expected."""


class SuiteError(BilexError):
    """A benchmark suite cannot be read or run."""


class ResultsError(BilexError):
    """The results of a suite cannot be read, or do not exist."""


class ExplorerError(BilexError):
    """The page of `bilex explore` cannot be shown, or corrections cannot be saved."""


class ClusterError(BilexError):
    """The cluster cannot be reached, is too small, or has lost a task."""


def escape_nonprintable(text: str) -> str:
    """The text with all nonprintable characters escaped: line ends, terminal control codes, bidirectional marks."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def error_text(error: Exception) -> str:
    """The text of an error. An OSError loses its number and its file name."""
    return getattr(error, "strerror", None) or str(error)


def error_with_type(error: BaseException) -> str:
    """Type and text of any other error, in one line."""
    return f"{type(error).__name__}: {error}".rstrip(": ")


class MissingExtraError(BilexError):
    """An optional dependency is needed but not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'bilex[{extra}]'")
