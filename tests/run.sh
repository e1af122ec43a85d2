#!/bin/sh
# make test: everything that needs no real kitty. Installs the shells and tools it uses where it can; what cannot run is said.
set -eu
cd "$(dirname "$0")/.."

missing=
for tool in bash zsh fish python3 mandoc; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing:$missing"
        { apt-get update && apt-get install -y --no-install-recommends $missing; } >/dev/null 2>&1 ||
            echo "could not install:$missing (tests with them are left out and say so)"
    else
        echo "not here, and only root can install them:$missing (tests with them are left out and say so)"
    fi
fi

# The members' programs are built first: cargo does not build them for the root's tests.
cargo build --locked --workspace --all-targets
KITTYMUX_TEST_NU=$(tests/nu.sh) || :
export KITTYMUX_TEST_NU
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
cargo test --locked --workspace --no-fail-fast -- --show-output >"$log" 2>&1 || status=$?
cat "$log"
# what a test could not do here, which cargo shows far up
sed -n '/^left out: /p' "$log" | sort -u
awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored; exit !(passed > 0 && failed == 0) }' "$log" || status=1
exit $status
