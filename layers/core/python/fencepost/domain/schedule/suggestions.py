"""What was probably meant by a refused expression or zone. Only what this dialect accepts is ever suggested."""

from __future__ import annotations

import difflib
import json
import re

from fencepost.domain.schedule.fields import DAY_NAMES, HOUR, MAX_LENGTH, SPECS, WEEKDAY, Spec, parse_cron
from fencepost.domain.schedule.model import LONGEST_EVERY, SHORTEST_EVERY
from fencepost.domain.schedule.reading import read_duration
from fencepost.domain.schedule.refusals import CronRefusedError
from fencepost.domain.schedule.zones import zone_names

_WRAPPED = re.compile(r"cron\((.*)\)", re.IGNORECASE)
_RATE = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)", re.IGNORECASE)
_EVERY = re.compile(r"@every (?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?", re.IGNORECASE)
_STEP = re.compile(r"(?:\*|0)/(\d{1,6})")
_RANGE = re.compile(r"(\w+)-(\w+)(/\d{1,2})?", re.ASCII)
_OPEN_STEP = re.compile(r"(\w+)/(\d)", re.ASCII)
_YEAR = re.compile(r"\d{4}")
_LONG_NAME = re.compile(r"([A-Z]{3})[A-Z]{1,6}(?![A-Z])", re.IGNORECASE)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?00)?")

_ABBREVIATIONS = {
    "ACST": "Australia/Adelaide",
    "AEDT": "Australia/Sydney",
    "AEST": "Australia/Sydney",
    "AKST": "America/Anchorage",
    "AST": "America/Halifax",
    "AWST": "Australia/Perth",
    "BRT": "America/Sao_Paulo",
    "BST": "Europe/London",
    "CAT": "Africa/Maputo",
    "CDT": "America/Chicago",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago or Asia/Shanghai",
    "EAT": "Africa/Nairobi",
    "EDT": "America/New_York",
    "EEST": "Europe/Athens",
    "HKT": "Asia/Hong_Kong",
    "IST": "Asia/Kolkata or Europe/Dublin or Asia/Jerusalem",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "MDT": "America/Denver",
    "MSK": "Europe/Moscow",
    "NZDT": "Pacific/Auckland",
    "NZST": "Pacific/Auckland",
    "PDT": "America/Los_Angeles",
    "PKT": "Asia/Karachi",
    "PST": "America/Los_Angeles",
    "SAST": "Africa/Johannesburg",
    "SGT": "Asia/Singapore",
    "WAT": "Africa/Lagos",
    "WEST": "Europe/Lisbon",
    "WIB": "Asia/Jakarta",
    "Z": "UTC",
}


def alternative(text: str) -> str | None:
    """An expression, or a schedule as JSON, that is accepted and close to the refused `text`; None if none is."""
    if len(text) > MAX_LENGTH:
        return None
    text = text.strip()
    wrapped = _WRAPPED.fullmatch(text)
    words = (wrapped.group(1) if wrapped else text).split()
    interval = _rate(text) or (None if wrapped else _seconds(words))  # what is wrapped has no seconds
    for candidate in [] if interval else _five_fields(words):
        mended = " ".join(_mend(spec, word) for spec, word in zip(SPECS, candidate, strict=True))
        if _accepted(mended):
            return mended
    interval = interval or _too_long_a_step(words)
    return json.dumps({"every": interval}) if interval and _in_reach(interval) else None


def similar_zones(name: str) -> str | None:
    """Up to three zones that `name` may have meant, joined by "or"; None if none is near."""
    word = name[:40].strip().replace(" ", "_")
    if word.upper() in _ABBREVIATIONS:
        return _ABBREVIATIONS[word.upper()]
    offset = _OFFSET.fullmatch(word.upper())
    if offset is not None:
        return _fixed_offset(offset.group(1), int(offset.group(2)))
    by_city = {zone.rsplit("/", 1)[-1].lower(): zone for zone in sorted(zone_names(), reverse=True)}
    by_name = {zone.lower(): zone for zone in zone_names()}
    low = word.lower()
    exact = by_name.get(low) or by_city.get(low)
    if exact is not None:
        return exact
    wanted, pool = (low, by_name) if "/" in low else (low, by_city)
    near = difflib.get_close_matches(wanted, pool, n=3, cutoff=0.7)
    return " or ".join(pool[key] for key in near) or None


def _fixed_offset(sign: str, hours: int) -> str | None:
    """The zone of a fixed offset, whose name carries the opposite sign; or UTC."""
    if hours == 0:
        return "UTC"
    zone = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    return f"{zone} (the sign is turned round there), or the zone of a city" if zone in zone_names() else None


