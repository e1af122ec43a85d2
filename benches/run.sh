#!/bin/sh
# make bench: measures what the budget names. --write: also writes bench/RESULTS.md. Timing never makes it fail.
set -eu
cd "$(dirname "$0")/.."

write=
[ "${1-}" = --write ] && { mkdir -p bench; write=bench/RESULTS.md; }
tests/target.sh --say
. packaging/static.sh
target=$(tests/target.sh)
out=${CARGO_TARGET_DIR:-target}
release=$out/${target:+$target/}release
cargo build --quiet --locked --release ${target:+--target "$target"}
# What stands in for kitty and the agents are programs of this system's own.
cargo build --quiet --locked --release -p fake-kitty -p fake-agents
cargo bench --quiet --locked ${target:+--target "$target"} --bench budget --no-run

empty=$out/empty
mkdir -p "$empty"
c=
if command -v musl-gcc >/dev/null 2>&1; then
    musl-gcc -O2 -s -static -o "$empty/c" benches/empty/empty.c && c=$empty/c
fi
rust=
if [ -n "$target" ]; then
    rustc --edition 2024 --target "$target" -C opt-level=s -C panic=abort -C lto -C strip=symbols \
        -o "$empty/rust" benches/empty/empty.rs && rust=$empty/rust
fi

# Measured as installed: a file that was copied in one go lies in memory in larger pieces than one a
# linker wrote, and starts faster.
installed=$out/installed
rm -rf "$installed"
mkdir -p "$installed"
install -m 755 "$release/kittymux" "$installed/kittymux"
for program in c rust; do
    [ ! -x "$empty/$program" ] || install -m 755 "$empty/$program" "$installed/$program"
done
[ -z "$c" ] || c=$installed/c
[ -z "$rust" ] || rust=$installed/rust

# Other people's processes and kitties are no part of it: with the rights for it, it has its own process list.
alone="unshare --pid --net --fork --mount-proc"
if $alone true 2>/dev/null; then
    echo "measured in a process list of its own, with 200 idle programs beside"
else
    alone=
    echo "measured among all processes of this machine (no rights for a process list of its own)"
fi
full() { case $1 in '' | /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac }
exec $alone cargo bench --quiet --locked ${target:+--target "$target"} --bench budget -- \
    --kittymux "$(full "$installed/kittymux")" --kitty "$(full "$out/release/fake-kitty")" \
    --agent "$(full "$out/release/fake-agent")" --empty-c "$(full "$c")" --empty-rust "$(full "$rust")" \
    --idle "${alone:+200}" --real benches/real-kitty.md --write "$write"
