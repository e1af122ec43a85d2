#!/bin/sh
# user_manager.sh HOME CMD [ARG…]: run CMD beside a systemd user manager of its own, both as uid 1234 with that home.
#
# Needs root, systemd, python3 and control groups that may be written. What the manager and its units would write to the
# journal is in HOME/journal, as its protocol has it. Its processes, mounts and control groups are its own and end with
# it; nothing of this machine's systemd, where there is one, is touched. Exit 77, with one line why, where it cannot be.
set -eu

home=$1
shift
skip() { echo "left out: $*" >&2; exit 77; }

case ${KITTYMUX_MANAGER_STEP:-begin} in
begin)
    [ "$(id -u)" = 0 ] || skip "only root can start a systemd user manager apart"
    for tool in unshare setpriv systemctl python3; do
        command -v "$tool" >/dev/null || skip "no systemd user manager without $tool"
    done
    [ -x /lib/systemd/systemd ] || skip "no systemd user manager here"
    unshare --cgroup --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces for a systemd user manager here"
    trees=
    for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
        [ -f "$tree/cgroup.procs" ] || continue
        mkdir "$tree/kittymux-test-$$" 2>/dev/null || continue
        trees="$trees $tree"
    done
    [ -n "$trees" ] || skip "no control groups for a systemd user manager here"
    # In there are this shell and what it starts; it leaves before they are removed.
    status=0
    for tree in $trees; do
        echo $$ 2>/dev/null >"$tree/kittymux-test-$$/cgroup.procs" || status=77
    done
    [ $status = 0 ] || echo "left out: no control groups for a systemd user manager here" >&2
    [ $status != 0 ] || KITTYMUX_MANAGER_STEP=mount KITTYMUX_MANAGER_TREES=$trees \
        unshare --cgroup --mount --pid --fork --kill-child --mount-proc "$0" "$home" "$@" || status=$?
    for tree in $trees; do
        echo $$ 2>/dev/null >"$tree/cgroup.procs" || :
        find "$tree/kittymux-test-$$" -depth -type d -exec rmdir {} \; 2>/dev/null || :
    done
    exit $status
    ;;
mount)
    mount -t tmpfs tmpfs /run 2>/dev/null || skip "no mounts for a systemd user manager here"
    # systemd believes that the machine was booted with it when this is there.
    mkdir -p /run/systemd/system /run/systemd/journal /run/user/1234
    mount -t tmpfs tmpfs /sys/fs/cgroup
    case $KITTYMUX_MANAGER_TREES in
    *systemd*)
        mkdir /sys/fs/cgroup/systemd /sys/fs/cgroup/unified
        mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd 2>/dev/null ||
            skip "no control groups for a systemd user manager here"
        mount -t cgroup2 none /sys/fs/cgroup/unified 2>/dev/null || rmdir /sys/fs/cgroup/unified
        ;;
    *) mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || skip "no control groups for a systemd user manager here" ;;
    esac
    for tree in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
        [ ! -f "$tree/cgroup.procs" ] || chown 1234:1234 "$tree" "$tree/cgroup.procs"
    done
    chown -R 1234:1234 "$home" /run/user/1234 /run/systemd/journal
    chmod 700 /run/user/1234
    exec env -i KITTYMUX_MANAGER_STEP=run PATH="$PATH" HOME="$home" USER=user XDG_RUNTIME_DIR=/run/user/1234 \
        setpriv --reuid 1234 --regid 1234 --clear-groups "$0" "$home" "$@"
    ;;
run)
    unset KITTYMUX_MANAGER_STEP
    python3 -c '
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s, open(sys.argv[1], "ab", 0) as f:
    s.bind("/run/systemd/journal/socket")
    while True:
        f.write(s.recv(1 << 16))
' "$home/journal" &
    tries=0
    until [ -S /run/systemd/journal/socket ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || skip "python3 cannot stand in for the journal here"
        sleep 0.1
    done
    /lib/systemd/systemd --user --log-target=journal >"$home/manager.log" 2>&1 </dev/null &
    manager=$!
    tries=0
    until systemctl --user is-system-running >/dev/null 2>&1; do
        kill -0 $manager 2>/dev/null || skip "a systemd user manager ends at once here"
        tries=$((tries + 1))
        [ $tries -lt 100 ] || skip "a systemd user manager does not come up here"
        sleep 0.1
    done
    status=0
    "$@" || status=$?
    kill $manager
    exit $status
    ;;
esac
