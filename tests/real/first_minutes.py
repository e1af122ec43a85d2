#!/usr/bin/env python3
"""The first minutes of a new user, with keys through the X server; run by first_minutes.sh.

To see what a window shows, the first kitty gets a socket on its command line; the later ones have that of kittymux.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, until  # noqa: E402

HOME = os.path.expanduser('~')
# How long a person takes for a key: 40 words a minute.
PER_KEY = 0.3


class Stumbled(Exception):
    """The user did not get further; the text says where."""


class Desk(Kitty):
    """What the user has on the screen."""

    def __init__(self, *words, socket=None):
        self.process = subprocess.Popen(['kitty', *words], cwd=HOME, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.socket = socket or f'/tmp/kittymux-{self.process.pid}'
        if not until(self.accepts, 20):
            raise Stumbled(f'kitty made no socket {self.socket}')

    def screen(self):
        return self.text(next(w['id'] for w in self.windows() if w['is_focused'] or w['is_active']))

    def shows(self, what):
        joined = until(lambda: what in self.screen().replace('\n', '') and self.screen(), 20)
        if not joined:
            raise Stumbled(f'the screen never showed "{what}":\n{self.screen()}')
        return joined


class User:
    def __init__(self):
        self.keys = self.clicks = self.steps = 0
        self.waited = 0.0
        self.desk = None

    def step(self, text):
        self.steps += 1
        print(f'\n{self.steps}. {text}', flush=True)

    def show(self, text):
        for line in text.rstrip().splitlines():
            print('   | ' + line.rstrip())
        sys.stdout.flush()

    def press(self, *keys):
        subprocess.run(['xdotool', 'key', '--clearmodifiers', *keys], check=True)
        self.keys += len(keys)

    def types(self, line, wanted='', show=True):
        """Types a line and Enter, and waits for what it brings; without that, for the next prompt of the shell."""
        if line:
            subprocess.run(['xdotool', 'type', '--delay', '12', line], check=True)
        self.keys += len(line)
        begun = time.monotonic()
        self.press('Return')
        if wanted:
            screen = self.desk.shows(wanted)
        else:
            until(lambda: any(w['last_reported_cmdline'] == line and w['at_prompt'] for w in self.desk.windows()), 20)
            screen = self.desk.screen()
        took = time.monotonic() - begun
        self.waited += took
        n = len(line) + 1
        print(f'   > {line + " " if line else ""}⏎   ({n} key{"s" if n > 1 else ""}, {took:.1f} s)')
        if show:
            self.show(screen)

    def opens(self, why, *words, socket=None):
        self.clicks += 1
        begun = time.monotonic()
        self.desk = Desk(*words, socket=socket)
        took = time.monotonic() - begun
        self.waited += took
        print(f'   > {why}   (1 click, {took:.1f} s)')
        until(lambda: any(w['at_prompt'] for w in self.desk.windows()), 3)
        # The window manager gives it the keyboard.
        until(lambda: any(w['is_focused'] for w in self.desk.windows()), 5)

    def leaves(self, *keys):
        """Presses what ends kitty, and a yes where it asks."""
        self.press(*keys)
        gone = lambda: self.desk.process.poll() is not None  # noqa: E731
        if not until(gone, 2):
            self.press('y')
        if not until(gone, 10):
            raise Stumbled('kitty does not end')


def first_minutes(archive):
    user = User()
    os.makedirs(HOME + '/code/api')
    print(f'A home as the system makes it ({", ".join(sorted(os.listdir(HOME)))}), kitty, and claude on PATH.')
    user.step('The archive is downloaded. Open kitty, unpack it, install it for oneself.')
    user.opens('opens kitty', '-o', 'allow_remote_control=socket-only', '--listen-on', 'unix:/tmp/first', socket='/tmp/first')
    shutil.copy(archive, HOME)
    name = os.path.basename(archive)
    directory = name.removesuffix('.tar.gz')
    user.types(f'tar xf {name[:10]}*', show=False)
    user.types(f'cd {directory[:10]}*/', show=False)
    user.types('PREFIX=~/.local ./install.sh install', show=False)
    if not os.path.exists(HOME + '/.local/bin/kittymux'):
        raise Stumbled('nothing was installed')
    installed = user.keys
    user.step('Set it up.')
    user.types('clear; ~/.local/bin/kittymux setup', '[e]ach asked for:')
    user.types('y', 'looks whether all is well')
    # What claude does with its settings, the stand-in does by a variable.
    with open(HOME + '/.claude/settings.json') as f:
        os.environ['FAKE_AGENT_HOOK'] = json.load(f)['hooks']['Stop'][0]['hooks'][0]['command']
    user.step('Close kitty, open it again: from now on everything is by itself.')
    user.leaves('ctrl+d')
    user.opens('opens kitty')
    ready = user.keys
    user.step('Work with claude.')
    user.types('cd code/api', show=False)
    user.types('claude --model opus', '(new)', show=False)
    user.types('the login test fails', 'heard the login test fails')
    sid = re.search(r'conversation ([0-9a-f-]{36})', user.desk.screen().replace('\n', '')).group(1)
    user.step('The evening: close the window with alt+F4, and say the yes that kitty asks for.')
    user.leaves('alt+F4')
    before = user.keys
    offered = time.monotonic()
    startup = HOME + '/.local/state/kittymux/sessions/startup.kitty-session'
    if not until(lambda: sid in open(startup).read(), 15):
        seen = subprocess.run(['sh', '-c', 'cd ~/.local/state/kittymux && find . -type f | sort && head -c 1500 sessions/.exit/* sessions/auto* tick.json'], capture_output=True, text=True)
        raise Stumbled('the desk is not offered:\n' + open(startup).read() + seen.stdout)
    print(f'   (the desk is kept {time.monotonic() - offered:.1f} s after kitty is gone)')
    user.step('The next morning: open kitty. It asks.')
    user.opens('opens kitty')
    user.show(user.desk.shows('Enter resume'))
    # Keys of the first moment after a prompt appeared are not taken for an answer.
    time.sleep(0.4)
    user.types('', f'conversation {sid} (resumed)')
    with open('/tmp/agents.log') as f:
        starts = [json.loads(line)['argv'][1:] for line in f]
    if starts[-1] != ['--model', 'opus', '--resume', sid]:
        raise Stumbled(f'claude was started with {starts[-1]}')
    n = user.keys - before
    print(f'\nclaude came back on its conversation with {n} key{"s" if n > 1 else ""}.')
    counted = [f'{keys} {what}' for what, keys in (('to install', installed), ('to set it up', ready - installed),
                                                   ('for the day', before - ready), ('in the morning', n))]
    print(f'{user.keys} keys ({", ".join(counted)}) and {user.clicks} clicks.\n'
          f'The machine took {user.waited:.1f} s in all; at {PER_KEY} s for a key the user {user.keys * PER_KEY:.0f} s.')
    user.desk.process.send_signal(signal.SIGKILL)


def main():
    os.environ['FAKE_AGENT_LOG'] = '/tmp/agents.log'
    os.makedirs('/tmp/bin', exist_ok=True)
    shutil.copy('/mnt/stage/claude', '/tmp/bin/claude')
    os.environ['PATH'] = '/tmp/bin:' + os.environ['PATH']
    try:
        first_minutes(sys.argv[1])
    except Stumbled as e:
        print(f'\nThe user stumbled: {e}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
