"""Edge on the real GPU. PYTHONPATH=src python -u device.py   (from the root of the worktree; < 60 s)

Look for: every line "ok"; the table of milliseconds of the edge beside the whole call at the end.
"""
import re, sys, time, tempfile, pathlib, traceback, warnings
import numpy as np

libs = {}
try:
    import torch
    libs["torch"] = (lambda X: torch.asarray(X, device="cuda"), lambda a: a.is_cuda, lambda a: a.cpu().numpy())
except ImportError:
    print("no torch")
try:
    import cupy
    libs["cupy"] = (cupy.asarray, lambda a: isinstance(a, cupy.ndarray), lambda a: a.get())
except Exception as e:
    print("no cupy", e)

from factorstream import BayesianFactorization, DictionaryFilter, LowRankImputer, load, moved
from sklearn import config_context
from sklearn.base import clone

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 40)) + 0.1 * rng.standard_normal((300, 40)) + 5.0
X[rng.random(X.shape) < 0.2] = np.nan
MODELS = [DictionaryFilter(3, random_state=0), DictionaryFilter(3, covariance="shared", scale=False, random_state=0),
          BayesianFactorization(3, random_state=0), BayesianFactorization(2, robust=True, max_iter=5, random_state=0),
          LowRankImputer(random_state=0), LowRankImputer(2, robust=5.0, calibrate=False, add_indicator=True, random_state=0)]
METHODS = {"transform": {}, "impute": {"return_std": True}, "predict_interval": {}, "sample_imputations": {"n_draws": 2, "random_state": 0}, "score_samples": {}}

def answers(model, X):
    out = {}
    for name, options in METHODS.items():
        if hasattr(model, name):
            found = getattr(model, name)(X, **options)
            for k, part in enumerate(found if isinstance(found, tuple) else (found,)):
                out[name, k] = part
    if hasattr(model, "inverse_transform"):
        out["inverse_transform", 0] = model.inverse_transform(out["transform", 0])
    return out

def check(what, f):
    t = time.perf_counter()
    try:
        note = f() or ""
        print(f"ok    {what} {note} ({time.perf_counter() - t:.2f} s)")
    except Exception:
        print(f"FAIL  {what}")
        traceback.print_exc(limit=-6)

warnings.simplefilter("ignore")
for lib, (there, is_there, back) in libs.items():
    for M in MODELS:
        for dtype in (np.float64, np.float32):
            def run():
                Xd = X.astype(dtype)
                here, gpu = clone(M).fit(Xd), clone(M).fit(there(Xd))
                a, b = answers(here, Xd[:50]), answers(gpu, there(Xd[:50]))
                worst = 0.0
                for name in a:
                    assert is_there(b[name]), name
                    assert str(b[name].dtype).endswith(str(a[name].dtype)), (name, b[name].dtype, a[name].dtype)
                    fin = np.isfinite(a[name])
                    if name[0] not in ("sample_imputations",):
                        worst = max(worst, float(np.abs(back(b[name])[fin] - a[name][fin]).max() / np.abs(a[name][fin]).max()))
                c = getattr(gpu, "components_", None)
                assert c is None or is_there(c)
                n = answers(gpu, Xd[:50])
                assert all(isinstance(v, np.ndarray) for v in n.values())
                return f"largest relative difference {worst:.1e}"
            check(f"{lib} {M!r:.60} {np.dtype(dtype)}", run)
    def streams():
        for M in (MODELS[0], MODELS[2]):
            m = clone(M).partial_fit(there(X[:5])).partial_fit(X[5:100]).partial_fit(there(X[100:]))
            h = clone(M).partial_fit(X)
            np.testing.assert_allclose(back(m.impute(there(X[:20]))), h.impute(X[:20]), rtol=1e-6)
    check(f"{lib} streams", streams)
    def dispatch():
        with config_context(array_api_dispatch=True):
            m = clone(MODELS[2]).fit(there(X))
            assert is_there(m.transform(there(X)))
            try:
                m.transform(X)
            except ValueError as e:
                return str(e)[:60]
            raise AssertionError
    check(f"{lib} scikit-learn's dispatch", dispatch)
    def moving():
        for M in MODELS:
            m = clone(M).fit(X)
            path = pathlib.Path(tempfile.mkdtemp()) / "m"
            g = moved(m, there(X)); g.save(path)
            for name, v in answers(g, there(X[:20])).items():
                np.testing.assert_allclose(back(v), answers(m, X[:20])[name], rtol=1e-10, atol=1e-10, err_msg=str(name))
            for name, v in answers(load(path), X[:20]).items():
                np.testing.assert_allclose(v, answers(m, X[:20])[name], rtol=1e-12, atol=1e-12, err_msg=str(name))
    check(f"{lib} moved, saved, loaded", moving)
    def absurd():
        Z = X.copy(); Z[7, 3] = 1e9
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            clone(MODELS[0]).fit(there(Z))
        return str(w[-1].message)[:60]
    check(f"{lib} absurd values", absurd)
    def out_of_memory():
        m = clone(MODELS[2]).fit(there(X)); s = m.state_
        try:
            if lib == "torch":
                big = torch.empty(1, device="cuda").expand(40_000, 400_000)
            else:
                big = cupy.broadcast_to(cupy.ones(1), (40_000, 400_000))
            BayesianFactorization(40).fit(big)
        except MemoryError as e:
            return str(e)
        raise AssertionError("no error")
    check(f"{lib} out of memory", out_of_memory)
