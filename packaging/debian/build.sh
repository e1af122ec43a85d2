#!/bin/sh
# make deb: dist/kittymux_<version>_<architecture>.deb from the release build; lintian looks at it where it is installed.
set -eu
cd "$(dirname "$0")/../.."
. packaging/common.sh

command -v dpkg-deb >/dev/null 2>&1 || { echo "left out: dpkg-deb is not installed here"; exit 0; }
binary=${BINARY:-$(cat target/built 2>/dev/null || true)}
[ -x "$binary" ] || { echo "run make build first" >&2; exit 1; }
arch=${DEB_ARCH:-$(dpkg --print-architecture)}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/kittymux
DESTDIR=$root PREFIX=/usr BINARY=$binary UNITS=systemd packaging/install.sh install

# Debian's own places: zsh's completions, the licences as one file, what changed under its own name.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_kittymux" "$root/usr/share/zsh/vendor-completions/"
rm -r "$root/usr/share/zsh/site-functions" "$root/usr/share/licenses"
doc=$root/usr/share/doc/kittymux
who="${DEBFULLNAME:-The kittymux authors} <${DEBEMAIL:-kittymux@localhost}>"
cp packaging/debian/copyright "$doc/copyright"
gzip -n -9 "$doc/CHANGELOG.md" && mv "$doc/CHANGELOG.md.gz" "$doc/changelog.gz"
printf 'kittymux (%s) unstable; urgency=medium\n\n  * Version %s; what changed is in changelog.gz.\n\n -- %s  %s\n' \
    "$version-1" "$version" "$who" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -n -9 >"$doc/changelog.Debian.gz"
gzip -n -9 "$root/usr/share/man/man1/kittymux.1"
mkdir -p "$root/usr/share/lintian/overrides"
cp packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/kittymux"

mkdir "$root/DEBIAN"
size=$(du -sk "$root/usr" | cut -f1)
who_text=$(printf '%s' "$who" | sed 's/[\\&|]/\\&/g')
sed -e "s/@VERSION@/$version-1/; s/@ARCH@/$arch/; s/@SIZE@/$size/; s|@WHO@|$who_text|" packaging/debian/control >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p dist
deb=dist/kittymux_$version-1_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$deb" >/dev/null
echo "$deb"
if command -v lintian >/dev/null 2>&1; then
    as_root=
    [ "$(id -u)" = 0 ] && as_root=--allow-root
    # Those for packages on their way into Debian do not count here.
    less=initial-upload-closes-no-bugs
    if [ -z "${DEBEMAIL-}" ]; then
        echo "no DEBEMAIL is set, so the package names no address of its maker"
        less=$less,bogus-mail-host,bogus-mail-host-in-debian-changelog
    fi
    lintian $as_root --suppress-tags "$less" --fail-on error,warning "$deb"
else
    echo "left out: lintian is not installed here"
fi
