#!/bin/sh
# run.sh [lines] [talks]: kittymux with the real agents, without an account and without a network; both unless named.
#
#   lines   each command line that we make is one the real CLI understands (fake-kitty, this machine)
#   talks   conversations with the mock come back in a real kitty (the chroot of tests/real)
#
# Prints a line per case, a line for each stage that cannot run, and at the end `N passed, N failed` of all together.
# Exit 77 where there are no agents. Only the installation needs a network; nothing of the person's is read or written.
set -u

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
[ $# -gt 0 ] || set -- lines talks
agents=$("$here/install.sh") || exit $?
command -v python3 >/dev/null || { echo "real agents: no python3 here"; exit 77; }
target=$(tests/target.sh)
. packaging/static.sh
cargo build --locked --quiet ${target:+--target "$target"} -p kittymux -p fake-agents -p fake-kitty || exit 1
built=$(cd "${CARGO_TARGET_DIR:-target}/$target/debug" && pwd)

out=$(mktemp)
stage=$(mktemp -d)
trap 'rm -rf "$out" "$stage"' EXIT
chmod 755 "$stage"

lines() {
    net=
    # A process table of its own ends what the agents leave behind, such as codex's background server.
    for try in 'unshare --net --pid --fork --kill-child --mount-proc' 'unshare -r --net --pid --fork --kill-child --mount-proc'; do
        if $try true 2>/dev/null; then
            net=$try
            break
        fi
    done
    [ -n "$net" ] || echo "lines: no namespaces here: only a dead proxy keeps the agents off the network, and background servers of codex stay"
    $net python3 "$here/loopback.py" python3 -u "$here/lines.py" "$agents" "$built"
}

# As enter.sh does it, but with a loopback interface that is up: the mock listens there.
talks() {
    [ -n "$target" ] || { echo "talks: left out, no musl target here: kittymux cannot be built for the chroot"; return 77; }
    dir=$(KITTYMUX_QUIET=1 tests/real/chroot.sh) || { echo "talks: left out, there is no chroot with a real kitty"; return 77; }
    cp "$built/kittymux" "$stage/"
    KITTYMUX_ENTER_DIR=$dir unshare --mount --pid --net --fork --kill-child \
        python3 "$here/loopback.py" sh tests/real/enter.sh -b "$agents:agents" -b "$stage:stage" tests/agents/talks.py
}

passed=0 failed=0 said=
for name; do
    printf '%s\n' "--- $name"
    { "$name" 2>&1; echo "status $?"; } | tee "$out" | sed -u '/^status [0-9]*$/d'
    status=$(sed -n 's/^status //p' "$out" | tail -n 1)
    [ "$status" != 77 ] || continue
    # one that ends without its closing line has failed as a whole
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out" | tail -n 1)
    counts=${counts:-0 1}
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
    said="$said$(sed -n '/ command lines accepted$/p; / resumed for real/p' "$out")
"
done
printf '%s\n' '---'
printf '%s' "$said"
printf '%s\n' "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
