# Shared by the scripts in utils/; sourced, not run.
# The heading comment of a script is its --help.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=$ROOT/.venv
PYTHON=$VENV/bin/python
JOBS=${JOBS:-$(nproc)}

# ccache learns the headers of a file from the compiler then, instead of
# preprocessing it once more: a file that is not in the cache costs 1.8 s
# instead of 3.1 s.
export CCACHE_DEPEND=1

say() { printf '== %s\n' "$*"; }
warn() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
# die MESSAGE [EXIT CODE]
die() {
  warn "$1"
  exit "${2:-1}"
}
have() { command -v "$1" >/dev/null 2>&1; }

# Prints the heading comment of the running script.
show_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# For scripts without further options: --help, or refuse.
only_help() {
  case ${1:-} in
  "") ;;
  -h | --help)
    show_help
    exit 0
    ;;
  *) bad_option "$1" ;;
  esac
}
bad_option() { die "unknown option '$1' (see $(basename "$0") --help)" 2; }

# configure PRESET [CMAKE OPTIONS]: only where there is no build folder of that
# preset yet; ninja reruns CMake by itself when a CMake file changes.
configure() {
  local preset=$1 dir log
  shift
  dir=$(build_dir "$preset")
  [ -f "$dir/build.ninja" ] && [ $# = 0 ] && return 0
  say "Configuring preset '$preset' into ${dir#"$ROOT"/}"
  log=$(mktemp)
  (cd "$ROOT" && cmake --preset "$preset" ${MLIR_DIR:+"-DMLIR_DIR=$MLIR_DIR"} \
    "$@" >"$log" 2>&1) || {
    cat "$log" >&2
    rm -f "$log"
    die "configuring preset '$preset' failed"
  }
  rm -f "$log"
}

build_dir() {
  case $1 in
  release) echo "$ROOT/build" ;;
  *) echo "$ROOT/build-$1" ;;
  esac
}

# build PRESET [TARGETS]: ninja shows the progress.
build() {
  local dir
  dir=$(build_dir "$1")
  shift
  say "Building ${*:-everything} in ${dir#"$ROOT"/} with $JOBS jobs"
  ninja -C "$dir" -j "$JOBS" "$@"
}

# sources PATTERN...: tracked and new files of the project.
sources() { (cd "$ROOT" && git ls-files -co --exclude-standard -- "$@"); }
