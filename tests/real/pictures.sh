#!/bin/sh
# pictures.sh: the pictures of docs/images, anew, from a real kitty with 80 columns in the chroot of chroot.sh.
#
# What is on them is what kittymux of this checkout prints; the home and the talks are made up. Exit 77, with one line
# why, where there is no chroot or no font.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
skip() { echo "pictures: $*" >&2; exit 77; }
target=$(tests/target.sh)
. packaging/static.sh
[ -n "$target" ] || skip "no musl target here, so nothing can be built for the chroot"
"$here/enter.sh" -x true || exit $?

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
mkdir "$stage/fonts" "$stage/bin"

# The chroot has no letters: those of this machine, else of Debian's package, without installing it.
font=DejaVuSansMono
from=/usr/share/fonts/truetype/dejavu
if [ -e $from/$font.ttf ]; then
    cp $from/$font.ttf $from/$font-Bold.ttf "$stage/fonts/"
else
    root=$(KITTYMUX_QUIET=1 "$here/chroot.sh")
    # Its arguments are the inner shell's.
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs tmpfs "$1/tmp" && mount -t proc proc "$1/proc" &&
        chroot "$1" sh -c "cd /tmp && apt-get -qq update && apt-get -qq download fonts-dejavu-mono && dpkg-deb -x *.deb x" >/dev/null 2>&1 &&
        find "$1/tmp/x" -name "DejaVuSansMono*.ttf" -exec cp {} "$2" \;' sh "$root" "$stage/fonts" || :
    [ -e "$stage/fonts/$font.ttf" ] || skip "no DejaVu Sans Mono, here or in Debian's archive"
fi

cargo build --locked --quiet --release --target "$target" -p kittymux -p fake-agents
built=${CARGO_TARGET_DIR:-target}/$target/release
cp "$built/kittymux" "$built/fake-agent" "$stage/bin/"
mkdir -p docs/images
"$here/enter.sh" -x -b "$stage:stage" -e FONTS=/mnt/stage/fonts python3 tests/real/pictures.py >"$stage/pictures.tar"
tar -x -f "$stage/pictures.tar" -C docs/images
wc -c docs/images/*.png
