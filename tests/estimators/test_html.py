"""What notebooks show of an estimator: scikit-learn's diagram, and below it what was learned."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from contracts.asking import EVERY, STREAMS, learned, new
from contracts.estimators import rows
from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, MaskedNMF, SequenceFilter
from factorstream.estimators._html import learned_table


class Cells(HTMLParser):
    """The cells of the tables of a class, as text."""

    def __init__(self):
        super().__init__()
        self.depth, self.cells, self.inside = 0, [], False

    def handle_starttag(self, tag, attrs):
        if tag == "div":
            self.depth += 1 if self.depth or ("class", "factorstream-learned") in attrs else 0
        if self.depth and tag in ("th", "td"):
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag == "div" and self.depth:
            self.depth -= 1
        if tag in ("th", "td"):
            self.inside = False

    def handle_data(self, data):
        if self.inside and self.depth:
            self.cells[-1] += data


def table(html):
    """What a page says was learned."""
    cells = Cells()
    cells.feed(html)
    return dict(zip(cells.cells[::2], cells.cells[1::2], strict=True))


@pytest.mark.parametrize("case", EVERY)
def test_what_was_learned_is_below_the_diagram(case):
    model = learned(case, rows())
    html = model._repr_html_()
    bundle = model._repr_mimebundle_()
    assert "sk-top-container" in html
    for text in (html, bundle["text/html"]):
        assert text.count('<div class="factorstream-learned">') == 1
        assert table(text) == model._facts()
    assert bundle["text/plain"] == repr(model)
    assert repr(model) == repr(clone(model))  # text stays scikit-learn's
    facts = model._facts()
    assert facts["features"] == "8"
    if "components" in facts:
        assert facts["components"] == str(model.n_components_)
    if hasattr(model, "n_samples_seen_"):
        assert str(model.n_samples_seen_) in (facts.get("rows"), facts.get("time steps"))


@pytest.mark.parametrize("case", EVERY)
def test_before_fitting_there_is_the_diagram_alone(case):
    assert "factorstream-learned" not in new(case)._repr_html_()
    assert "factorstream-learned" not in new(case)._repr_mimebundle_()["text/html"]


def test_scikit_learns_setting_decides():
    model = DictionaryFilter(2, random_state=0).fit(rows())
    with sklearn.config_context(display="text"):
        assert model._repr_mimebundle_().keys() == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_from_its_first_row_on(case):
    for n in (1, 3, 40):
        facts = learned(case, rows()[:n], how="partial_fit")._facts()
        assert facts.get("rows", facts.get("time steps")) == str(n)


def test_the_numbers_are_right():
    X = rows(100, missing=0.3)
    X[:, 2] *= 1e4
    shares = (~np.isnan(X)).mean(axis=0)
    observed = f"{shares.mean():.0%} of all entries, at least {shares.min():.0%} of each feature"
    for model in (BayesianFactorization(2), LowRankImputer(2), SequenceFilter(2, calibrate=False, max_iter=2)):
        facts = model.fit(X)._facts()
        assert facts["observed"] == observed
        assert facts["sweeps"] == str(model.n_iter_)
    noise = SequenceFilter(2, calibrate=False, max_iter=2).fit(X)
    low, high = np.sqrt([noise.noise_variance_.min(), noise.noise_variance_.max()])
    assert noise._facts()["noise"] == f"standard deviation from {low:.3g} to {high:.3g}, one for each feature"
    model = DictionaryFilter(2, n_passes=3, random_state=0).fit(X)
    assert model._facts()["passes"] == "3"
    own = np.count_nonzero(model.state_.unit != 1.0)
    assert 1 <= own < 8
    assert model._facts()["units"].startswith(f"{own} feature{'s' if own > 1 else ''} rescaled inside")
    assert DictionaryFilter(2, scale=False).fit(X)._facts()["units"] == "those of the data"
    assert LowRankImputer(2, random_state=0).fit(X)._facts()["intervals"] == "calibrated on entries left out"
    alone = LowRankImputer(2, marginals="linear", residual=None)
    assert alone.fit(X)._facts()["intervals"] == "calibrated on hidden entries"
    nmf = MaskedNMF(2, max_iter=30).fit(X)
    assert nmf._facts()["root of the squared errors"] == f"{nmf.reconstruction_err_:.4g}"


def test_nothing_is_fitted_to_be_shown(monkeypatch):
    """A stream that is starting fits its rows when it is asked, as scikit-learn's diagram does; the table need not."""
    model = BayesianFactorization(3).partial_fit(rows()[:5])
    monkeypatch.setattr("factorstream.estimators._variational_fits.fit_rows", None)
    assert model._facts()["components"] == "none yet: the stream needs more rows"


def test_an_imputer_of_columns_that_do_not_vary():
    assert LowRankImputer().fit(np.ones((4, 2)))._facts()["components"] == "none, no feature varies"


def test_everything_is_escaped():
    html = learned_table({"<script>a</script>": '<img src=x onerror="b">'})
    assert "<script" not in html
    assert "<img" not in html
    assert table(html) == {"<script>a</script>": '<img src=x onerror="b">'}


def test_the_style_takes_no_colour_of_its_own():
    """Black on white would be unreadable in a dark notebook, and white on black in a light one."""
    style = re.search("<style>(.*)</style>", learned_table({"a": "b"}), re.DOTALL).group(1)
    colours = re.findall(r"(?:color|background):\s*([^;!}]+)", style)
    assert colours
    assert {colour.strip() for colour in colours} <= {"inherit", "transparent"}
