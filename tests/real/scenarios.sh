#!/bin/sh
# scenarios.sh [FILTER…]: the scenarios of tests/it inside the chroot, against the real kitty.
#
# Builds the tests, kittymux and the stand-in agents as static programs, since they run on another system in there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=$(tests/target.sh)
. packaging/static.sh
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
nu=$(tests/nu.sh --static) && cp "$nu" "$stage/nu" || :
# Left out: bad_input and forkless need a kitty that can be told to misbehave, root, or a tracer; docs, properties and
# tidy read this checkout alone; desks runs by itself below; pty is the terminal of prompt.
all=
[ $# -gt 0 ] || { all=yes; set -- autosave:: check:: elsewhere:: exit:: first_use:: generations:: gone:: hook:: identity:: journal:: offered:: prompt:: rewrite_files:: scenarios:: setup::plain_saves:: shapes:: shells:: stale:: strings:: unforgiven:: workspaces::; }
# Two processors: more than two kitties at once only slow each other down. Afterwards kitty's own parser is asked about
# every file that was written, and about those of the random desks.
"$here/enter.sh" -b "$stage:stage" -e KITTYMUX_TEST_REAL=1 -e KITTYMUX_TEST_BIN=/mnt/stage/kittymux \
    -e KITTYMUX_TEST_AGENT=/mnt/stage/fake-agent -e KITTYMUX_TEST_NU=/mnt/stage/nu \
    -e KITTYMUX_TEST_DUMP=/tmp/saves -e RUST_BACKTRACE=0 -e ALL=$all sh -c '
        mkdir /tmp/saves
        status=0
        /mnt/stage/it --test-threads=2 "$@" || status=1
        /mnt/stage/it --quiet desks >/dev/null || status=1
        find /tmp/saves -name "*.kitty-session" -print0 | xargs -0 kitty +launch tests/real/check-session >/tmp/verdicts || status=1
        accepted=$(grep -c "\"ok\": true.*\"launch_errors\": \[\]" /tmp/verdicts)
        all=$(find /tmp/saves -name "*.kitty-session" | wc -l)
        grep -v "\"ok\": true.*\"launch_errors\": \[\]" /tmp/verdicts | cut -c1-300
        echo "kitty accepts $accepted of $all files"
        [ "$accepted" = "$all" ] && [ "$all" -gt 0 ] || status=1
        [ -z "$ALL" ] || python3 tests/real/forty_prompts.py || status=1
        exit $status' scenarios "$@"
