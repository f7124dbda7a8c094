"""Numbers as people read them. Nothing is rounded to a false precision, and what is not known is called unknown."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from jpo.records import USD, Change, Currency, Edit, Interval, Word
from jpo.wording import names

UNKNOWN = "unknown"
JOULES_PER_KWH = 3.6e6
EXPONENT = re.compile(r"e\+?(-?)0*")


def duration(seconds: float) -> str:
    """0.84s, 12m 05s or 3h 52m."""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 59.95:
        return shortest(f"{seconds if seconds >= 1e-6 else 0:.3g}s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02}s"
    return f"{minutes // 60}h {minutes % 60:02}m"


def money(amount_usd: float, currency: Currency = USD) -> str:
    """7.10 USD, or what that is in another currency; never fewer than two significant digits: 0.034 USD."""
    amount = amount_usd * currency.per_usd
    digits = 2 if abs(amount) >= 0.1 or amount == 0 else 1 - math.floor(math.log10(abs(amount)))
    return f"{amount:.{digits}f} {currency.code}"


def money_per_hour(amount_usd: float, currency: Currency = USD) -> str:
    """A price with up to four significant digits, as providers list them: 32.77 USD/h."""
    return f"{plain(amount_usd * currency.per_usd)} {currency.code}/h"


def plain(value: float) -> str:
    """At most four significant digits behind the point; from 10000 on the nearest whole number. A word as it is."""
    if isinstance(value, Word):
        return value.word
    whole = float(value).is_integer() or abs(value) >= 9999.5
    return str(round(value)) if whole and abs(value) < 1e15 else shortest(f"{value:.4g}")


def shortest(number: str) -> str:
    """A number in the exponent's shortest form: 2e-5 of 2e-05, 1e15 of 1e+15."""
    return EXPONENT.sub(r"e\1", number)


def as_in_reports(text: str) -> str:
    """A value as a file has it, in the form of other numbers: 2e-5 of 0.00002; what is no number as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    return shortest(f"{value:.6g}") if 0 < abs(value) < 1e6 else text


def old_and_new(change: Change | Edit) -> str:
    """64 → 128, 2e-5 → 4e-5."""
    return f"{as_in_reports(change.old_text)} → {as_in_reports(change.new_text)}"


def counted(number: int, what: str) -> str:
    """1 run, 3 runs."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(ratio: float) -> str:
    """0.9 -> 90%."""
    return f"{round(100 * ratio)}%"


def percent_in_words(ratio: float) -> str:
    """A percentage that does not call little nothing: 21%, or "less than 1%"."""
    return "less than 1%" if 0 < ratio < 0.005 else percent(ratio)


def chance(probability: float) -> str:
    """A chance that rests on finitely many runs, or simulated jobs: never 0%."""
    return "less than 1%" if probability <= 0.005 else percent(probability)


def times(number: int) -> str:
    """once, 3 times."""
    return "once" if number == 1 else f"{number} times"


def change(ratio: float) -> str:
    """A ratio after / before as the change: 0.78 -> -22%, 1.51 -> +51%, 1 -> ±0%."""
    return f"{_signed(ratio - 1)}%"


def points(difference: float) -> str:
    """A difference of shares in percentage points: -0.12 -> -12 points."""
    return f"{_signed(difference)} points"


def _signed(share: float) -> str:
    hundredths = round(100 * share)
    return f"{hundredths:+}" if hundredths else "±0"


def difference(value: float) -> str:
    """A difference of numbers with its sign: +0.0316."""
    return shortest(f"{value:+.3g}") if value else "±0"


def gib(value: float) -> str:
    """12.5 GiB; three significant digits are all that a measurement of memory has."""
    return f"{plain(value if value >= 1000 else float(f'{value:.3g}'))} GiB"


def energy(joules: float) -> str:
    """1.2 kWh."""
    return shortest(f"{joules / JOULES_PER_KWH:.3g} kWh")


def kilograms(kg: float) -> str:
    """1.2 kg."""
    return shortest(f"{kg:.3g} kg")


def moment(at: float) -> str:
    """Day and time in UTC; a number where no calendar reaches."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at:g}"


_PLAIN_FORMATS: tuple[Callable[[float], str], ...] = (
    *(plain, duration, gib, percent, energy, kilograms),
    *(change, points, difference, moment),
)
FORMATS = {function.__name__: function for function in _PLAIN_FORMATS}
"""How to write a number that is no amount of money, by the name in names.Format."""
AMOUNTS: Mapping[names.Format, Callable[[float, Currency], str]] = {"money": money, "money_per_hour": money_per_hour}

UNIT_LAST: frozenset[names.Format] = frozenset({"money", "money_per_hour", "gib", "energy", "kilograms", "points"})
"""Forms of a number, a blank and a unit."""


def written(name: str, value: float, currency: Currency = USD) -> str:
    """A value of a quantity, SLA target or parameter with its unit, amounts in a currency; a number of no quantity is plain."""
    form = names.quantity(name).form
    return AMOUNTS[form](value, currency) if form in AMOUNTS else FORMATS[form](value)


def between(name: str, low: float, high: float, currency: Currency = USD) -> str:
    """The bounds of an interval, without a unit that both share: 2.69 to 7.79, but 59m 38s to 1h 02m."""
    ends = [written(name, end, currency) for end in (low, high)]
    units = {end.partition(" ")[2] for end in ends}
    if len(units) == 1 and names.quantity(name).form in UNIT_LAST:
        ends = [end.partition(" ")[0] for end in ends]
    return " to ".join(ends)


def from_to(name: str, before: float | None, after: float | None) -> str:
    """A value before and after, the unit that both share once: 70.00 → 65.00 USD, 5% → 78%."""
    start, end = (UNKNOWN if value is None else written(name, value) for value in (before, after))
    number, _, unit = start.partition(" ")
    shared = unit == end.partition(" ")[2] and names.quantity(name).form in UNIT_LAST
    return f"{number if shared else start} → {end}"


def expected(name: str, interval: Interval | None, *, bounds: bool, currency: Currency = USD) -> str:
    """A forecast, with its 90% interval if wanted: 7.10 USD (5.20 to 9.85)."""
    if interval is None:
        return UNKNOWN
    mean = written(name, interval.mean, currency)
    return f"{mean} ({between(name, interval.low, interval.high, currency)})" if bounds else mean


def likely(probability: float) -> str:
    """The chance of a claim: never 0%, nor 100%."""
    return "more than 99%" if probability > 0.99 else chance(probability)
