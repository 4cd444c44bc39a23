"""Docstring examples that need packages which are not there are left out."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("river") else ["factorstream/river.py"]
collect_ignore_glob = [] if find_spec("triton") else ["*/triton_*.py"]
