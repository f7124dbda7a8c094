"""Records behave as those of the standard library."""

import copy
import dataclasses
import inspect
import math
import pickle

import pytest

from jpo import dataclass as own
from jpo.records import Range


def declared(decorator):
    @decorator(frozen=True, slots=True)
    class Base:
        """What others build on."""

        name: str
        size: float = math.nan
        seen: list[int] = dataclasses.field(default_factory=list, compare=False)

        def __post_init__(self):
            if self.name == "":
                raise ValueError("has no name")

    @decorator(frozen=True, slots=True)
    class Record(Base):
        """One more field, and one that is not told."""

        secret: str = dataclasses.field(default="", repr=False)

    return Record


LIBRARY, OWN = declared(dataclasses.dataclass), declared(own.dataclass)


@pytest.mark.parametrize(
    "what",
    [
        repr,
        hash,
        dataclasses.asdict,
        dataclasses.astuple,
        lambda made: made == dataclasses.replace(made, seen=[1]),  # and a NaN is equal to itself
        lambda made: made == dataclasses.replace(made, secret="other"),
        lambda made: made == 1,
        lambda made: (made.__match_args__, made.__slots__, hasattr(made, "__dict__")),
        lambda made: [field.name for field in dataclasses.fields(made)],
        lambda made: [(each.name, each.annotation) for each in inspect.signature(type(made)).parameters.values()],
        lambda made: repr(copy.deepcopy(made)),
        lambda made: made.seen is type(made)("b").seen,
    ],
)
def test_a_record_does_what_the_library_says(what):
    assert what(OWN("a", secret="s")) == what(LIBRARY("a", secret="s"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda record: record(),
        lambda record: record("a", no_field=1),
        lambda record: record(""),
        lambda record: setattr(record("a"), "name", "b"),
        lambda record: delattr(record("a"), "name"),
        lambda record: dataclasses.replace(record("a"), name=""),
    ],
)
def test_a_record_refuses_what_the_library_refuses_in_its_words(wrong):
    with pytest.raises((TypeError, ValueError, AttributeError)) as library:
        wrong(LIBRARY)
    with pytest.raises(library.type) as found:
        wrong(OWN)
    assert str(found.value) == str(library.value)


def test_a_class_keeps_what_it_does_by_itself():
    @own.dataclass(frozen=True, slots=True)
    class Rounded:
        """Equal where the whole numbers are."""

        value: float

        def __eq__(self, other):
            return round(self.value) == round(other.value)

        def __repr__(self):
            return f"about {self.value:.0f}"

    assert (Rounded(1.1), repr(Rounded(1.1))) == (Rounded(0.9), "about 1")
    assert hash(Rounded(1.1)) == hash((1.1,))  # as the library has it


def test_without_slots_and_without_comparison_a_record_is_itself_alone():
    @own.dataclass(frozen=True, eq=False)
    class Plain:
        """Has a __dict__."""

    assert Plain() != Plain()
    assert vars(Plain()) == {}


def test_what_is_not_frozen_is_the_librarys():
    @own.dataclass(slots=True)
    class Counter:
        """Counts."""

        count: int = 0

    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)


def test_a_record_can_be_pickled():
    assert pickle.loads(pickle.dumps(Range(1, 4))) == Range(1, 4)  # noqa: S301 - its own bytes
