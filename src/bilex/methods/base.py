"""The interface of all methods, and their registry by name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import bilex.methods
from bilex.errors import SettingsError
from bilex.normalize import check_steps
from bilex.settings.fields import SearchSpace, original_names, update_settings
from bilex.settings.presets import presets_of
from bilex.settings.setting import Setting, list_settings
from bilex.text.suggest import suggestion
from bilex.text.words import describe_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as Dict

    from torch import Generator, Tensor

    from bilex.mapping import Mapping
    from bilex.settings.presets import Preset
    from bilex.training.trace import Trace


class Requirement(NamedTuple):
    """A package that a method needs, the module it has, and the extra of bilex that installs it."""

    module: str
    package: str
    extra: str

    @property
    def installed(self) -> bool:
        """Whether the module can be imported."""
        return importlib.util.find_spec(self.module) is not None


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A published system as a value: its settings are its fields; `fit` returns a mapping and changes nothing.

    To add a method, add a file or a package to `methods/`, with a frozen dataclass that has a `name`, a `paper` and a
    `fit`. It is then registered by its name.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    uses_dev: ClassVar[bool] = False
    """Whether `fit` makes choices on a dev lexicon; if so, and none is given, a part of train is held out."""
    needs_pairs: ClassVar[bool] = True
    """Whether `fit` needs pairs; if not, their number may be 0."""
    requires: ClassVar[Requirement | None] = None
    """The optional package that `fit` needs, if any."""
    finds_pairs: ClassVar[bool] = False
    """Whether `fit` also trains on pairs that it induces itself."""
    closed_form: ClassVar[bool] = False
    """Whether `fit` has a closed form: it is fast and makes no choices, so a second fit costs little."""
    warm_starts: ClassVar[bool] = False
    """Whether `fit` takes `warm`, a mapping to start from."""
    resumes: ClassVar[bool] = False
    """Whether `fit` takes `checkpoint`, where it saves its state and from which it resumes."""
    search_space: ClassVar[SearchSpace] = {}
    """The settings that `bilex tune` searches; it contains the defaults."""
    search_spaces: ClassVar[dict[str, SearchSpace]] = {}
    """Other search spaces by name. If there is a preset of that name, the search starts from it."""
    added: ClassVar[tuple[str, ...]] = ()
    """Settings that are newer than the first results."""

    @property
    def learns_dev(self) -> bool:
        """Whether `fit` trains on the dev words too, after its choices.

        Such a method first records how well it translates them: `trace(**held_out_record(self.name, ranks))`.
        """
        return False

    def without_refit(self) -> Self:
        """The same method without the last training on the dev words, if that can be switched off.

        If it cannot, `learns_dev` of the result is still true.
        """
        return self

    def light(self) -> Method:
        """A fast method in its place, which maps the folds of a dictionary for the second stage."""
        return self if self.closed_form else get_method("geomm")

    @property
    def rank_cut(self) -> int | None:
        """Number of the most frequent words that `fit` looks at, so that the order of the rows matters; none: all."""
        return None

    normalize: tuple[str, ...] = ("unit", "center", "unit")
    """Normalization of both tables before `fit`, in this order: `unit` (rows of length 1), `center` (columns of mean
    0), `scale` (columns of length 1)."""

    def __post_init__(self) -> None:
        check_steps(self.normalize)

    def _needs_at_least(self, least: int, *settings: str) -> None:
        """Refuse settings that are smaller, or not finite. None is allowed."""
        for setting in settings:
            value = getattr(self, setting)
            if value is not None and not least <= value < math.inf:
                raise SettingsError(f"{self.name}: {setting}={value}; needed at least {least}")

    def _needs_above_zero(self, *settings: str) -> None:
        """Refuse settings that are 0, negative or not finite."""
        for setting in settings:
            if not 0 < (value := getattr(self, setting)) < math.inf:
                raise SettingsError(f"{self.name}: {setting}={value}; needed a number above 0")

    def _needs_unit_rows(self, why: str) -> None:
        """Refuse normalization that does not end in unit rows."""
        if self.normalize[-1:] != ("unit",):
            raise SettingsError(f"{self.name}: {why}; let normalize end in unit")

    @abstractmethod
    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> Mapping:
        """Fit the mapping.

        x: (n, d), z: (m, d), the whole normalized tables in order of frequency, not to be changed; pairs: (p, 2),
        rows of x and z that are translations; dev: (q, 2), pairs for choices. All randomness comes from `generator`.
        `trace` gets a record per epoch or round.
        """

    @classmethod
    def from_name(cls, name: str) -> Method:
        """The method of that name with its defaults; used where a method is a setting of another."""
        return get_method(name)

    @classmethod
    def settings(cls) -> list[Setting]:
        """The settings: description, default, type and search range of each."""
        return list(list_settings(cls(), cls.search_space))

    def describe(self, *, first_names: bool = False) -> dict[str, Any]:
        """The settings as plain values; a setting that is a method is a dict with its name and its settings.

        With `first_names`, renamed settings have their first names, and settings that were added later are left out
        while they have their defaults, so that the keys of old results stay valid.
        """
        return _describe(self, first_names)

    @classmethod
    def presets(cls) -> dict[str, Preset]:
        """Named settings, such as those of its paper. `get_method(name, {"preset": "paper"})` has them."""
        return presets_of(cls.name)

    @classmethod
    def supervision(cls) -> str:
        """`supervised`: a dictionary; `semi-supervised`: and induced pairs; `unsupervised`: induced pairs only."""
        if not cls.needs_pairs:
            return "unsupervised"
        return "semi-supervised" if cls.finds_pairs else "supervised"

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").split("\n")[0]


@cache
def all_methods() -> dict[str, type[Method]]:
    """All methods by name, in alphabetical order."""
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
    """A method, by name or as a value, with these settings; `rapo-semi` is `rapo_semi`.

    Settings are texts, as on the command line, or Python values; `preset` names settings that come first. If a setting
    is unknown, `others` are names to suggest besides the settings.
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
    added = getattr(settings, "added", ()) if first_names else ()
    return {
        names.get(field.name, field.name): _plain(getattr(settings, field.name), first_names)
        for field in fields(settings)
        if field.name not in added or getattr(settings, field.name) != field.default
    }


def _plain(value: Any, first_names: bool) -> Any:
    if isinstance(value, Method):
        return {"method": value.name, **value.describe(first_names=first_names)}
    return _describe(value, first_names) if is_dataclass(value) and not isinstance(value, type) else value