def _rate(text: str) -> str | None:
    """The duration meant by ``rate(5 minutes)`` or ``@every 1h30m``."""
    rate, every = _RATE.fullmatch(text), _EVERY.fullmatch(text)
    if rate is not None:
        unit = rate.group(2)[0].upper()
        return f"P{rate.group(1)}D" if unit == "D" else f"PT{rate.group(1)}{unit}"
    if every is not None:
        return "PT" + "".join(
            f"{part}{unit}" for part, unit in zip(every.groups(), "HMS", strict=True) if part
        )
    return None


def _seconds(words: list[str]) -> str | None:
    """The duration meant by ``*/10 * * * * *``, whose first field is seconds."""
    step = _STEP.fullmatch(words[0]) if len(words) == 6 else None
    return f"PT{step.group(1)}S" if step and all(word in ("*", "?") for word in words[1:]) else None


def _too_long_a_step(words: list[str]) -> str | None:
    """The duration meant by ``*/90 * * * *`` or ``0 */36 * * *``."""
    if len(words) != len(SPECS) or any(word not in ("*", "?") for word in words[2:]):
        return None
    minutes, hours = _STEP.fullmatch(words[0]), _STEP.fullmatch(words[1])
    if minutes and words[1] == "*":
        return f"PT{minutes.group(1)}M"
    return f"PT{hours.group(1)}H" if hours and words[0] == "0" else None


def _in_reach(interval: str) -> bool:
    return SHORTEST_EVERY <= read_duration(interval) <= LONGEST_EVERY


def _five_fields(words: list[str]) -> list[list[str]]:
    """The ways to read `words` as five fields, likeliest first."""
    if len(words) == 5:
        return [words]
    if len(words) == 7 and words[0] == "0" and words[6] == "*":
        return [[*words[1:5], _shifted(words[5])]]
    if len(words) != 6:
        return []
    year_last, seconds_first = words[:5], words[1:]
    if "?" in (words[2], words[4]) and words[5] == "*":
        return [[*year_last[:4], _shifted(year_last[4])]]
    if "?" in (words[3], words[5]) and words[0] == "0":
        return [[*seconds_first[:4], _shifted(seconds_first[4])]]
    if _YEAR.fullmatch(words[5]) or "?" in words:
        return []
    return [seconds_first] if words[0] == "0" else [year_last] if words[5] in ("*", "0") else []


def _shifted(word: str) -> str:
    """A day-of-week field of the dialects in which 1 is Sunday, with names for its numbers."""
    return re.sub(r"(?<![\d/#])[1-7](?!\d)", lambda match: DAY_NAMES[int(match.group()) - 1], word)


def _mend(spec: Spec, word: str) -> str:
    """One field with its known slips mended."""
    if word == "?":
        return "*"
    if spec.names:
        word = _LONG_NAME.sub(lambda match: match.group(1), word)
    return ",".join(_mend_item(spec, item) for item in word.split(","))


def _mend_item(spec: Spec, item: str) -> str:
    bounds = _RANGE.fullmatch(item)
    if bounds is not None:
        return _unreversed(spec, bounds.group(1), bounds.group(2), bounds.group(3) or "")
    open_step = _OPEN_STEP.fullmatch(item)
    if spec is WEEKDAY and open_step is not None:
        return f"{open_step.group(1)}-6/{open_step.group(2)}"
    return "0" if spec is HOUR and item == "24" else item


def _unreversed(spec: Spec, low: str, high: str, step: str) -> str:
    """A range that ends before it begins, as two: up to the field's end, then from its start."""
    try:
        first, last = spec.number(low), spec.number(high)
    except ValueError:
        return f"{low}-{high}{step}"
    if first <= last:
        return f"{low}-{high}{step}"
    if step:
        stride = int(step[1:]) or 1
        reach = range(first, last + spec.count + 1, stride)
        return ",".join(str((value - spec.low) % spec.count + spec.low) for value in reach)
    named = low.isalpha() and bool(spec.names)
    end, start = ("SAT" if spec is WEEKDAY else str(spec.high)), str(spec.low)
    if named:
        end, start = spec.names[-1], spec.names[0]
    upper = low if low == end or first == spec.high else f"{low}-{end}"
    lower = high if last == spec.low else f"{start}-{high}"
    return f"{upper},{lower}"


def _accepted(text: str) -> bool:
    try:
        parse_cron(text)
    except CronRefusedError:
        return False
    return True
