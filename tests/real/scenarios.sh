#!/bin/sh
# scenarios.sh [FILTER…]: the scenarios of tests/it inside the chroot, against the real kitty.
#
# Builds the tests, kittymux and the stand-in agents as static programs, since they run on another system in there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=$(tests/target.sh)
[ -n "$target" ] || { echo "real kitty: no musl target here, so the tests cannot be built for the chroot"; exit 77; }
"$here/enter.sh" -x true || exit $?

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
cargo build --locked --quiet --target "$target" -p kittymux -p fake-agents
test=$(cargo test --locked --no-run --target "$target" -p kittymux --test it --message-format short 2>&1 |
    sed -n 's/^ *Executable .*(\(.*\))$/\1/p')
built=${CARGO_TARGET_DIR:-target}/$target/debug
cp "$built/kittymux" "$built/fake-agent" "$stage/"
cp "$test" "$stage/it"
[ $# -gt 0 ] || set -- scenarios
# Two processors: more than two kitties at once only slow each other down.
"$here/enter.sh" -b "$stage:stage" -e KITTYMUX_TEST_REAL=1 -e KITTYMUX_TEST_BIN=/mnt/stage/kittymux \
    -e KITTYMUX_TEST_AGENT=/mnt/stage/fake-agent -e RUST_BACKTRACE=0 /mnt/stage/it --test-threads=2 "$@"
