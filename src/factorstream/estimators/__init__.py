"""Scikit-learn classes: they validate once, call the core, and expose what was fitted."""
