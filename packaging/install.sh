#!/bin/sh
# install.sh install|uninstall: puts everything below $DESTDIR$PREFIX (default /usr/local), or takes exactly that away.
#
# BINARY is the program to install. HOST_BINARY, when that was built for another machine, is one that runs here: it
# prints the manual page. UNITS is what starts kittymux by itself: systemd, launchd, both or nothing.
set -eu

top=$(cd "$(dirname "$0")" && pwd)
[ -f "$top/README.md" ] || top=${top%/*}
what=${1-}
prefix=${PREFIX:-/usr/local}
binary=${BINARY:-$top/kittymux}
case $(uname -s) in Darwin) units=launchd ;; *) units=systemd ;; esac
units=${UNITS-$units}

fail() { echo "install.sh: $*" >&2; exit 1; }

case $what in install | uninstall) ;; *)
    echo "usage: PREFIX=/usr/local DESTDIR= $0 install|uninstall" >&2
    exit 2
    ;;
esac
# The units hold this path, and systemd starts no program with these in its name.
case $prefix in
*[\"\'\\\$]* | *[[:cntrl:]]*) fail "a prefix with quotes, backslashes, dollars or control characters cannot be used" ;;
/*) ;;
*) fail "PREFIX must be an absolute path" ;;
esac
root=${DESTDIR-}$prefix

# put MODE FILE PLACE: one file into its place, or that place emptied.
put() {
    if [ "$what" = install ]; then
        mkdir -p "$root/${3%/*}"
        # Beside, then over it: whoever runs the old program keeps it.
        install -m "$1" "$2" "$root/$3.new" && mv -f "$root/$3.new" "$root/$3"
    else
        rm -f "$root/$3"
    fi
}

# filled FILE PATH: FILE with the program's path in it, as its reader wants it written.
filled() {
    path=$(printf '%s' "$2" | sed 's/[\\&|]/\\&/g')
    sed "s|@KITTYMUX@|$path|" "$1" >"$temp/${1##*/}"
}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
if [ "$what" = install ]; then
    [ -f "$binary" ] || fail "there is no program to install: run make build first"
    if [ -f "$top/kittymux.1" ]; then
        cp "$top/kittymux.1" "$temp/kittymux.1"
    else
        "${HOST_BINARY:-$binary}" man >"$temp/kittymux.1" ||
            fail "the program does not run here: give one that does as HOST_BINARY, for the manual page"
    fi
    filled "$top/assets/systemd/kittymux.service" "\"$(printf '%s' "$prefix/bin/kittymux" | sed 's/%/%%/g')\""
    filled "$top/assets/launchd/io.github.kittymux.tick.plist" \
        "$(printf '%s' "$prefix/bin/kittymux" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')"
fi

put 755 "$binary" bin/kittymux
put 644 "$temp/kittymux.1" share/man/man1/kittymux.1
put 644 "$top/assets/completions/kittymux.bash" share/bash-completion/completions/kittymux
put 644 "$top/assets/completions/_kittymux" share/zsh/site-functions/_kittymux
put 644 "$top/assets/completions/kittymux.fish" share/fish/vendor_completions.d/kittymux.fish
# Taken away are those of every system.
[ "$what" = uninstall ] && units="systemd launchd"
for unit in $units; do
    case $unit in
    systemd)
        put 644 "$temp/kittymux.service" lib/systemd/user/kittymux.service
        put 644 "$top/assets/systemd/kittymux.timer" lib/systemd/user/kittymux.timer
        ;;
    launchd)
        put 644 "$temp/io.github.kittymux.tick.plist" share/kittymux/launchd/io.github.kittymux.tick.plist
        ;;
    *) fail "UNITS can be systemd and launchd, not $unit" ;;
    esac
done
for name in LICENSE-MIT LICENSE-APACHE; do
    put 644 "$top/$name" "share/licenses/kittymux/$name"
done
for file in "$top/README.md" "$top/CHANGELOG.md" "$top"/docs/*.md; do
    put 644 "$file" "share/doc/kittymux/${file##*/}"
done

if [ "$what" = uninstall ]; then
    for dir in share/kittymux/launchd share/kittymux share/licenses/kittymux share/doc/kittymux; do
        [ ! -d "$root/$dir" ] || rmdir "$root/$dir" 2>/dev/null || echo "kept: $root/$dir is not empty" >&2
    done
fi
