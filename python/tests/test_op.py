"""Calls: layouts, libraries, caches, threads, what they cost."""

import ctypes
import json
import os
import subprocess
import sys
import threading
import timeit

import numpy as np
import pytest

from conftest import ROOT

pytest.importorskip("linattn._compiler", reason="the native parts are not built")

import linattn  # noqa: E402
from linattn import code, reference  # noqa: E402

B, T, H, K, V = 2, 40, 4, 16, 8


@linattn.recurrence
def gated_delta(S, q, k, v, g, beta):
    S = S.decay(g)
    S = S.write(k, beta * (v - S.read(k)))
    return S, S.read(q)


def draw(B=B, T=T, H=H, K=K, V=V, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.standard_normal((B, T, H // 2, K))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    found = [
        rng.standard_normal((B, T, H // 2, K)), k, rng.standard_normal((B, T, H, V)),
        -rng.random((B, T, H)), rng.random((B, T, H)),
    ]
    return [a.astype(dtype) for a in found]


def expected(arrays, s0=None, **sequences):
    return reference.gated_deltanet(*arrays, s0, scale=1.0, **sequences)


def close(actual, wanted, limit=1e-5):
    for a, w in zip(actual, wanted):
        assert a.shape == w.shape
        assert np.abs(a - w).max(initial=0) < limit


@pytest.fixture
def op():
    return linattn.compile(gated_delta)


def test_the_five_lines(op):
    arrays = draw()
    close(op(*arrays), expected(arrays))
    s0 = np.random.default_rng(1).standard_normal((B, H, K, V)).astype(np.float32)
    close(op(*arrays, initial_state=s0), expected(arrays, s0))
    q, k, v, g, beta = arrays
    close(op(q, k, beta=beta, g=g, v=v), expected(arrays))


def test_chunkwise_is_the_same():
    op = linattn.compile(gated_delta, lowering="chunkwise", chunk=16)
    arrays = draw()
    close(op(*arrays), expected(arrays), 1e-4)


def test_f64(op):
    arrays = draw(dtype=np.float64)
    o, s = op(*arrays)
    assert o.dtype == s.dtype == np.float64
    close((o, s), expected(arrays), 1e-13)


def test_bfloat16_of_numpy(op):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arrays = draw()
    for i in range(3):
        arrays[i] = arrays[i].astype(ml_dtypes.bfloat16)
    o, s = op(*arrays)
    assert o.dtype == ml_dtypes.bfloat16 and s.dtype == np.float32
    wanted = expected([a.astype(np.float64) for a in arrays])
    close((o.astype(np.float64), s), wanted, 5e-2)


def test_packed_sequences_and_slots(op):
    packed = [a[0] for a in draw(B=1)]
    for index in (np.int32, np.int64):
        cu = np.array([0, 0, 13, 30], index)
        o, s = op(*packed, cu_seqlens=cu)
        wanted = expected(packed, cu_seqlens=cu)
        close((o, s), wanted)
        assert not o[30:].any()
    pool = np.random.default_rng(1).standard_normal((5, H, K, V)).astype(np.float32)
    slots, before = np.array([3, -1], np.int32), pool.copy()
    arrays = draw()
    wanted = expected(arrays, before, slots=slots)
    o, returned = op(*arrays, initial_state=pool, slots=slots)
    assert returned is pool
    close((o, pool), wanted)
    assert np.array_equal(pool[[0, 1, 2, 4]], before[[0, 1, 2, 4]])


def test_snapshots():
    op = linattn.compile(gated_delta, snapshots=16)
    arrays = draw()
    found = op(*arrays)
    close(found, expected(arrays, snapshots=16))


def test_strides_are_free(op):
    arrays = draw()
    wanted = op(*arrays)
    q, k, v, g, beta = arrays
    # Heads before tokens in memory; gates as columns of one array; reversed batch.
    q = np.ascontiguousarray(q.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    both = np.stack([g, beta], axis=-1)
    v = np.ascontiguousarray(v[::-1])[::-1]
    found = op(q, k, v, both[..., 0], both[..., 1])
    assert all(np.array_equal(a, w) for a, w in zip(found, wanted))


class OnlyDLPack:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_any_library_that_speaks_dlpack(op):
    arrays = draw()
    found = op(*map(OnlyDLPack, arrays))
    assert all(np.array_equal(a, w) for a, w in zip(found, op(*arrays)))


def test_no_copies(op):
    """The function sees the caller's memory: a change is seen without a new call."""
    arrays = draw()
    first = op(*map(OnlyDLPack, arrays))
    arrays[2][:] *= 2
    second = op(*map(OnlyDLPack, arrays))
    assert np.abs(second[0] - 2 * first[0]).max() < 1e-4


def test_torch(op):
    torch = pytest.importorskip("torch")
    arrays = draw()
    tensors = [torch.from_numpy(a) for a in arrays]
    o, s = op(*tensors)
    assert isinstance(o, torch.Tensor)
    close((o.numpy(), s.numpy()), expected(arrays))
    half = [t.bfloat16() if t.ndim == 4 else t for t in tensors]
    assert op(*half)[0].dtype == torch.bfloat16


def test_jax(op):
    jax = pytest.importorskip("jax")
    arrays = draw()
    o, s = op(*map(jax.numpy.asarray, arrays))
    assert isinstance(o, jax.Array)
    close((np.asarray(o), np.asarray(s)), expected(arrays))


def test_other_B_and_T_compile_nothing(op):
    op(*draw())
    before = len(op._functions)
    for B, T in ((1, 0), (1, 1), (3, 7), (0, 5), (2, 100)):
        arrays = draw(B, T)
        close(op(*arrays), expected(arrays))
    assert len(op._functions) == before == 1


def test_other_fixed_sizes_compile_again(op):
    for sizes in (dict(H=2), dict(K=4), dict(V=3), dict()):
        arrays = draw(**sizes)
        close(op(*arrays), expected(arrays))
    assert len(op._functions) == 4


def test_cache_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("LINATTN_CACHE_DIR", str(tmp_path))
    arrays = draw(H=6)
    before = code.compiled
    wanted = linattn.compile(gated_delta)(*arrays)
    assert code.compiled == before + 1
    found = linattn.compile(gated_delta)(*arrays)
    assert code.compiled == before + 1
    assert all(np.array_equal(a, w) for a, w in zip(found, wanted))
    entries = list(tmp_path.glob("*/*"))
    assert len(entries) == 1 and not entries[0].name.startswith(".")
    monkeypatch.setenv("LINATTN_CACHE_DIR", "")
    linattn.compile(gated_delta)(*arrays)
    assert code.compiled == before + 2 and len(list(tmp_path.glob("*/*"))) == 1


def test_places_in_files_are_no_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("LINATTN_CACHE_DIR", str(tmp_path))
    text = "def step(S, q, k, v):\n    S = S.write(k, v)\n    return S, S.read(q)\n"
    before = code.compiled
    for shift in range(3):
        names = {}
        path = tmp_path / f"step{shift}.txt"
        exec(compile("\n" * shift + text, str(path), "exec"), names)
        linattn.compile(linattn.recurrence(names["step"]))(*draw()[:3])
    assert code.compiled == before + 1


def test_without_a_linker(tmp_path, monkeypatch):
    from linattn import linker

    monkeypatch.setenv("LINATTN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(linker, "find_linker", lambda: None)
    arrays = draw()
    close(linattn.compile(gated_delta)(*arrays), expected(arrays))
    assert not list(tmp_path.glob("*/*/*.so"))


def test_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("LINATTN_CACHE_DIR", str(tmp_path))
    op, before = linattn.compile(gated_delta), code.compiled
    cases = [draw(seed=i % 3, V=8 + i % 2) for i in range(8)]
    wanted = [expected(a) for a in cases]
    failures = []

    def work(first):
        try:
            for i in range(first, first + 24):
                close(op(*cases[i % 8]), wanted[i % 8])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert code.compiled == before + 2


def test_two_processes_share_a_cache(tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import test_op; arrays = test_op.draw()\n"
        "test_op.close(test_op.linattn.compile(test_op.gated_delta)(*arrays),"
        " test_op.expected(arrays))\n"
    )
    env = {**os.environ, "LINATTN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-c", program, str(ROOT / "python" / "tests")]
    running = [subprocess.Popen(command, env=env) for _ in range(2)]
    assert [p.wait(timeout=120) for p in running] == [0, 0]
    assert len([p for p in tmp_path.glob("*/*") if not p.name.startswith(".")]) == 1


def test_export(tmp_path):
    op = linattn.compile(gated_delta, K=K, V=V, heads={"q": 2, "k": 2, "v": 4}, dtype="f32",
                         target="cpu")
    names = {p.name for p in op.export(tmp_path)}
    assert {"gated_delta.o", "gated_delta.h", "gated_delta.json"} <= names
    about = json.loads((tmp_path / "gated_delta.json").read_text())
    assert [a["name"] for a in about["arguments"]] == ["q", "k", "v", "g", "beta", "s0"]
    assert about["arguments"][0]["shape"] == [None, None, 2, K]


def test_sizes_choose_the_plan(tmp_path):
    """One long sequence of two heads is cut into segments; what was made for it
    still takes any sizes."""
    plans = []
    for sizes in (None, {"B": 1, "T": 65536}, {"N": 512, "T": 256}):
        op = linattn.compile(gated_delta, K=64, V=64, heads=2, dtype="bf16",
                             target="sm_90a", sizes=sizes)
        op.export(tmp_path)
        about = json.loads((tmp_path / "gated_delta.json").read_text())
        plans.append(about["plan"].get("segments", 1))
    assert plans[0] == 1 and plans[1] > 1 and plans[2] == 1, plans


def test_export_for_a_gpu(tmp_path):
    op = linattn.compile(gated_delta, K=64, V=64, heads=2, dtype="bf16", target="sm_90a")
    try:
        names = {p.name for p in op.export(tmp_path)}
    except linattn.CompileError as error:
        assert "no ptxas" in str(error)
        pytest.skip("no ptxas")
    assert {"gated_delta.ptx", "gated_delta.cubin", "gated_delta.json"} <= names
    assert ".target sm_90a" in (tmp_path / "gated_delta.ptx").read_text()


@pytest.mark.parametrize(
    "level, has",
    [
        ("recurrence", "linattn.recurrence"), ("normal", "linattn.recurrence"),
        ("chunk", "linattn.chunked"), ("kernel", "gpu.module"),
        ("tile", "tile."), ("llvm", "llvm.func"),
        ("ptx", ".entry gated_delta"), ("header", "_mlir_ciface_gated_delta"),
        ("builtin.module(linattn-expand-sugar)", "linattn.recurrence"),
    ],
)
def test_levels(level, has, monkeypatch):
    op = linattn.compile(gated_delta, K=16, V=16, heads=1, dtype="f32")
    assert has in op.show(level)


def best(function, number=200, repeat=25):
    return min(timeit.repeat(function, number=number, repeat=repeat)) / number * 1e6


def test_a_call_costs_little():
    """Beyond what the function itself takes, called bare: 20 microseconds."""
    op, arrays = linattn.compile(gated_delta), draw(1, 1, 2, 4, 4)
    s0 = np.zeros((1, 2, 4, 4), np.float32)
    results = op(*arrays, initial_state=s0)
    module = op.module(*arrays, initial_state=s0)
    keep, entry, _ = code.load_code(code.entry(module, op._options_for((1, 0))), op.name)
    memrefs = []
    for a in (*arrays, s0, *results):
        strides = [s // a.itemsize for s in a.strides]
        words = [a.ctypes.data, a.ctypes.data, 0, *a.shape, *strides]
        memrefs.append((ctypes.c_int64 * len(words))(*words))
    bare = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(memrefs))(entry)
    pointers = [ctypes.addressof(m) for m in memrefs]
    cost = best(lambda: op(*arrays, initial_state=s0)) - best(lambda: bare(*pointers))
    assert keep is not None
    assert cost < 20, f"{cost:.1f} microseconds"


def test_importing_is_fast_and_loads_no_compiler():
    program = (
        "import time; start = time.process_time(); import linattn;"
        "linattn.recurrence; linattn.compile; seconds = time.process_time() - start;"
        "import sys; print(seconds, 'linattn._compiler' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    times = []
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True,
                             text=True, check=True).stdout.split()
        times.append(float(out[0]))
        assert out[1] == "False"
    assert min(times) < 0.3


def test_a_cached_call_needs_no_compiler(tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import linattn, numpy as np\n"
        "@linattn.recurrence\n"
        "def f(S, q, k, v):\n    S = S.write(k, v)\n    return S, S.read(q)\n"
        "x = np.ones((1, 2, 1, 4), np.float32)\n"
        "linattn.compile(f)(x, x, x)\n"
        "print('linattn._compiler' in sys.modules)\n"
    )
    env = {**os.environ, "LINATTN_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", program, str(ROOT / "python")]
    outputs = [
        subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert outputs[0].strip() == "True"
    assert outputs[1].strip() == "False"


def test_on_a_simulated_gpu(tmp_path):
    """Compiled here, launched by the runtime, on a driver that simulates."""
    lib = ROOT / "build" / "lib"
    runtime, driver = lib / "liblinattn_runtime.so", lib / "liblinattn-simulated-libcuda.so"
    if not (runtime.exists() and driver.exists()):
        pytest.skip("the runtime and its simulated driver are not built")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, test_op\n"
        "arrays = test_op.draw(1, 3, 2, 8, 8)\n"
        "op = test_op.linattn.compile(test_op.gated_delta, target='sm_90a')\n"
        "test_op.close(op(*arrays), test_op.expected(arrays))\n"
        "s0 = np.ones((1, 2, 8, 8), np.float32)\n"
        "found = op(*arrays, initial_state=s0)\n"
        "test_op.close(found, test_op.expected(arrays, s0))\n"
        "try:\n"
        "    op(*arrays, initial_state=np.ones((1, 2, 8, 16), np.float32)[..., ::2])\n"
        "except test_op.linattn.ArgumentError as error:\n"
        "    assert \"stride 3 of 'initial_state' is 1, got 2\" in str(error), error\n"
        "else:\n"
        "    raise AssertionError('accepted')\n"
    )
    env = {
        **os.environ, "LINATTN_RUNTIME": str(runtime), "LINATTN_LIBCUDA": str(driver),
        "PYTHONPATH": str(ROOT / "python"), "LINATTN_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "python" / "tests")], env=env,
        capture_output=True, text=True, timeout=200,
    )
    assert done.returncode == 0, done.stderr
