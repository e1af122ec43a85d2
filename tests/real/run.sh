#!/bin/sh
# run.sh [NAME…]: everything that runs against a real kitty, or only what is named: facts, capture_same, watcher_load,
# watcher_exit, conf_maps, shell_forms (the Python programs in here), first_minutes (a new user's way) and scenarios
# (those of tests/it).
#
# Prints a line per case and at the end `N passed, N failed` of all together. Exit 77 where there is no chroot.
set -u

here=$(cd "$(dirname "$0")" && pwd)
"$here/enter.sh" -x true || exit $?
[ $# -gt 0 ] || set -- facts capture_same watcher_load watcher_exit conf_maps shell_forms first_minutes scenarios
passed=0 failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for name; do
    printf '%s\n' "--- $name"
    if [ "$name" = scenarios ]; then
        { "$here/scenarios.sh" 2>&1; echo "status $?"; } | tee "$out" | sed '/^status [0-9]*$/d'
        # one more when it failed behind its tests; without musl nothing can run in there, which it has said
        counts=$(awk '/^test result:/ { passed += $4; failed += $6; seen = 1 } /^status / { status = $2 }
            END { if (status == 77) print 0, 0; else if (seen) print passed, failed + (status && !failed) }' "$out")
    elif [ "$name" = first_minutes ]; then
        status=0
        "$here/first_minutes.sh" || status=$?
        case $status in 0) counts='1 0' ;; 77) counts='0 0' ;; *) counts='0 1' ;; esac
    else
        "$here/enter.sh" "tests/real/$name.py" 2>&1 | tee "$out"
        counts=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out")
    fi
    # one that ends without its closing line has failed as a whole
    counts=${counts:-0 1}
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
done
printf '%s\n' '---' "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
