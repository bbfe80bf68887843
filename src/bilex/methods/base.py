"""The contract of a method, and how one is found by its name."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import bilex.methods
from bilex.errors import SettingsError
from bilex.normalize import check_steps
from bilex.settings.fields import SearchSpace, original_names, update_settings
from bilex.settings.setting import Setting, list_settings
from bilex.text.suggest import suggestion
from bilex.text.words import describe_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as Dict

    from torch import Generator, Tensor

    from bilex.mapping import Mapping
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A published system as a value: its settings are its fields, `fit` gives back a mapping and changes nothing.

    A new method is a new file, or package, in `methods/` with a frozen dataclass that has a `name`, a `paper` and a
    `fit`; it is found by being there.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    uses_dev: ClassVar[bool] = False
    """Whether `fit` makes choices on a dev lexicon; if so, one is held out of train where none is given."""
    needs_pairs: ClassVar[bool] = True
    """Whether `fit` needs pairs; if not, it may be given none."""
    finds_pairs: ClassVar[bool] = False
    """Whether `fit` also learns from pairs that it finds itself."""
    closed_form: ClassVar[bool] = False
    """Whether `fit` solves equations, which takes a moment, and chooses nothing; it can be done twice."""
    warm_starts: ClassVar[bool] = False
    """Whether `fit` also takes `warm`, a mapping to go on from."""
    resumes: ClassVar[bool] = False
    """Whether `fit` also takes `checkpoint`, in which it saves its state, and from which it goes on."""
    search_space: ClassVar[SearchSpace] = {}
    """The settings that `bilex tune` searches; the defaults lie in it."""

    @property
    def learns_dev(self) -> bool:
        """Whether `fit` trains on the dev words as well, once its choices are made.

        Such a method says how well it translated them before that: `trace(**held_out_record(self.name, ranks))`.
        """
        return False

    def without_refit(self) -> Self:
        """The same method, that does not train on the dev words after its choices, if it can do without.

        Of what it gives back, `learns_dev` tells whether it can.
        """
        return self

    @property
    def rank_cut(self) -> int | None:
        """If `fit` looks at so many of the first rows of each table as those of the most frequent words."""
        return None

    normalize: tuple[str, ...] = ("unit", "center", "unit")
    """Steps done to both tables first, in this order: `unit` (rows of length 1), `center` (columns of mean 0), `scale`
    (columns of length 1)."""

    def __post_init__(self) -> None:
        check_steps(self.normalize)

    def _needs_at_least(self, least: int, *settings: str) -> None:
        """Refuse settings that are smaller, or no finite number; what is not set (none) may stay so."""
        for setting in settings:
            value = getattr(self, setting)
            if value is not None and not least <= value < math.inf:
                raise SettingsError(f"{self.name}: {setting}={value}; needed at least {least}")

    def _needs_above_zero(self, *settings: str) -> None:
        """Refuse settings that are not, or no finite number."""
        for setting in settings:
            if not 0 < (value := getattr(self, setting)) < math.inf:
                raise SettingsError(f"{self.name}: {setting}={value}; needed a number above 0")

    def _needs_unit_rows(self, why: str) -> None:
        """Refuse steps that leave rows of other lengths than 1."""
        if self.normalize[-1:] != ("unit",):
            raise SettingsError(f"{self.name}: {why}; let normalize end in unit")

    @abstractmethod
    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> Mapping:
        """Learn the mapping.

        x: (n, d) and z: (m, d) are the whole normalized tables in order of frequency, not to be changed; pairs: (p, 2)
        rows of x and z that translate each other; dev: (q, 2), the same for choices; all randomness comes from
        `generator`; `trace` takes a record per epoch or round.
        """

    @classmethod
    def from_name(cls, name: str) -> Method:
        """The method of that name as it is by default; so it is given in the settings of another."""
        return get_method(name)

    @classmethod
    def settings(cls) -> list[Setting]:
        """The settings with what each is for, its default, its type, and the range worth searching."""
        return list(list_settings(cls(), cls.search_space))

    def describe(self, *, first_names: bool = False) -> dict[str, Any]:
        """The settings in plain values; a method among them has its name with its own.

        With `first_names`, settings that have been renamed have their first name: what identifies a result by its
        settings stays the same.
        """
        return _describe(self, first_names)

    @classmethod
    def supervision(cls) -> str:
        """`supervised`: a dictionary is all it learns from; `semi-supervised`: also pairs that it finds itself."""
        if not cls.needs_pairs:
            return "unsupervised"
        return "semi-supervised" if cls.finds_pairs else "supervised"

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").split("\n")[0]


@cache
def all_methods() -> dict[str, type[Method]]:
    """Every method by its name, in alphabetical order."""
    for module in pkgutil.walk_packages(bilex.methods.__path__, "bilex.methods."):
        importlib.import_module(module.name)
    found: list[type[Method]] = []
    pending = Method.__subclasses__()
    while pending:
        found.append(pending.pop())
        pending += found[-1].__subclasses__()
    ours = [m for m in found if m.__module__.startswith("bilex.methods.") and not inspect.isabstract(m)]
    return {method.name: method for method in sorted(ours, key=lambda m: m.name)}


def get_method(method: str | Method, settings: Dict[str, Any] | None = None, *, others: Iterable[str] = ()) -> Method:
    """The method of that name, or one at hand, with these settings; `rapo-semi` is `rapo_semi`.

    Settings are texts, as on the command line, or values of Python. `others` are names that may have been meant where
    there is no such setting.
    """
    made = method if isinstance(method, Method) else _by_name(method)
    return update_settings(made, settings or {}, what=f"method {made.name}", others=others)


def _by_name(name: str) -> Method:
    known = all_methods()
    if not isinstance(name, str):
        raise SettingsError(
            f"method: found {describe_value(name)}; needed a name, such as 'rapo', or a method, as Rapo()"
        )
    name = name.replace("-", "_")
    if name not in known:
        raise SettingsError(f"there is no method {name!r}{suggestion(name, known)}; methods: {', '.join(known)}")
    return known[name]()


def _describe(settings: Any, first_names: bool) -> dict[str, Any]:
    names = original_names(type(settings)) if first_names else {}
    return {
        names.get(field.name, field.name): _plain(getattr(settings, field.name), first_names)
        for field in fields(settings)
    }


def _plain(value: Any, first_names: bool) -> Any:
    if isinstance(value, Method):
        return {"method": value.name, **value.describe(first_names=first_names)}
    return _describe(value, first_names) if is_dataclass(value) and not isinstance(value, type) else value
