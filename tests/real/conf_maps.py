#!/usr/bin/env python3
"""assets/kittymux.conf in a real kitty: it loads without a word, and every key does what it says; inside the chroot:

    tests/real/enter.sh tests/real/conf_maps.py

The keys are pressed on the X display, as a person does. A stand-in for kittymux notes how it was called.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, Tally, until  # noqa: E402

ASSETS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'assets'))
STAND_IN = '''#!/usr/bin/env python3
import json, os, socket, sys
note = {"args": sys.argv[1:], "listen": os.environ.get("KITTY_LISTEN_ON", ""), "tty": os.isatty(0)}
if note["listen"].startswith("fd:"):
    s = socket.socket(fileno=int(note["listen"][3:]))
    s.sendall(b'\\x1bP@kitty-cmd{"cmd":"ls","version":[0,26,0],"payload":{}}\\x1b' + b'\\x5c')
    got = b""
    while not got.endswith(b'\\x1b' + b'\\x5c'):
        got += s.recv(65536)
    note["os_windows"] = len(json.loads(json.loads(got[12:-2])["data"]))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls"), "a") as f:
    f.write(json.dumps(note) + chr(10))
print("a list of windows")
'''
WAITING = r'''printf '\033]1337;SetUserVar=kittymux_wait=MQ==\007waiting\r\n'; stty raw -echo; x=$(dd bs=1 count=1 2>/dev/null); printf %s "$x" >"$1"'''
tally = Tally()


def configure(state, binary):
    # a path in a map is a shell word, the watcher's is the rest of its line
    with open(os.path.join(ASSETS, 'kittymux.conf')) as f:
        return f.read().replace('@STATE@', state).replace('@KITTYMUX@', shlex.quote(binary))


def press(*keys):
    for key in keys:
        subprocess.run(['xdotool', 'key', '--clearmodifiers', key], check=True)
        time.sleep(0.1)


def complaints(k):
    # the chroot has no D-Bus, which kitty mentions
    return [x for x in k.messages().splitlines() if not re.search('glfw error|systemd user bus', x)]


def windows_named(k, var):
    return [w for w in k.windows() if var in w['user_vars']]


def run(base, what, by_keys):
    os.makedirs(base)
    state, binary = os.path.join(base, 'state'), os.path.join(base, 'kittymux')
    os.makedirs(os.path.join(state, 'kitty'))
    shutil.copy(os.path.join(ASSETS, 'kittymux_watcher.py'), os.path.join(state, 'kitty'))
    os.makedirs(os.path.join(state, 'sessions'))
    with open(os.path.join(state, 'sessions', 'startup.kitty-session'), 'w') as f:
        f.write('# nothing to bring back\n')
    with open(binary, 'w') as f:
        f.write(STAND_IN)
    os.chmod(binary, 0o755)
    included = os.path.join(base, 'kittymux.conf')
    text = configure(state, binary)
    tally.check(f'{what}: no token is left', not re.search('@[A-Z]+@', text), text)
    with open(included, 'w') as f:
        f.write(text)
    maps = dict(re.findall(r'^map (\S+) (.*)$', text, re.M))
    # No --listen-on and no allow_remote_control of the test's own: all of it comes from the file.
    with Kitty(conf=f'include {included}\n', env={'KITTYMUX_STATE_DIR': state}, remote=None, listen=False) as k:
        kitties = os.path.join(state, 'kitties')
        name = until(lambda: next((x for x in (os.listdir(kitties) if os.path.isdir(kitties) else ()) if x[0] != '.'), None), 10)
        if not tally.check(f'{what}: the watcher has written where the socket is', name, k.messages()):
            return
        with open(os.path.join(kitties, name)) as f:
            address = json.load(f)['socket']
        k.socket = address.removeprefix('unix:')
        tally.check(f'{what}: a socket of this kitty in the temporary directory', k.socket == os.path.join(tempfile.gettempdir(), f'kittymux-{k.process.pid}')
                    and os.path.exists(k.socket), address)
        time.sleep(0.5)
        tally.check(f'{what}: no error in the configuration', len(k.windows()) == 1 and not complaints(k), k.messages())

        def calls():
            path = os.path.join(base, 'calls')
            if not os.path.exists(path):
                return []
            with open(path) as f:
                return [json.loads(x) for x in f.read().splitlines()]

        def do(chord):
            if not by_keys:
                return k.act(maps[chord])
            subprocess.run(['xdotool', 'search', '--sync', '--onlyvisible', '--class', 'kitty', 'windowfocus', '--sync'], stdout=subprocess.DEVNULL)
            press(*[x.replace('kitty_mod', 'ctrl+shift') for x in chord.split('>')])

        answer = os.path.join(base, 'answers')
        os.mkdir(answer)
        for n in range(2):
            k.launch('sh', '-c', WAITING, 'sh', os.path.join(answer, str(n)), type='tab')
        until(lambda: len(windows_named(k, 'kittymux_wait')) == 2, 5)
        bystander = k.launch('sh', '-c', 'stty raw -echo; dd bs=1 count=1 2>/dev/null >"$1"', 'sh', os.path.join(answer, 'other'), type='tab')

        do('kitty_mod+m>s')
        until(lambda: len(calls()) == 1, 5)
        tally.check(f'{what}: save', [c['args'] for c in calls()] == [['sessions', 'save']], str(calls()) + k.messages())
        tally.check(f'{what}: with a way to talk to this kitty', calls() and calls()[-1]['listen'].startswith('fd:') and calls()[-1].get('os_windows') == 1, str(calls()))
        do('kitty_mod+m>shift+s')
        until(lambda: len(calls()) == 2, 5)
        tally.check(f'{what}: save all', [c['args'] for c in calls()][1:] == [['sessions', 'save', '--all']], str(calls()))
        do('kitty_mod+m>b')
        until(lambda: len(calls()) == 3, 5)
        tally.check(f'{what}: restore last', [c['args'] for c in calls()][2:] == [['sessions', 'restore', 'last']], str(calls()))
        do('kitty_mod+m>t')
        until(lambda: len(calls()) == 4, 5)
        tally.check(f'{what}: reopen', [c['args'] for c in calls()][3:] == [['sessions', 'reopen']], str(calls()))
        for chord, way in (('kitty_mod+m>n', '--next'), ('kitty_mod+m>shift+n', '--previous')):
            count = len(calls())
            do(chord)
            until(lambda: len(calls()) > count, 5)
            tally.check(f'{what}: switch {way}', [c['args'] for c in calls()][count:] == [['sessions', 'switch', way]], str(calls()))
        do('kitty_mod+m>l')
        shown = until(lambda: windows_named(k, 'kittymux_utility'), 5)
        tally.check(f'{what}: list, in an overlay marked as ours', len(shown) == 1 and shown[0]['title'] == 'kittymux', str(shown)[:300])
        if shown:
            there = until(lambda: 'a list of windows' in k.text(shown[0]['id']) and 'Enter' in k.text(shown[0]['id']), 5)
            tally.check(f'{what}: which stays until Enter', there and k.window(shown[0]['id']), k.text(shown[0]['id']))
            tally.check(f'{what}: on a terminal, with its own socket', calls()[-1]['args'] == ['sessions', 'list'] and calls()[-1]['tty'] and calls()[-1]['listen'] == address, str(calls()[-1]))
            k.ask('send-key', {'match': f'id:{shown[0]["id"]}', 'keys': ['enter']})
            tally.check(f'{what}: and then is gone', until(lambda: not windows_named(k, 'kittymux_utility'), 5))
        do('kitty_mod+m>r')
        until(lambda: len(os.listdir(answer)) >= 2, 5)
        time.sleep(0.3)
        got = {}
        for x in os.listdir(answer):
            with open(os.path.join(answer, x)) as f:
                got[x] = f.read()
        tally.check(f'{what}: resume all reaches the waiting windows and no other', got in ({'0': 'a', '1': 'a'}, {'0': 'a', '1': 'a', 'other': ''}), str(got))
        tally.check(f'{what}: nothing but what was asked for ran', len(calls()) == 7, str(calls()))
        # socket-only: a program in a window has no remote control over its terminal
        asked = os.path.join(base, 'tty-answer')
        k.launch('sh', '-c', 'stty raw -echo; printf \'\\033P@kitty-cmd{"cmd":"ls","version":[0,26,0]}\\033\\\\\' >/dev/tty; dd bs=1 count=90 2>/dev/null >"$1"', 'sh', asked)
        until(lambda: os.path.exists(asked) and os.path.getsize(asked) >= 80, 3)
        with open(asked, errors='replace') as f:
            reply = f.read()
        tally.check(f'{what}: a program in a window is refused over its terminal', 'over a socket only' in reply, repr(reply))
        del bystander
    tally.check(f'{what}: the socket goes with kitty', not os.path.exists(k.socket))


root = tempfile.mkdtemp()
run(os.path.join(root, 'plain'), 'by keys', True)
run(os.path.join(root, "a b's é"), 'odd paths, as actions', False)
sys.exit(tally.close())
