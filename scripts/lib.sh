# Shared by the scripts beside it; not to be run by itself.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/foxhunt
jobs=$(nproc)

say() { printf '%s\n' "$*" >&2; }
fail() { say "$(basename "$0"): $*"; exit 2; }

# The LibTorch to build with: TORCH_ROOT, else the one of scripts/setup; with CUDA where that was asked for.
torch_root() {
  if [ -n "${TORCH_ROOT:-}" ]; then
    printf '%s' "$TORCH_ROOT"
  elif [ -e "$cache/libtorch-cuda/complete" ]; then
    printf '%s' "$cache/libtorch-cuda"
  else
    printf '%s' "$cache/libtorch"
  fi
}

# Compiler messages go to a file and to the terminal only when something is wrong.
configure_and_build() { # preset, then targets
  local preset=$1 log
  shift
  mkdir -p "$top/build"
  log=$top/build/$preset.log
  local settings=()
  case $preset in notorch | asan | tsan | fuzz) ;; *) settings=("-DTORCH_ROOT=$(torch_root)") ;; esac
  [ "${precompile:-no}" = yes ] && settings+=(-DFOXHUNT_PCH=ON)
  say "== building preset '$preset' (${*:-all}), log in build/$preset.log"
  (cd "$top" && cmake --preset "$preset" "${settings[@]}" ${FOXHUNT_SHARED:+"-DFOXHUNT_SHARED=$FOXHUNT_SHARED"}) \
    >"$log" 2>&1 || { tail -40 "$log" >&2; fail "cmake --preset $preset failed"; }
  local target=()
  [ $# -gt 0 ] && target=(--target "$@")
  if [ -t 2 ]; then
    (cd "$top" && cmake --build --preset "$preset" -j "$jobs" "${target[@]}" 2>&1) | tee -a "$log" |
      while IFS= read -r line; do
        case $line in '['*) printf '\r\033[K%.90s' "$line" >&2 ;; esac
      done
    [ "${PIPESTATUS[0]}" -eq 0 ] || { grep -E 'error|FAILED|undefined' "$log" | head -20 >&2; fail "build failed, see build/$preset.log"; }
    printf '\r\033[K' >&2
  else
    (cd "$top" && cmake --build --preset "$preset" -j "$jobs" "${target[@]}") >>"$log" 2>&1 ||
      { grep -E -A8 'error|FAILED|undefined' "$log" | head -60 >&2; fail "build failed, see build/$preset.log"; }
  fi
}
