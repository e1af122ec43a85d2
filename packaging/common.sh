#!/bin/sh
# Read by the other scripts here: version, time of the files, and how an archive is packed.
# shellcheck disable=SC2034

cargo=${CARGO:-cargo}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
target_dir=${CARGO_TARGET_DIR:-target}
if [ -z "${SOURCE_DATE_EPOCH-}" ] && [ -e .git ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=
fi
# A source archive has the time of its commit on every file.
[ -n "${SOURCE_DATE_EPOCH-}" ] ||
    SOURCE_DATE_EPOCH=$(stat -c %Y Cargo.toml 2>/dev/null || stat -f %m Cargo.toml)
export SOURCE_DATE_EPOCH

# pack DIR NAME: dist/NAME.tar.gz of DIR/NAME, and its checksum. Order, owners, modes and times are always the same.
pack() {
    tar=tar
    command -v gtar >/dev/null 2>&1 && tar=gtar
    "$tar" --version 2>/dev/null | grep -q GNU || { echo "GNU tar is needed (gtar)" >&2; exit 1; }
    mkdir -p dist
    LC_ALL=C "$tar" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
        --format=ustar -C "$1" -cf - "$2" | gzip -n -9 >"dist/$2.tar.gz"
    if command -v sha256sum >/dev/null 2>&1; then sum=sha256sum; else sum="shasum -a 256"; fi
    (cd dist && $sum "$2.tar.gz" >"$2.tar.gz.sha256")
}
