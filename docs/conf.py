"""Settings of the documentation site: `make docs` builds it from this folder, offline, with warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import factorstream

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

project = "factorstream"
author = "The factorstream developers"
copyright = "the factorstream developers, BSD-3-Clause"
version = release = factorstream.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    # in _ext/
    "mathml",
    "docstrings",
    "public_names",
    "repository_pages",
    "notebooks",
]
exclude_patterns = ["_build", "**sg_execution_times.rst"]  # the latter loads scripts from elsewhere
templates_path = ["_templates"]
highlight_language = "none"  # indented blocks are commands and formulas; Python is fenced and says so
default_role = "code"  # a name in single backticks, in docstrings and in the gallery
nitpicky = True
nitpick_ignore = [("py:class", "sklearn.impute.MissingIndicator")]  # documented elsewhere, and nothing is fetched

# Markdown, as the repository shows it: headings have the same anchors there.
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_allow_labels = False
myst_dmath_allow_digits = False

# The reference, from docstrings
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template lists them

# The gallery runs the scripts of examples/gallery in their order
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "copyfile_regex": r"",
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "repository_pages.reset_pictures"),
    "backreferences_dir": None,
}

# The looks. Everything is served from the site itself.
html_theme = "pydata_sphinx_theme"
html_title = "factorstream"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["version", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": [], "performance": []}
