#!/bin/sh
# install.sh: the real agents of the table `programs`, installed once into a cache, with a node and a bun of their own.
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

# A python that every package of PyPI takes; the newest are too new for some.
python() {
    for try in python3.12 python3.13 python3.14 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-4]*/bin/python3; do
        if "$try" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
            "$try" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    return 1
}

# install_uv: uv installs from PyPI, and lets a pin that is gone from there be another
install_uv() {
    [ ! -x "$dir/uv/bin/uv" ] || return 0
    py=$(python) || { say "real agents: no python 3.12 or newer here"; return 1; }
    rm -rf "$dir/uv"
    { "$py" -m venv "$dir/uv" && "$dir/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.8; } \
        </dev/null >"$dir/uv.log" 2>&1 || { say "real agents: no uv: $(tail -n 1 "$dir/uv.log")"; rm -rf "$dir/uv"; return 1; }
}

# from_pypi NAME PACKAGE INSTEAD: into an environment of its own, which cannot be moved once it is made
from_pypi() {
    install_uv && py=$(python) || return 1
    printf '%s\n' "$3" >"$dir/$1.instead"
    if ! { "$dir/uv/bin/uv" venv --quiet --python "$py" "$dir/$1" &&
        "$dir/uv/bin/uv" pip install --quiet --python "$dir/$1/bin/python" --override "$dir/$1.instead" "$2"; } \
        </dev/null >"$dir/$1.log" 2>&1; then
        say "real agents: PyPI's $2 could not be installed: $(grep -m 1 . "$dir/$1.log")"
        return 1
    fi
}

# from_npm NAME PACKAGE: below a prefix of its own
from_npm() {
    need_npm || { say "real agents: no npm here, and it could not be installed"; return 1; }
    mkdir "$dir/$1"
    # Another node than the one these need may run npm here: what a package asks for is not enforced.
    if ! npm install --prefix "$dir/$1" --no-audit --no-fund --no-save --engine-strict=false "$2" \
        </dev/null >"$dir/$1.log" 2>&1; then
        say "real agents: npm could not install $2: $(grep -m 1 '^npm error' "$dir/$1.log" || tail -n 1 "$dir/$1.log")"
        return 1
    fi
}

# install NAME PACKAGE PROGRAM [INSTEAD]: what is pinned, once, and a link to its program in bin
install() {
    home=$dir/$1
    case $2 in
    pypi:*) at=$1/bin/${3##*/} ;;
    *) at=$1/node_modules/$3 ;;
    esac
    if [ ! -f "$home/.stamp" ] || [ "$(cat "$home/.stamp")" != "$2" ]; then
        say "real agents: installing $2"
        rm -rf "$home"
        case $2 in
        pypi:*) from_pypi "$1" "${2#pypi:}" "${4-}" ;;
        *) from_npm "$1" "$2" ;;
        esac || { rm -rf "$home"; return 1; }
        # A wheel may bring a program as a file of its own: below the packages, and not yet one to be run.
        case $3 in
        /*) found=$(find "$home" -path "*/site-packages$3")
            [ -n "$found" ] && chmod +x "$found" && ln -sfn "$found" "$dir/$at" ;;
        esac
        [ -x "$dir/$at" ] || { say "real agents: $2 has no program $3"; rm -rf "$home"; return 1; }
        printf '%s\n' "$2" >"$home/.stamp"
    fi
    # relative, so that the directory can be shown elsewhere
    ln -sfn "../$at" "$dir/bin/$1"
}

there=0
while read -r name package program instead; do
    case $name in '' | '#'*) continue ;; esac
    package=$(printf '%s' "$package" | sed "s/linux-x64/linux-$arch/")
    program=$(printf '%s' "$program" | sed "s/linux-x64/linux-$arch/")
    if install "$name" "$package" "$program" "$instead"; then
        there=$((there + 1))
    else
        rm -f "$dir/bin/$name"
        # without their node no script can run
        [ "$name" != node ] || exit 77
    fi
done <"$here/programs"
[ "$there" -gt 1 ] || skip "none could be installed"
printf '%s\n' "$dir"
