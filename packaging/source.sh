#!/bin/sh
# make source: dist/kittymux-<version>-source.tar.gz, which `cargo build --locked --offline` builds without a network.
set -eu
cd "$(dirname "$0")/.."
. packaging/common.sh

name=kittymux-$version-source
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/$name"
if [ -e .git ]; then
    git ls-files -z | xargs -0 tar -cf - | tar -C "$stage/$name" -xf -
else
    tar -cf - --exclude=./target --exclude=./dist --exclude=./vendor . | tar -C "$stage/$name" -xf -
fi
config=$stage/$name/.cargo/config.toml
# An archive made from an archive has that of the first in it.
rm -rf "$stage/$name/.cargo"
mkdir "$stage/$name/.cargo"
# What cargo prints at the end is the file that has it read them; with --quiet it prints nothing.
if ! (cd "$stage/$name" && "$cargo" vendor --locked --versioned-dirs vendor >"$stage/sources" 2>"$stage/said"); then
    cat "$stage/said" >&2
    exit 1
fi
cat "$stage/sources" >"$config"
pack "$stage" "$name"
echo "dist/$name.tar.gz"
