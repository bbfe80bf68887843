"""The one exception tree. Each message says what was found, what was needed, and what to do.

What to do is said in Python, a parameter in backquotes: "read more words (`max_words`)", "replace it with
`replace=True`". The command line puts its options in their place (bilex.cli.parameters), which no other module names.
"""

MAX_MESSAGE_LENGTH, MESSAGE_TAIL_LENGTH = 4000, 1000
"""Characters of a message, and how many of them are its end, which says what to do."""


class BilexError(Exception):
    """Anything a user can put right; the command line prints it without a traceback and exits with 1.

    The message is one line that can be printed and read, whatever the damaged file holds that it quotes.
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
    """A word has no vector; a `KeyError` too, as of a dict."""

    __str__ = BilexError.__str__  # that of KeyError puts the message into quotation marks


class LexiconError(BilexError):
    """A dictionary cannot be read or does not fit the tables."""


class SettingsError(BilexError):
    """A setting is unknown, of the wrong type or out of range."""


class AlignmentError(BilexError):
    """A run cannot be made, saved, opened or continued."""


class CheckpointError(BilexError):
    """What an interrupted run has left behind cannot be read."""


class LockError(BilexError):
    """Another process is at work on the same files."""


class DiskFullError(BilexError):
    """The disk has no room for what is to be written."""


class DataError(BilexError):
    """Public data cannot be fetched, or are not what they should be."""


class SuiteError(BilexError):
    """A suite of benchmarks cannot be read or run."""


class ResultsError(BilexError):
    """Results of a suite cannot be read, or there are none."""


class ExplorerError(BilexError):
    """The page of `bilex explore` cannot be shown, or corrections cannot be kept."""


class ClusterError(BilexError):
    """There is no cluster of machines, or it is too small, or has lost what it was given to do."""


def escape_nonprintable(text: str) -> str:
    """The text with escapes for all that a terminal would obey or hide: line ends, escape codes, writing directions."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def error_text(error: Exception) -> str:
    """What an error says, without the number and the file's name that those of the system have."""
    return getattr(error, "strerror", None) or str(error)


def error_with_type(error: BaseException) -> str:
    """An error that is none of these, in one line for a result."""
    return f"{type(error).__name__}: {error}".rstrip(": ")


class MissingExtraError(BilexError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'bilex[{extra}]'")
