#!/bin/sh
# make dist: dist/kittymux-v<version>-<target>.tar.gz and its .sha256, the same bytes wherever they are built.
#
# TARGET is what to build for (default: the static target of this machine). SOURCE_DATE_EPOCH is the time of all files
# in it (default: that of the commit, or of the source archive).
set -eu
cd "$(dirname "$0")/.."
. packaging/common.sh
. packaging/static.sh

target=${TARGET:-$(tests/target.sh)}
host=$(rustc -vV | sed -n 's/^host: //p')
[ -n "$target" ] || { target=$host; echo "no musl target here: building for $target, with this system's own C library"; }
name=kittymux-v$version-$target

# No path of this machine in the program, whatever is in it.
sep=$(printf '\037')
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo$sep--remap-path-prefix=$PWD=/kittymux"
case $target in
*-unknown-linux-musl)
    # shellcheck disable=SC2154 # static.sh sets it
    CARGO_ENCODED_RUSTFLAGS=$CARGO_ENCODED_RUSTFLAGS$sep$(printf '%s' "$static_flags" | tr ' ' '\037')
    ;;
esac
export CARGO_ENCODED_RUSTFLAGS
unset RUSTFLAGS
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_STRIP=true CARGO_INCREMENTAL=0
case $target in
"${host%%-*}"-*) ;;
# For another machine: musl comes with the target, and the compiler's own linker needs nothing else.
*-linux-musl)
    linker=CARGO_TARGET_$(printf '%s' "$target" | tr 'a-z-' 'A-Z_')_LINKER
    eval "$linker=\${$linker:-rust-lld}"
    # shellcheck disable=SC2163
    export "$linker"
    ;;
esac
"$cargo" build --locked --release --target "$target"
built=$target_dir/$target/release/kittymux

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name/assets"
cp "$built" "$stage/$name/kittymux"
if ! "$built" man >"$stage/$name/kittymux.1" 2>/dev/null; then
    "$cargo" run --quiet --locked -- man >"$stage/$name/kittymux.1"
fi
cp -R assets/completions assets/systemd assets/launchd "$stage/$name/assets/"
cp -R docs "$stage/$name/docs"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE packaging/install.sh "$stage/$name/"
pack "$stage" "$name"
echo "dist/$name.tar.gz"
