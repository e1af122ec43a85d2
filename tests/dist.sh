#!/bin/sh
# make dist-test: the release archive, built in two places with two cargo homes: the same bytes, static, no path of this
# machine in it, and it starts where nothing else is. Then the source archive, built without a network. --once: builds
# the release only here and the source archive not at all, and says what that leaves out.
set -eu
cd "$(dirname "$0")/.."
. packaging/common.sh

fail() { echo "dist: $*" >&2; exit 1; }
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

packaging/dist.sh
# shellcheck disable=SC2012
archive=$(ls -t dist/kittymux-v"$version"-*.tar.gz | head -n 1)
if [ "${1-}" = --once ]; then
    echo "left out: a second build in another place, which must give the same bytes (make dist-test)"
else
    mkdir "$temp/a place with another name" "$temp/cargo home"
    git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - |
        tar -C "$temp/a place with another name" -xf -
    home=${CARGO_HOME:-$HOME/.cargo}
    # What it has downloaded, and how it is set up, but at another path.
    for part in registry config.toml env; do
        [ ! -e "$home/$part" ] || cp -R "$home/$part" "$temp/cargo home/"
    done
    env -u CARGO_TARGET_DIR CARGO_HOME="$temp/cargo home" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
        PATH="$home/bin:$PATH" "$temp/a place with another name/packaging/dist.sh"
    cmp "$archive" "$temp/a place with another name/$archive" || fail "another place gives other bytes"
    echo "the same bytes in two places: $(cut -d' ' -f1 "$archive.sha256")"
fi

(cd dist && if command -v sha256sum >/dev/null 2>&1; then sha256sum --quiet -c "${archive##*/}.sha256"; else
    shasum -a 256 --quiet -c "${archive##*/}.sha256"; fi) || fail "the checksum does not fit"
tar --numeric-owner -tvf "$archive" | awk '$2 != "0/0" { exit 1 }' || fail "a file has an owner"
tar -tf "$archive" >"$temp/names"
LC_ALL=C sort -c "$temp/names" || fail "the files are not sorted"
tar -C "$temp" -xf "$archive"
top=$temp/$(head -n 1 "$temp/names" | cut -d/ -f1)
for name in kittymux kittymux.1 install.sh README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE docs/settings.md \
    assets/completions/kittymux.bash assets/completions/_kittymux assets/completions/kittymux.fish \
    assets/systemd/kittymux.service assets/systemd/kittymux.timer assets/launchd/io.github.kittymux.tick.plist; do
    [ -f "$top/$name" ] || fail "$name is missing"
done
for path in "$PWD" "${CARGO_HOME:-$HOME/.cargo}" "$temp"; do
    ! grep -aqF "$path/" "$top/kittymux" || fail "$path is in the program"
done
DESTDIR=$temp/installed PREFIX=/usr "$top/install.sh" install
cmp -s "$temp/installed/usr/bin/kittymux" "$top/kittymux" || fail "install.sh installs another program"

case $archive in
*-linux-musl.tar.gz)
    if command -v file >/dev/null 2>&1; then
        file -b "$top/kittymux" | grep -q 'static' || fail "it is not static: $(file -b "$top/kittymux")"
    else
        echo "left out: file is not installed here"
    fi
    # ldd names what a program needs; of a static one it says that there is nothing.
    ! ldd "$top/kittymux" 2>/dev/null | grep -q '=>' || fail "it needs libraries"
    mkdir "$temp/empty"
    cp "$top/kittymux" "$temp/empty/"
    if [ "$(id -u)" = 0 ]; then alone=chroot; else alone="unshare --user --map-root-user chroot"; fi
    if $alone "$temp/empty" /kittymux --version >"$temp/said" 2>/dev/null; then
        [ "$(cat "$temp/said")" = "kittymux $version" ] || fail "in an empty root it says $(cat "$temp/said")"
        $alone "$temp/empty" /kittymux man | cmp -s - "$top/kittymux.1" || fail "it prints another page there"
        echo "static, and it starts in an empty root"
    else
        [ "$(id -u)" != 0 ] || fail "it does not start in an empty root"
        echo "left out: only root can start it in an empty root here"
    fi
    ;;
*) echo "left out: it is static on Linux with musl only" ;;
esac

packaging/source.sh
tar -C "$temp" -xf "dist/kittymux-$version-source.tar.gz"
alone="unshare --net"
$alone true 2>/dev/null || { alone=; echo "left out: taking the network away (only root can)"; }
# Nothing is looked up but what is in the archive: a cargo home with nothing in it.
offline() {
    (cd "$temp/kittymux-$version-source" &&
        $alone env -u CARGO_TARGET_DIR CARGO_HOME="$temp/no home" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
            PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH" "$cargo" "$@" --locked --offline)
}
if [ "${1-}" = --once ]; then
    offline metadata --format-version 1 >/dev/null || fail "the source archive lacks something"
    echo "left out: building the source archive (make dist-test); all that Cargo.lock names is in it"
else
    offline build || fail "the source archive does not build by itself"
    "$temp/kittymux-$version-source/target/debug/kittymux" --version >/dev/null || fail "what it builds does not start"
    echo "the source archive builds without a network"
fi
size=$(wc -c <"$top/kittymux")
echo "$archive: $(wc -c <"$archive") bytes, the program $size"
