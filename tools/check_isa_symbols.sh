#!/usr/bin/env bash
# Fails when an object compiled for one instruction set offers the linker a weak symbol: an inline
# function that another file also has without these instructions, so that one of the two is dropped.
#
#   tools/check_isa_symbols.sh BUILD_DIR
set -euo pipefail
mapfile -t objects < <(find "$1" -path '*foxhunt_kernels.dir/isa/*.o' | sort)
[ ${#objects[@]} -ge 3 ] || { echo "found ${#objects[@]} objects below $1, expected one an instruction set"; exit 1; }
bad=$(for object in "${objects[@]}"; do
  nm -C "$object" | grep -E ' [VWu] ' | grep -v 'DW.ref' | sed "s|^|$(basename "$object"): |" || true
done)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
echo "${#objects[@]} objects, no weak symbol"
