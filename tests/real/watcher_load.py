#!/usr/bin/env python3
"""What the watcher writes when a real kitty loads it; run inside the chroot:

    tests/real/enter.sh tests/real/watcher_load.py
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, Tally, until  # noqa: E402

WATCHER = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'assets', 'kittymux_watcher.py'))
tally = Tally()


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def listed(path):
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def start_of(pid):
    with open(f'/proc/{pid}/stat') as f:
        return int(f.read().rpartition(')')[2].split()[19])


def boot():
    with open('/proc/sys/kernel/random/boot_id') as f:
        return f.read().replace('-', '')[:8]


def loaded(state, conf=f'watcher {WATCHER}\n', **options):
    return Kitty(conf=conf, env={'KITTYMUX_STATE_DIR': state}, **options)


def what_is_written():
    state = os.path.join(tempfile.mkdtemp(), 'deep', 'state')
    old_umask = os.umask(0)
    try:
        with loaded(state) as k:
            k.ls()
            pid = k.process.pid
            name = f'{boot()}-{pid}-{start_of(pid)}'
            kitties = os.path.join(state, 'kitties')
            tally.check('one file, named by boot, pid and start', listed(kitties) == [name], str(listed(kitties)) + k.messages())
            with open(os.path.join(kitties, name)) as f:
                text = f.read()
            tally.check('one line of JSON', text.count('\n') == 1 and json.loads(text) ==
                        {'v': 1, 'socket': 'unix:' + k.socket, 'pid': pid, 'start': start_of(pid)}, text)
            tally.check('private: file 0600, directories 0700 under umask 0',
                        (mode(os.path.join(kitties, name)), mode(kitties), mode(state)) == (0o600, 0o700, 0o700))
            k.launch(type='os-window')
            k.launch(type='tab')
            tally.check('more windows write nothing more', listed(kitties) == [name])
            fds = [os.readlink(f'/proc/{pid}/fd/{n}') for n in os.listdir(f'/proc/{pid}/fd')]
            tally.check('no descriptor of the directory stays open', not [x for x in fds if x.startswith(state)])
            tally.check('kitty says nothing about it', 'atcher' not in k.messages(), k.messages())
        # The first kitty is gone: the second one's start removes its file, and its torn temp file.
        open(os.path.join(kitties, '.' + name + '.0a0b0c0d'), 'w').close()
        keep = [f'00000000-{pid}-5', 'README', f'{boot()}-x-1', f'{boot()}-{os.getpid()}-{start_of(os.getpid())}']
        for other in keep + [f'{boot()}-{os.getpid()}-1', f'{boot()}-4194303-77']:
            open(os.path.join(kitties, other), 'w').close()
        with loaded(state) as k:
            k.ls()
            mine = f'{boot()}-{k.process.pid}-{start_of(k.process.pid)}'
            tally.check('files of kitties that are gone are removed, others stay', listed(kitties) == sorted(keep + [mine]), str(listed(kitties)))
    finally:
        os.umask(old_umask)


def included_twice():
    state = tempfile.mkdtemp()
    copy = os.path.join(tempfile.mkdtemp(), 'copy.py')
    shutil.copy(WATCHER, copy)
    with loaded(state, f'watcher {WATCHER}\nwatcher {copy}\n') as k:
        path = os.path.join(state, 'kitties')
        k.ls()
        name = listed(path)[0]
        inode = os.stat(os.path.join(path, name)).st_ino
        k.ask('launch', {'args': [], 'watcher': [copy, WATCHER]})
        time.sleep(0.3)
        tally.check('included twice and as a copy: one file, written once', listed(path) == [name] and os.stat(os.path.join(path, name)).st_ino == inode)
    tally.check('a loose state directory is tightened', mode(state) == 0o700)


def places():
    base = tempfile.mkdtemp()
    with Kitty(conf=f'watcher {WATCHER}\n', env={'XDG_STATE_HOME': base}) as k:
        k.ls()
        tally.check('under XDG_STATE_HOME', len(listed(os.path.join(base, 'kittymux', 'kitties'))) == 1)
    for what, env in (('without it', {}), ('where it is relative', {'XDG_STATE_HOME': 'state'})):
        with Kitty(conf=f'watcher {WATCHER}\n', env=env) as k:
            k.ls()
            tally.check(f'{what}, under ~/.local/state', len(listed(os.path.join(k.home, '.local', 'state', 'kittymux', 'kitties'))) == 1)


def nothing_to_write():
    state = os.path.join(tempfile.mkdtemp(), 'state')
    with loaded(state, listen=False) as k:
        until(lambda: subprocess.run(['pgrep', '-P', str(k.process.pid)], capture_output=True).stdout, 5)
        time.sleep(0.5)
        tally.check('no socket, no file, and kitty runs', not listed(os.path.join(state, 'kitties')) and k.process.poll() is None, k.messages())
    # Directories that are not ours to write in: a link, somebody else's, a file, one that is missing and cannot be made.
    base = tempfile.mkdtemp()
    elsewhere = tempfile.mkdtemp()
    link, linked = os.path.join(base, 'link'), os.path.join(base, 'linked')
    os.symlink(elsewhere, link)
    os.mkdir(linked)
    os.symlink(elsewhere, os.path.join(linked, 'kitties'))
    a_file = os.path.join(base, 'file')
    open(a_file, 'w').close()
    for what, path in (('a link', link), ('a link below', linked), ('a file', a_file), ('/usr/share', '/usr/share'), ('/proc/x', '/proc/x')):
        with loaded(path) as k:
            answered = len(k.windows()) == 1
            tally.check(f'state directory is {what}: nothing written, kitty runs, no word in its log',
                        answered and not listed(elsewhere) and not os.path.exists('/usr/share/kitties') and 'atcher' not in k.messages(), k.messages())


what_is_written()
included_twice()
places()
nothing_to_write()
sys.exit(tally.close())
