#!/bin/sh
# enter.sh [OPTION…] CMD [ARG…]: run CMD inside the chroot of chroot.sh, as an ordinary user with a display.
#
#   -e NAME=VALUE   one more variable for CMD (its environment is otherwise empty but for HOME, PATH, LANG, DISPLAY …)
#   -b SRC:NAME     show the machine's file or directory SRC as /mnt/NAME, read-only
#   -x              no display: for what needs none, such as check-session
#
# CMD runs as uid 1234 with HOME=/home/user, in the checkout's own directory shown read-only as /mnt/kittymux.
# /tmp, /home and the process, network and mount tables are its own: nothing leaks in from another run, every process it
# leaves behind ends with it and every mount is gone afterwards, whatever ended it. Its exit status is CMD's.
# KITTYMUX_TEST_SUITE chooses the chroot (`forky` unless set). Exit 77 when there is no chroot and none can be built.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${KITTYMUX_ENTER_DIR:-}" ]; then
    [ $# -gt 0 ] || { echo "usage: enter.sh [-e NAME=VALUE]… [-b SRC:NAME]… [-x] CMD [ARG…]" >&2; exit 2; }
    dir=$(KITTYMUX_QUIET=1 "$here/chroot.sh" "${KITTYMUX_TEST_SUITE:-forky}") || exit $?
    [ "$(id -u)" = 0 ] || { echo "real kitty: entering the chroot needs root" >&2; exit 77; }
    # A private process table ends everything CMD started; private networking keeps abstract sockets apart.
    KITTYMUX_ENTER_DIR=$dir exec unshare --mount --pid --net --fork --kill-child sh "$here/$(basename "$0")" "$@"
fi

root=$KITTYMUX_ENTER_DIR
unset KITTYMUX_ENTER_DIR

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=50% tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/home"
mount -t tmpfs -o mode=755 tmpfs "$root/mnt"
cp -R "$root/etc/skel" "$root/home/user"
chown -R 1234:1234 "$root/home/user"

# show SRC NAME
show() {
    case $2 in '' | */* | . | ..) echo "enter.sh: -b wants SRC:NAME" >&2; exit 2 ;; esac
    if [ -d "$1" ]; then mkdir "$root/mnt/$2"; else : >"$root/mnt/$2"; fi
    mount --bind "$1" "$root/mnt/$2"
    mount -o remount,bind,ro "$root/mnt/$2"
}
show "$(cd "$here/../.." && pwd)" kittymux

display=yes
environ=0
while [ $# -gt 0 ]; do
    case $1 in
    -e) [ $# -ge 2 ] || exit 2
        # Kept behind the command's own words until all options are read.
        environ=$((environ + 1))
        eval "env_$environ=\$2"
        shift 2 ;;
    -b) [ $# -ge 2 ] || exit 2; show "${2%:*}" "${2##*:}"; shift 2 ;;
    -x) display=no; shift ;;
    --) shift; break ;;
    -*) echo "enter.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || { echo "enter.sh: no command" >&2; exit 2; }

while [ $environ -gt 0 ]; do
    eval "set -- \"\$env_$environ\" \"\$@\""
    environ=$((environ - 1))
done

# as_user [NAME=VALUE]… CMD…: with nothing of this machine's environment
as_user() {
    chroot --userspec=1234:1234 --groups= "$root" /usr/bin/env -i -C "$workdir" \
        HOME=/home/user USER=user LOGNAME=user PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
        DISPLAY=:99 LIBGL_ALWAYS_SOFTWARE=1 "$@"
}

workdir=/home/user
if [ $display = yes ]; then
    mkdir -m 1777 "$root/tmp/.X11-unix"
    as_user Xvfb :99 -screen 0 1280x1024x24 -nolisten tcp >/dev/null 2>"$root/tmp/.Xvfb.log" &
    tries=0
    until [ -S "$root/tmp/.X11-unix/X99" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 200 ]; then
            echo "enter.sh: Xvfb did not start" >&2
            cat "$root/tmp/.Xvfb.log" >&2
            exit 1
        fi
        sleep 0.05
    done
    as_user openbox >/dev/null 2>&1 &
fi

workdir=/mnt/kittymux
rc=0
as_user "$@" || rc=$?
exit $rc
