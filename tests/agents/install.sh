#!/bin/sh
# install.sh: the real agents of the table `programs`, installed once into a cache, with a node of their own.
#
# Prints the directory as the last line on stdout, with `bin/NAME` for each agent that is there; everything else goes to
# stderr, one line for each that cannot be had. Exit 77 when there is none at all.
#
#   KITTYMUX_CACHE   where they are kept (else under XDG_CACHE_HOME or ~/.cache)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
say() { printf '%s\n' "$*" >&2; }
skip() { say "real agents: $*"; exit 77; }

cache=${KITTYMUX_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/kittymux-test}
dir=$cache/agents
[ "$(uname -s)" = Linux ] || skip "needs Linux"
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64 | arm64) arch=arm64 ;;
*) skip "no programs for $(uname -m)" ;;
esac

# one at a time; the lock ends with this process
mkdir -p "$dir/bin"
exec 9>"$dir/.lock"
flock 9

need_npm() {
    command -v npm >/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "real agents: installing npm"
    { apt-get -qq -y install --no-install-recommends npm ||
        { apt-get -qq update && apt-get -qq -y install --no-install-recommends npm; }; } </dev/null >/dev/null 2>&1
}

# install NAME PACKAGE PROGRAM: below a prefix of its own, and a link to it in bin
install() {
    home=$dir/$1
    if [ ! -f "$home/.stamp" ] || [ "$(cat "$home/.stamp")" != "$2" ]; then
        need_npm || { say "real agents: no npm here, and it could not be installed"; return 1; }
        say "real agents: installing $2"
        rm -rf "$home" "$home.new"
        mkdir "$home.new"
        # Another node than the one these need may run npm here: what a package asks for is not enforced.
        if ! npm install --prefix "$home.new" --no-audit --no-fund --no-save --engine-strict=false "$2" \
            </dev/null >"$dir/$1.log" 2>&1; then
            say "real agents: npm could not install $2: $(grep -m 1 '^npm error' "$dir/$1.log" || tail -n 1 "$dir/$1.log")"
            rm -rf "$home.new"
            return 1
        fi
        [ -x "$home.new/node_modules/$3" ] || { say "real agents: $2 has no program $3"; return 1; }
        printf '%s\n' "$2" >"$home.new/.stamp"
        mv "$home.new" "$home"
    fi
    # relative, so that the directory can be shown elsewhere
    ln -sfn "../$1/node_modules/$3" "$dir/bin/$1"
}

there=0
while read -r name package program; do
    case $name in '' | '#'*) continue ;; esac
    package=$(printf '%s' "$package" | sed "s/linux-x64/linux-$arch/")
    program=$(printf '%s' "$program" | sed "s/linux-x64/linux-$arch/")
    if install "$name" "$package" "$program"; then
        there=$((there + 1))
    else
        rm -f "$dir/bin/$name"
        # without their node no script can run
        [ "$name" != node ] || exit 77
    fi
done <"$here/programs"
[ "$there" -gt 1 ] || skip "none could be installed"
printf '%s\n' "$dir"
