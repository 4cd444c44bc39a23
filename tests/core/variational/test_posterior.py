"""Featurewise posterior, sweeps, prediction, robustness, calibration, against naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import reference as ref
from factorstream.core.variational.auto import fit_auto
from factorstream.core.variational.packed import (
    add_product,
    congruence,
    invert,
    layout,
    outer,
    pack,
    quadratic,
    size,
    unpack,
)
from factorstream.core.variational.posterior import (
    Coefficients,
    Prior,
    absorb,
    blocks,
    coefficients,
    expected_square,
    merge,
    moments,
    no_statistics,
    posterior,
    remove,
    second_moment,
    statistics,
)
from factorstream.core.variational.predictive import draw_entries, expected_squares, predict, predict_variance
from factorstream.core.variational.relevance import Relevance, canonical, dictionary_moment, relevance
from factorstream.core.variational.sweep import Options, fit, rescale, sweep
from variational_problems import problem, random_model, spd

# ---------------------------------------------------------------- packed


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7, 10, 11, 12, 15])
def test_packed_round_trip_and_inverse(q):
    rng = np.random.default_rng(q)
    A, b = spd(rng, q, 5), rng.normal(size=(5, q))
    assert_allclose(unpack(pack(A), q), A)
    assert_allclose(outer(b), pack(b[:, :, None] * b[:, None, :]))
    assert_allclose(pack(A) @ (layout(q).weight * pack(A)[0]), np.einsum("bij,ij->b", A, A[0]))
    assert_allclose(quadratic(pack(A), b), np.einsum("bi,bij,bj->b", b, A, b))
    inverse, x, logdet = invert(pack(A), b)
    assert_allclose(unpack(inverse, q), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-9)
    assert_allclose(logdet, -np.linalg.slogdet(A)[1])
    T = rng.normal(size=(q, 3))
    assert_allclose(unpack(congruence(pack(A), T, chunk=2), 3), T.T @ A @ T)


def test_packed_empty_and_indefinite():
    _a, x, logdet = invert(np.zeros((3, 0)), np.zeros((3, 0)))
    assert x.shape == (3, 0)
    assert logdet.shape == (3,)
    for q, message in ((2, "positive definite"), (12, "matrix 1")):
        with pytest.raises(np.linalg.LinAlgError, match=message):
            invert(pack(np.stack([np.eye(q), -np.eye(q)])), np.zeros((2, q)))


def test_add_product_in_place():
    rng = np.random.default_rng(0)
    S, W, Z = rng.normal(size=(5, 6)), rng.normal(size=(4, 5)), rng.normal(size=(4, 6))
    want = S + W.T @ Z
    add_product(S, W, Z)
    assert_allclose(S, want)


# ---------------------------------------------------------------- posterior per feature


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("batch", [1, 7, 40])
def test_known_coefficients_equal_the_kalman_filter(seed, mean, batch):
    rng, Y, W = problem(seed)
    n, m = Y.shape
    r = 3
    q = r + int(mean)
    X = np.ones((n, q))
    X[:, :r] = rng.normal(size=(n, r))
    c0, V0, s2 = rng.normal(size=(m, q)), spd(rng, q), rng.uniform(0.1, 2.0, m)
    prior = Prior(c0, np.linalg.inv(V0), np.zeros(r), np.eye(r))
    known = Coefficients(X, np.zeros((n, size(r))), np.zeros(n))
    stats = no_statistics(m, q)
    for s in range(0, n, batch):  # mini-batches WITH missing data
        b = slice(s, s + batch)
        stats = merge(stats, statistics(Y[b], W[b], Coefficients(X[b], known.Sigma[b], known.logdet[b]), r))
    post = posterior(stats, prior, s2)
    for i in range(m):
        seen = W[:, i] > 0
        c, V = ref.feature_kalman(Y[seen, i], X[seen], c0[i], V0, np.full(seen.sum(), s2[i]))
        assert_allclose(post.C[i], c, rtol=1e-9, atol=1e-9)
        assert_allclose(unpack(post.V[i], q), V, rtol=1e-9, atol=1e-9)
        assert_allclose(post.logdet[i], np.linalg.slogdet(V)[1], atol=1e-9)


def test_merge_remove_and_replacement():
    rng, Y, W = problem(1)
    model = random_model(rng, Y.shape[1], 3)
    coef = coefficients(Y, W, model.post, model.s2, model.prior)
    whole = statistics(Y, W, coef, 3)
    part = [statistics(Y[b], W[b], Coefficients(*(a[b] for a in coef)), 3) for b in (slice(0, 11), slice(11, 40))]
    for a, b in zip(merge(*part), whole, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    for a, b in zip(remove(whole, part[1]), part[0], strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_absorb_does_not_alias_and_chunking_does_not_matter(monkeypatch):
    rng, Y, W = problem(2)
    model = random_model(rng, Y.shape[1], 3)
    args = (Y, W, model.post, model.s2, model.prior)
    stats = no_statistics(Y.shape[1], 4)
    one = absorb(stats, *args)
    assert not stats.S.any()
    assert not stats.N.any()
    monkeypatch.setattr("factorstream.core.variational.posterior.blocks", lambda n, width, budget=0: blocks(n, 1, 3))
    two = absorb(stats, *args)
    assert_allclose(one[1].C, two[1].C, rtol=1e-10)
    assert_allclose(one[2].X, two[2].X, rtol=1e-10)


def test_a_feature_never_seen_keeps_its_prior():
    rng, Y, W = problem(3)
    W[:, 4] = 0
    model = random_model(rng, Y.shape[1], 3)
    post = posterior(statistics(Y, W, coefficients(Y, W, model.post, model.s2, model.prior), 3), model.prior, model.s2)
    assert_allclose(post.C[4], 0, atol=1e-14)
    assert_allclose(unpack(post.V[4], 4), np.linalg.inv(model.prior.P0))


# ---------------------------------------------------------------- sweeps and the bound


@pytest.mark.parametrize("per_feature", [False, True])
def test_sweeps_equal_the_naive_twin(per_feature):
    rng, Y, W = problem(5, n=15, m=7, r=2)
    r, m = 2, 7
    model = random_model(rng, m, r)
    how, floor = Relevance(4.0, 0.5), np.full(m, 1e-6)
    C, V = list(model.post.C), list(unpack(model.post.V, r + 1))
    s2, P0 = model.s2, model.prior.P0
    for _ in range(4):
        model, _, value, _ = sweep(Y, W, model, floor, how, per_feature)
        C, V, s2, P0, _X, _Sigmas, want = ref.naive_sweep(
            Y, W, C, V, s2, model.prior.c0, P0, r, 4.0, 0.5, per_feature, floor
        )
        assert_allclose(model.post.C, np.array(C), rtol=1e-8, atol=1e-10)
        assert_allclose(unpack(model.post.V, r + 1), np.array(V), rtol=1e-8, atol=1e-10)
        assert_allclose(model.s2, s2, rtol=1e-8)
        assert_allclose(model.prior.P0, P0, rtol=1e-8, atol=1e-10)
        assert_allclose(value, want, rtol=1e-9)


@pytest.mark.parametrize("per_feature", [False, True])
@pytest.mark.parametrize("kappa", [0.0, 5.0, 30.0, np.inf])
@pytest.mark.parametrize("seed", range(3))
def test_bound_never_decreases(per_feature, kappa, seed):
    rng, Y, W = problem(seed, n=60, m=20, r=4)
    model, floor = random_model(rng, 20, 6), np.full(20, 1e-4)
    last = -np.inf
    for _ in range(40):
        model, _, value, _ = sweep(Y, W, model, floor, Relevance(kappa, 0.3), per_feature)
        assert value >= last - 1e-9 * abs(value)
        last = value


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("per_feature", [False, True])
def test_robust_bound_never_decreases(learn, per_feature):
    rng, Y, W = problem(7, n=60, m=20, r=4)
    Y = Y + (rng.random(Y.shape) < 0.05) * 30
    model, floor, seen, w = random_model(rng, 20, 4, nu=4.0), np.full(20, 1e-4), W > 0, W
    last = -np.inf
    for k in range(40):
        model, w, value, _ = sweep(Y, w, model, floor, Relevance(5.0, 0.3), per_feature, seen, learn)
        if k:  # the first weights were not a posterior
            assert value >= last - 1e-9 * abs(value)
        last = value


def test_sweeps_do_not_double_count():
    """Many sweeps over n samples must not make V as small as n * sweeps samples would."""
    _, Y, W = problem(8, n=200, m=30, r=3)
    few, many = (
        fit(Y, W, Options(r=3, tol=-np.inf, max_sweeps=k)).model.post.V[:, layout(4).diagonal].mean() for k in (15, 60)
    )
    assert abs(many / few - 1) < 0.05


def test_rotation_changes_nothing_but_the_basis():
    rng, Y, W = problem(9, n=60, m=20, r=4)
    model = fit(Y, W, Options(r=4)).model
    moment = dictionary_moment(model.post, model.prior)
    a, share, U = relevance(model.post, model.prior, moment)
    assert (np.diff(a) <= 1e-12).all()
    assert (share <= 1).all()
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    for T in (U, Q):
        post, prior = canonical(model.post, model.prior, T)
        if T is Q:  # a general rotation has a full P0
            prior = prior._replace(
                P0=np.block(
                    [[T.T @ model.prior.P0[:4, :4] @ T, np.zeros((4, 1))], [np.zeros((1, 4)), model.prior.P0[4:, 4:]]]
                )
            )
        one = coefficients(Y, W, model.post, model.s2, model.prior)
        two = coefficients(Y, W, post, model.s2, prior)
        assert_allclose(predict(one, model.post), predict(two, post), rtol=1e-8, atol=1e-8)
        assert_allclose(predict_variance(one, model.post, 4), predict_variance(two, post, 4), rtol=1e-7)


def test_unneeded_components_switch_off():
    _rng, Y, W = problem(10, n=300, m=80, r=3, noise=0.5)
    found = fit(Y, W, Options(r=12, kappa=0.0, max_sweeps=200, tol=1e-6))
    assert found.history[0].n_components == 12
    assert 3 <= found.model.prior.mu.size <= 5
    assert (np.diff([h.bound for h in found.history]) > 0).all()  # also across dropped components
    auto = fit_auto(Y, W, np.random.default_rng(0))
    assert 3 <= auto.fit.model.prior.mu.size <= 5
    assert_allclose(auto.fit.model.s2.mean() ** 0.5, 0.5, rtol=0.03)


def test_noise_only_and_constant_and_empty_columns():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(50, 8))
    Y[:, 0], Y[:, 1] = 3.0, (rng.random(50) < 0.5)
    W = (rng.random(Y.shape) > 0.3).astype(float)
    W[:, 2] = 0
    for per_feature in (False, True):
        model = fit(Y, W, Options(per_feature_noise=per_feature)).model
        coef = coefficients(np.where(W > 0, Y, 0), W, model.post, model.s2, model.prior)
        mean, var = predict(coef, model.post), predict_variance(coef, model.post, model.prior.mu.size) + model.s2
        assert np.isfinite(mean).all()
        assert (var > 0).all()
        assert_allclose(mean[:, 0], 3.0, atol=0.05 if per_feature else 0.6)


# ---------------------------------------------------------------- scale


@pytest.mark.parametrize("factor", [1e-6, 1e6, -3.0])
@pytest.mark.parametrize(
    "options", [Options(), Options(r=3, per_feature_noise=True), Options(r=3, nu=4.0, learn_nu=True)]
)
def test_scale_changes_the_units_and_nothing_else(factor, options):
    _, Y, W = problem(11, n=80, m=20)
    one, two = fit(Y, W, options), fit(Y * factor, W, options)
    assert len(one.history) == len(two.history)
    a, b = (
        coefficients(y, W if f.weights is None else f.weights, f.model.post, f.model.s2, f.model.prior)
        for y, f in ((Y, one), (Y * factor, two))
    )
    assert_allclose(predict(a, one.model.post) * factor, predict(b, two.model.post), rtol=1e-6, atol=1e-6 * abs(factor))
    assert_allclose(one.model.s2 * factor**2, two.model.s2, rtol=1e-6)


def test_rescale_is_its_own_inverse():
    rng, Y, _W = problem(12)
    model, offset = random_model(rng, Y.shape[1], 3), rng.normal(size=Y.shape[1])
    back = rescale(rescale(model, offset, 5.0), -offset / 5.0, 0.2)
    assert_allclose(back.post.C, model.post.C, rtol=1e-9, atol=1e-12)
    assert_allclose(back.post.logdet, model.post.logdet, atol=1e-12)


# ---------------------------------------------------------------- prediction


def test_predictive_variance_entry_by_entry():
    rng, Y, W = problem(13, n=9, m=6)
    model = random_model(rng, 6, 3)
    coef = coefficients(Y, W, model.post, model.s2, model.prior)
    var = predict_variance(coef, model.post, 3)
    V, S = unpack(model.post.V, 4), np.zeros((9, 4, 4))
    S[:, :3, :3] = unpack(coef.Sigma, 3)
    mean = predict(coef, model.post)
    for k in range(9):
        for i in range(6):
            want = ref.entry_square(mean[k, i], model.post.C[i], V[i], coef.X[k], S[k])
            assert_allclose(var[k, i], want, rtol=1e-10)
    square = expected_squares(Y, coef, second_moment(model.post), model.post.C, moments(coef, 3))
    assert_allclose(square, (Y - mean) ** 2 + var, rtol=1e-8)
    stats = statistics(Y, W, coef, 3)
    assert_allclose(expected_square(stats, model.post), (W * square).sum(axis=0), rtol=1e-9)


def test_draws_have_the_predictive_moments():
    rng, Y, W = problem(14, n=8, m=6)
    model = random_model(rng, 6, 3)
    coef = coefficients(Y, W, model.post, model.s2, model.prior)
    rows, columns = np.nonzero(W == 0)
    draws = draw_entries(rows, columns, coef, model.post, model.s2, 20000, rng)
    mean, var = (
        predict(coef, model.post)[rows, columns],
        (predict_variance(coef, model.post, 3) + model.s2)[rows, columns],
    )
    assert_allclose(draws.mean(axis=0), mean, atol=5 * np.sqrt(var.max() / 20000))
    assert_allclose(draws.var(axis=0), var, rtol=0.12)


def test_intervals_cover_on_model_data():
    _, Y, W = problem(15, n=400, m=60, r=4)
    model = fit(np.where(W > 0, Y, 0), W, Options(r=4)).model
    coef = coefficients(np.where(W > 0, Y, 0), W, model.post, model.s2, model.prior)
    z = np.abs(Y - predict(coef, model.post)) / np.sqrt(predict_variance(coef, model.post, 4) + model.s2)
    assert 0.935 < (z[W == 0] < 1.96).mean() < 0.965
