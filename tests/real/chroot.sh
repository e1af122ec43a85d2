#!/bin/sh
# chroot.sh [SUITE]: the directory of a Debian chroot with a real kitty, built once into a cache.
#
# Prints the directory as the last line on stdout and everything else on stderr. SUITE is `forky` (kitty 0.48)
# unless given; `bookworm` (kitty 0.26) is there for the tests with a kitty that is too old.
# Exit 77, with one line why, when it cannot be built here; 0 when the chroot is there.
#
#   KITTYMUX_CACHE        where chroots are kept (else under XDG_CACHE_HOME or ~/.cache)
#   KITTYMUX_QUIET        no line about a chroot that is there already
#   KITTYMUX_TEST_MIRROR  a Debian mirror; without it the one this machine's own apt uses
set -eu

suite=${1:-forky}
packages='kitty xvfb xauth libgl1-mesa-dri libegl1 zsh fish elvish procps openbox xdotool'
# python3 comes with kitty.
case $suite in
forky) want='0\.48\.' ;;
bookworm) want='0\.26\.' ;;
*) want='' ;;
esac

say() { printf '%s\n' "$*" >&2; }
skip() { say "real kitty: $*"; exit 77; }

cache=${KITTYMUX_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/kittymux-test}
dir=$cache/$suite-kitty
# The stamp names what was built, so a changed list of packages builds anew.
spec="2 $suite $packages"

ready() { [ -f "$dir/.stamp" ] && [ "$(head -n 1 "$dir/.stamp")" = "$spec" ]; }
finish() {
    [ -n "${KITTYMUX_QUIET:-}" ] || say "real kitty: $(sed -n 2p "$dir/.stamp") ($suite)"
    printf '%s\n' "$dir"
    exit 0
}

if ready; then finish; fi

[ "$(uname -s)" = Linux ] || skip "needs Linux"
[ "$(id -u)" = 0 ] || skip "needs root (debootstrap and chroot)"
for tool in unshare flock chroot; do
    command -v "$tool" >/dev/null || skip "needs $tool"
done
unshare -m true 2>/dev/null || skip "may not make a mount namespace here"

# Mounts of the build vanish with this namespace, whatever ends it.
if [ "${KITTYMUX_CHROOT_NS:-}" != "$dir" ]; then
    mkdir -p "$cache"
    exec env KITTYMUX_CHROOT_NS="$dir" flock "$cache/.lock" unshare -m sh "$0" "$suite"
fi
# Another build may have finished while we waited for the lock.
if ready; then finish; fi

apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null >&2; }

if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || skip "debootstrap is missing and there is no apt-get"
    apt install --no-install-recommends debootstrap 2>/dev/null ||
        { apt update && apt install --no-install-recommends debootstrap; } ||
        skip "debootstrap is missing and could not be installed"
fi
script=/usr/share/debootstrap/scripts/sid
[ -e "$script" ] || skip "debootstrap has no script $script"

mirror=${KITTYMUX_TEST_MIRROR:-}
if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 2>/dev/null |
        sed -n '/-\(security\|updates\|backports\)/!s/ .*//p' | sed -n 1p)
    if [ -z "$mirror" ]; then
        mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
            /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null |
            grep -v security | sed -n 1p)
    fi
fi
[ -n "$mirror" ] || skip "no Debian mirror in this machine's apt configuration (set KITTYMUX_TEST_MIRROR)"

build=$cache/.build-$suite-$$
clean_up() {
    umount -R -l "$build/dev" "$build/proc" 2>/dev/null || :
    rm -rf --one-file-system "$build" "$build.log"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
rm -rf --one-file-system "$cache/.build-$suite-"*

say "real kitty: building a $suite chroot from this machine's Debian mirror, some minutes …"
if ! debootstrap --no-check-gpg --variant=minbase "$suite" "$build" "$mirror" "$script" >"$build.log" 2>&1; then
    skip "debootstrap $suite failed: $(tail -n 1 "$build.log")"
fi

# Nothing may start a service in there; a mirror that is behind is good enough for a test.
printf '#!/bin/sh\nexit 101\n' >"$build/usr/sbin/policy-rc.d"
chmod 755 "$build/usr/sbin/policy-rc.d"
printf 'Acquire::Check-Valid-Until "false";\nAPT::Install-Recommends "false";\n' >"$build/etc/apt/apt.conf.d/90test"
printf 'force-unsafe-io\n' >"$build/etc/dpkg/dpkg.cfg.d/90test"
mount -t proc proc "$build/proc"
mount --rbind /dev "$build/dev"
for step in "apt-get -qq update" "apt-get -qq -y install $packages" "apt-get -qq clean"; do
    # Words of $step are ours, so splitting is meant.
    # shellcheck disable=SC2086
    if ! DEBIAN_FRONTEND=noninteractive chroot "$build" $step </dev/null >>"$build.log" 2>&1; then
        skip "in the chroot, ${step%% kitty *} failed: $(tail -n 1 "$build.log")"
    fi
done
chroot "$build" useradd --create-home --home-dir /home/user --uid 1234 --user-group --shell /bin/bash user
version=$(LC_ALL=C.UTF-8 chroot "$build" /usr/bin/kitty --version 2>>"$build.log") || version=
umount "$build/proc"
umount -R -l "$build/dev"
[ -n "$version" ] || skip "kitty does not start in the chroot: $(tail -n 1 "$build.log")"
if [ -n "$want" ] && ! printf '%s\n' "$version" | grep -q "^kitty $want"; then
    skip "$suite has '$version', not a version these tests were written for"
fi
printf '%s\n%s\n' "$spec" "$version" >"$build/.stamp"
if [ -d "$dir" ]; then
    rm -rf --one-file-system "$dir"
fi
mv "$build" "$dir"
finish
