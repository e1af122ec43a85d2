#!/bin/sh
# run.sh [NAME…]: the tests in here against a real kitty, all of them or those named (capture_same, watcher_load …).
#
# Prints a line per case and at the end `N passed, N failed` of all together. Exit 77 where there is no chroot.
set -u

here=$(cd "$(dirname "$0")" && pwd)
"$here/enter.sh" -x true || exit $?
[ $# -gt 0 ] || set -- capture_same watcher_load conf_maps shell_forms
passed=0 failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for name; do
    printf '%s\n' "--- $name"
    "$here/enter.sh" "tests/real/$name.py" 2>&1 | tee "$out"
    # one that ends without its closing line has failed as a whole
    counts=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out")
    counts=${counts:-0 1}
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
done
printf '%s\n' '---' "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
