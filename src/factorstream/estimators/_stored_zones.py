"""Time zones as text, so that a model's state can be written to a file, and back."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from ._times import library_of


def zone_text(tz: tzinfo | None) -> str | None:
    """A time zone as text that `zone` reads: where it comes from and its name, or its offset in seconds and its name.

    TypeError where it is neither known by name nor at a fixed offset.
    """
    if tz is None:
        return None
    origin = type(tz).__module__.partition(".")[0]
    if origin == "dateutil" and type(tz).__name__ == "tzlocal":
        return "dateutil:"  # no name: the local zone
    attribute = {"zoneinfo": "key", "pytz": "zone", "dateutil": "_filename"}.get(origin, "")
    name = getattr(tz, attribute, None)
    if name is not None:
        return f"{origin}:{name.rpartition('zoneinfo/')[2]}"
    try:
        offset, name = tz.utcoffset(None), tz.tzname(None)
    except Exception:  # whatever a class of the user does without a date
        offset = None
    if offset is None:
        raise TypeError(f"The time zone {tz!r} cannot be stored.")
    return f"offset:{offset.total_seconds()}:{name or ''}"


def zone(text: str | None) -> tzinfo | None:
    """The time zone that `zone_text` was given; one of the same offset and name where only these are known."""
    if text is None:
        return None
    origin, _, name = text.partition(":")
    if origin == "offset":
        seconds, _, name = name.partition(":")
        offset = timedelta(seconds=float(seconds))
        plain = timezone(offset)
        return timezone(offset, name) if name and name != plain.tzname(None) else plain
    try:
        if origin == "zoneinfo":
            return ZoneInfo(name)
        found: tzinfo | None
        if origin == "pytz":
            found = library_of("pytz").timezone(name)
        else:
            dateutil = library_of("dateutil.tz")
            found = dateutil.gettz(name) if name else dateutil.tzlocal()
    except KeyError:  # as zoneinfo and pytz have it; dateutil says None
        found = None
    if found is None:
        raise ValueError(f"The time zone {name} is not known on this machine; install tzdata: pip install tzdata.")
    return found
