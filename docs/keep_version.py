"""Put a built site beside those of other versions: `python docs/keep_version.py docs/_build/html SITE`.

SITE gets a folder named after the version, which is replaced if it is there, a list of all versions that every one of
them reads, old ones too, and a first page that leads to the newest. It works as a folder or served from anywhere.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

FIRST_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>factorstream</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<p><a href="{version}/index.html">factorstream {version}</a></p>
</html>
"""


def version_of(built: Path) -> str:
    """The version that a built site says it is."""
    first_page = (built / "index.html").read_text(encoding="utf-8")
    found = re.search(r'class="site-version[^>]*data-version="([^"]+)"', first_page)
    if found is None:
        raise SystemExit(f"{built} is no site with a version; build it with `make docs`.")
    return found[1]


def newest_first(versions: list[str]) -> list[str]:
    """Numbers compared as numbers; a version that goes on with letters (0.2.0rc1, 0.2.0.dev1) is older than without."""

    def key(version: str) -> tuple[list[int], bool, str]:
        numbers = re.match(r"[\d.]*", version)[0].strip(".")
        return [int(part) for part in numbers.split(".") if part], numbers == version, version

    return sorted(versions, key=key, reverse=True)


def keep(built: Path, site: Path) -> str:
    """Copy the built site to its place, and write the list and the first page again."""
    version = version_of(built)
    place = site / version
    site.mkdir(parents=True, exist_ok=True)
    new = site / f".{version}.new"
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(built, new, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)
    kept = newest_first([path.parent.name for path in site.glob("[!.]*/index.html")])
    (site / "versions.js").write_text(f"window.FACTORSTREAM_VERSIONS = {json.dumps(kept)};\n", encoding="utf-8")
    (site / "index.html").write_text(FIRST_PAGE.format(version=kept[0]), encoding="utf-8")
    return version


if __name__ == "__main__":
    done = keep(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{Path(sys.argv[2]) / done} has version {done}; open {Path(sys.argv[2]) / 'index.html'}.")
