# Configuration of the lit suite. Substitutions beside lit's own:
#   linattn-opt, linattn-run, ... (every tool), mlir-opt, FileCheck, not, count
#   %python    the project's Python (.venv where it exists)
#   %examples  the folder of the example recurrences
#   %cc_runtime  a C compiler that finds the runtime
#   %ptxas     the newest ptxas found; tests that need it say `REQUIRES: ptxas`
#   %cc, %link_omp  a C compiler, and what links OpenMP; tests say `REQUIRES: cc`
# Features: ptxas, numpy, asan, cc, and one per linattn tool that was built.

import os
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "linattn"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["lit.cfg.py", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.linattn_obj_root, "test")

llvm_config.with_system_environment(
    ["HOME", "TMP", "TEMP", "TMPDIR", "LINATTN_PTXAS", "CUDA_HOME"]
)


def first_executable(*candidates):
    return next(c for c in candidates if c and os.access(c, os.X_OK))


src = config.linattn_src_root
python = first_executable(
    config.linattn_python, os.path.join(src, ".venv", "bin", "python"), sys.executable
)
# It loads nothing of ours itself.
fuzz = [python, os.path.join(src, "utils", "fuzz", "fuzz.py")]
if config.linattn_sanitize:
    fuzz.append("--memory=0")
    # It loads libraries of ours, which want their runtime to come first.
    python = f"env LD_PRELOAD={config.linattn_asan_runtime} {python}"
config.substitutions.append(("%python", python))
config.substitutions.append(("%fuzz", " ".join(fuzz)))
config.substitutions.append(("%examples", os.path.join(src, "examples")))
# The runtime without a GPU: a C program that links it, and a libcuda over the
# simulator.
lib = os.path.join(config.linattn_obj_root, "lib")
cc = f"{config.linattn_cc} -std=c11 -Wall -Wextra -Werror -O1 -I{src}/include"
config.substitutions.append(
    ("%cc_runtime", f"{cc} -Wno-unused-command-line-argument -L{lib} -Wl,-rpath,{lib}")
)
llvm_config.with_environment(
    "LINATTN_LIBCUDA", os.path.join(lib, "liblinattn-simulated-libcuda.so")
)
llvm_config.with_environment(
    "LINATTN_RUNTIME", os.path.join(lib, "liblinattn_runtime.so")
)
# Adds a %python of its own: lit takes the first that it finds.
llvm_config.use_default_substitutions()
llvm_config.with_environment("PYTHONPATH", os.path.join(src, "python"))
# Without a sanitizer's runtime, which finds leaks in the interpreter.
has_numpy = subprocess.run([python.split()[-1], "-c", "import numpy"], capture_output=True)
if has_numpy.returncode == 0:
    config.available_features.add("numpy")

# The script knows the order of search; the tools use the same one.
find_ptxas = os.path.join(src, "utils", "find-ptxas")
if os.access(find_ptxas, os.X_OK):
    found = subprocess.run([find_ptxas], capture_output=True, text=True)
    if found.returncode == 0:
        ptxas = found.stdout.strip()
        config.available_features.add("ptxas")
        config.substitutions.append(("%ptxas", ptxas))
        llvm_config.with_environment("LINATTN_PTXAS", ptxas)

if config.linattn_sanitize:
    config.available_features.add("asan")
    # libMLIR is not instrumented: containers that cross its border look
    # overflowed, what it keeps until exit looks leaked, and what it takes from
    # an allocator that our code poisoned looks freed.
    options = "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
    # A C program gets the sanitizer's runtime by the library that it links.
    options += ":verify_asan_link_order=0"
    llvm_config.with_environment("ASAN_OPTIONS", options)
    llvm_config.with_environment(
        "UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1"
    )

# A C compiler, and the OpenMP library that object files for the CPU call.
cc = next(filter(None, map(shutil.which, ("cc", "clang-22", "gcc"))), None)
omp = os.path.join(os.path.dirname(config.llvm_tools_dir), "lib", "libomp.so.5")
if cc and os.path.exists(omp) and not config.linattn_sanitize:
    config.available_features.add("cc")
    config.substitutions.append(("%cc", cc))
    config.substitutions.append(
        ("%link_omp", f"{omp} -Wl,-rpath,{os.path.dirname(omp)}")
    )

config.available_features.update(config.linattn_tools)

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.linattn_tools_dir, append_path=True)
tool_dirs = [config.linattn_tools_dir, config.llvm_tools_dir]
other_tools = [
    "mlir-opt",
    "mlir-translate",
    "mlir-reduce",
    "split-file",
    "llvm-objdump",
]
llvm_config.add_tool_substitutions(
    [ToolSubst(t, unresolved="ignore") for t in config.linattn_tools + other_tools], tool_dirs
)

# A test that hangs fails; lit needs psutil to enforce it.
supported, _ = lit_config.maxIndividualTestTimeIsSupported
if supported and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = 300