if "torch" in libs:
    def cpu():
        t = torch.from_numpy(X)
        m = clone(MODELS[4]).fit(t)
        f = m.transform(t)
        assert isinstance(f, torch.Tensor) and f.device.type == "cpu"
        np.testing.assert_array_equal(f.numpy(), clone(MODELS[4]).fit(X).transform(X))
    check("torch on the host", cpu)
    def page():
        text = open("docs/gpu.md").read()
        known = {}
        import os; os.chdir(tempfile.mkdtemp())
        for code in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S):
            exec(code, known)
    here = __import__("os").getcwd()
    check("the page docs/gpu.md", page)
    __import__("os").chdir(here)

# ---- what the edge costs: a block of 256 x 10^6 float32 (1 GB)
if "torch" in libs:
    import factorstream.estimators._validation as v
    import factorstream.estimators._filter_run as fr
    import factorstream.estimators._streaming as st
    spent = {}
    def timed(module, name):
        f = getattr(module, name)
        def g(*a, **k):
            torch.cuda.synchronize(); t = time.perf_counter()
            out = f(*a, **k)
            torch.cuda.synchronize(); spent[name] = spent.get(name, 0.0) + time.perf_counter() - t
            return out
        setattr(module, name, g)
    timed(st, "check_data"); timed(fr, "next_rows"); timed(fr, "filter_rows"); timed(fr, "kept"); timed(fr, "first_values"); timed(fr, "looked"); timed(fr, "with_late_units")
    gen = torch.Generator("cuda").manual_seed(0)
    for gaps in (False, True):
        n = 256 if not gaps else 16
        D = torch.randn(8, 10**6, generator=gen, device="cuda")
        def block():
            B = torch.randn(n, 8, generator=gen, device="cuda") @ D
            B += 0.1 * torch.randn(B.shape, generator=gen, device="cuda")
            if gaps:
                B[torch.rand(B.shape, generator=gen, device="cuda") < 0.25] = torch.nan
            return B
        for kw in ({"covariance": "shared", "scale": False}, {}):
            m = DictionaryFilter(64, random_state=0, **kw)
            for _ in range(3):
                m.partial_fit(block())
            spent.clear(); torch.cuda.synchronize(); total = 0.0
            for _ in range(3):
                B = block(); torch.cuda.synchronize(); t = time.perf_counter()
                m.partial_fit(B); torch.cuda.synchronize(); total += time.perf_counter() - t
            print(f"{'gaps' if gaps else 'complete'} {kw or 'default'}: ms per call {1e3 * total / 3:.2f} of which " + ", ".join(f"{k} {1e3 * s / 3:.2f}" for k, s in spent.items()))
