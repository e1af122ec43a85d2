#!/bin/sh
# first_minutes.sh: a new user's first minutes with kittymux, in a real kitty: unpack the release archive, set it up,
# work with an agent, quit kitty, open it again. Prints the transcript, with every key counted and the time of each step.
#
# Nothing helps the user: a home as the system makes it, the keys go through the X server. Exit 0 when the agent came
# back on its conversation; 77, with one line why, where there is no chroot.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=$(tests/target.sh)
. packaging/static.sh
[ -n "$target" ] || { echo "first minutes: no musl target here, so nothing can be built for the chroot" >&2; exit 77; }
"$here/enter.sh" -x true || exit $?

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
from=$(date +%s)
archive=${ARCHIVE-}
if [ -z "$archive" ]; then
    TARGET=$target packaging/dist.sh >"$stage/said" 2>&1 || { cat "$stage/said" >&2; exit 1; }
    archive=$(tail -n 1 "$stage/said")
fi
cargo build --locked --quiet --target "$target" -p fake-agents
cp "$archive" "$stage/"
cp "${CARGO_TARGET_DIR:-target}/$target/debug/fake-agent" "$stage/claude"
echo "(building the archive took $(($(date +%s) - from)) s, which is not counted below)"
"$here/enter.sh" -b "$stage:stage" python3 tests/real/first_minutes.py "/mnt/stage/${archive##*/}"
