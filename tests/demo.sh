#!/bin/sh
# make demo: shows the whole round trip in a throw-away home. With the argument `real` the kitty is a real one: in the
# chroot of tests/real where this is root on Linux, else the `kitty` on PATH with a display. Exit 0 when every
# conversation came back.
set -eu
cd "$(dirname "$0")/.."

kind=${1:-stand-in}
case $kind in
stand-in | real) ;;
*) echo "usage: tests/demo.sh [real]" >&2; exit 2 ;;
esac

command -v cargo >/dev/null 2>&1 || { echo "cargo is not here: install Rust first (rustup, or your system's packages)" >&2; exit 1; }
have_python() { command -v python3 >/dev/null 2>&1 && python3 -c 'pass' 2>/dev/null; }

# Root on Linux has the chroot, which is made once; everybody else a kitty and a display of their own.
place=here
if [ "$kind" = real ]; then
    if [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] && tests/real/enter.sh -x true; then
        place=chroot
    elif ! command -v kitty >/dev/null 2>&1; then
        echo "a real kitty needs root on Linux (a Debian chroot is made for it, once) or a kitty on PATH" >&2
        echo "with the bundled stand-in for kitty it can be shown everywhere: make demo" >&2
        exit 1
    elif [ "$(uname -s)" = Linux ] && [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
        echo "kitty is here, but no display to show it on (DISPLAY and WAYLAND_DISPLAY are empty)" >&2
        exit 1
    fi
fi
if [ $place = here ] && ! have_python; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing python3, which tells this story …"
        { apt-get update && apt-get install -y --no-install-recommends python3; } >/dev/null 2>&1 || :
    fi
    have_python || { echo "this demonstration is told by a Python program: install python3 first" >&2; exit 1; }
fi

tests/target.sh --say
target=$(tests/target.sh)
. packaging/static.sh
members='-p kittymux -p fake-agents'
[ "$kind" = real ] || members="$members -p fake-kitty"
echo "building kittymux and what stands in for the agents …"
# The words of $members are ours, so splitting is meant.
# shellcheck disable=SC2086
cargo build --locked --release --quiet ${target:+--target "$target"} $members
out=${CARGO_TARGET_DIR:-target}/${target:+$target/}release

if [ $place = chroot ]; then
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    chmod 755 "$stage"
    cp "$out/kittymux" "$out/fake-agent" "$stage/"
    tests/real/enter.sh -b "$stage:stage" python3 tests/demo/round_trip.py --kitty /usr/bin/kitty \
        --kittymux /mnt/stage/kittymux --agent /mnt/stage/fake-agent
    exit
fi
kitty=$out/fake-kitty
[ "$kind" = stand-in ] || kitty=$(command -v kitty)
exec python3 tests/demo/round_trip.py --kitty "$kitty" --kittymux "$out/kittymux" --agent "$out/fake-agent"
