"""What an estimator has learned as a small table, for notebooks: below scikit-learn's diagram of its parameters."""

from __future__ import annotations

from html import escape

import numpy as np

from ..core.linalg import Array

Facts = dict[str, str]
"""What was learned, in words, by what it is about."""

STYLE = """
.factorstream-learned table { border-collapse: collapse; margin: 0.5em 0; color: inherit; font-size: 0.9em; }
.factorstream-learned caption {
  caption-side: top; text-align: left; color: inherit; font-weight: bold; padding: 0.2em 0;
}
.factorstream-learned tr, .factorstream-learned tr:hover { background: transparent !important; }
.factorstream-learned :is(th, td) {
  border: 1px solid rgba(128, 128, 128, 0.4); padding: 0.25em 0.7em; text-align: left !important; color: inherit;
  font-weight: normal; font-family: monospace; max-width: 40em; white-space: normal; vertical-align: top;
}
"""
"""Colours are those of the page around it, whether it is light or dark; notebooks have rules for tables of their own,
which some of these lines take back."""


STREAMED = "none: rows came by partial_fit"
"""Of passes or sweeps."""
STANDARDISED = "each feature is divided by its spread inside; answers are in the units of the data"
"""Of units."""


def learned_table(facts: Facts) -> str:
    """The facts as HTML; nothing where there are none.

    >>> learned_table({})
    ''
    >>> "<td>3 &lt; 4</td>" in learned_table({"components": "3 < 4"})
    True
    """
    if not facts:
        return ""
    lines = (f'<tr><th scope="row">{escape(about)}</th><td>{escape(words)}</td></tr>' for about, words in facts.items())
    return (
        f'<style>{STYLE}</style><div class="factorstream-learned"><table><caption>What was learned</caption>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def noise_words(variance: float | Array) -> str:
    """The standard deviation of the noise, in the data's units.

    >>> noise_words(0.25), noise_words(np.array([0.25, 9.0])), noise_words(np.array([np.inf, 4.0]))
    ('standard deviation 0.5', 'standard deviation from 0.5 to 3, one for each feature', 'standard deviation 2')
    """
    deviations = np.sqrt(np.asarray(variance, dtype=np.float64))
    known = deviations[np.isfinite(deviations)]
    if not known.size:
        return "not known"
    low, high = f"{known.min():.3g}", f"{known.max():.3g}"
    return (
        f"standard deviation {low}" if low == high else f"standard deviation from {low} to {high}, one for each feature"
    )


def observed_words(shares: Array) -> str:
    """The share of entries that were observed, and that of the feature that was observed least.

    >>> observed_words(np.array([1.0, 0.5])), observed_words(np.ones(3))
    ('75% of all entries, at least 50% of each feature', 'every entry')
    """
    shares = np.clip(shares, 0.0, 1.0)
    if (shares == 1.0).all():
        return "every entry"
    return f"{_percent(float(shares.mean()))} of all entries, at least {_percent(float(shares.min()))} of each feature"


def _percent(share: float) -> str:
    """A share of something that is there, and not all of it, is neither 0% nor 100%.

    >>> _percent(0.0), _percent(1e-5), _percent(0.123), _percent(0.9999)
    ('0%', 'under 0.1%', '12%', 'over 99.9%')
    """
    if 0.0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1.0:
        return "over 99.9%"
    return f"{100 * share:.{1 if share < 0.1 or share > 0.99 else 0}f}%" if 0.0 < share < 1.0 else f"{share:.0%}"
