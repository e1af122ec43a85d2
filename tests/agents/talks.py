#!/usr/bin/env python3
"""talks.py: the real claude and codex hold a conversation, everything is killed, and kittymux brings it back.

Runs in the chroot of tests/real, with a real kitty. /mnt/agents has the agents (install.sh), /mnt/stage/kittymux a debug
build. Each window of a desk gets a conversation with the mock; the desk is saved, kitty and all agents are killed, a new
kitty restores it, and behind one Enter each window must show its own old message again.
"""
import os
import re
import signal
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, '..', 'real')]
import homes
from mock import Mock
from rig import Kitty, Tally, until

KITTYMUX = '/mnt/stage/kittymux'
# What stands before the text that is typed; the hints below it come and go.
READY = {'claude': '❯', 'codex': '›'}
SLOW = 60


class Talk:
    """One window: how its agent is started, what is said in it, and what must be there again."""

    def __init__(self, name, agent, line, directory, messages, env=(), program=False, gone=(), apart=0):
        self.name, self.agent, self.line, self.directory = name, agent, line, directory
        self.messages, self.env, self.program, self.gone, self.apart = messages, env, program, gone, apart
        self.window = None


def squeezed(text):
    return re.sub(r'\s+', '', text)


class Desk:
    """A home, its kitty and its conversations."""

    def __init__(self, tally, name, talks, mock):
        self.tally, self.name, self.talks, self.mock = tally, name, talks, mock
        self.home = f'/home/user/{name}'
        self.environ = homes.environment(self.home, '/mnt/agents/bin:/mnt/stage:/usr/local/bin:/usr/bin:/bin', mock.url)
        place = lambda d: os.path.join(self.home, d)
        # A directory named in an environment variable of a talk is that agent's own configuration.
        others = {a: {place(v) for t in talks if t.agent == a for _, v in t.env} for a in READY}
        homes.prepare(self.home, sorted({place(t.directory) for t in talks}), mock.url, others['claude'], others['codex'])
        homes.write(f'{self.home}/.bashrc', "PS1='$ '\n")
        os.makedirs(self.environ['XDG_RUNTIME_DIR'], 0o700)

    def kitty(self):
        return Kitty('shell /bin/bash\n', home=self.home, files={}, env={k: v for k, v in self.environ.items() if k != 'HOME'})

    def kittymux(self, kitty, *words, **env):
        """(status, stdout, stderr)"""
        environ = {k: v for k, v in os.environ.items() if not k.startswith('KITTY')} | self.environ | env
        if kitty:
            environ |= {'KITTY_LISTEN_ON': 'unix:' + kitty.socket, 'KITTY_PID': str(kitty.process.pid)}
        done = subprocess.run([KITTYMUX, *words], capture_output=True, text=True, env=environ, cwd=self.home, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def say(self, kitty, talk, text):
        """Types a message once the agent takes it, and waits for the answer."""
        # An agent drops what is typed before it reads: then once more, behind ^U.
        for again in ('', '\x15', '\x15', '\x15'):
            kitty.send(again + text, talk.window)
            if until(lambda: squeezed(text) in squeezed(kitty.text(talk.window)), SLOW / 4):
                break
        else:
            return False
        # A return right behind the text counts as part of a paste.
        time.sleep(0.6)
        kitty.send('\r', talk.window)
        if not text.startswith('remember '):
            return True
        return until(lambda: squeezed('noted ' + text.split()[1]) in squeezed(kitty.text(talk.window)), SLOW)

    def begin(self, kitty, talk):
        directory = os.path.join(self.home, talk.directory)
        env = [f'{n}={os.path.join(self.home, v)}' for n, v in talk.env]
        if talk.program:
            program, *words = talk.line.split()
            talk.window = kitty.launch(f'/mnt/agents/bin/{program}', *words, cwd=directory, type='tab', env=env)
        else:
            talk.window = kitty.launch(cwd=directory, type='tab')
            until(lambda: '$' in kitty.text(talk.window), 20)
            kitty.send(' '.join([*env, talk.line]) + '\r', talk.window)

    def converse(self, kitty, talk):
        ready = until(lambda: READY[talk.agent] in kitty.text(talk.window), SLOW)
        done = bool(ready)
        for text in talk.messages:
            done = done and self.say(kitty, talk, text)
            if text.startswith('/'):
                # the screen is drawn anew
                until(lambda: squeezed(talk.messages[0]) not in squeezed(kitty.text(talk.window)), SLOW)
        return self.tally.check(f'{self.name}: {talk.name}: a conversation is held', done, self.screen(kitty, talk))

    def screen(self, kitty, talk):
        window = kitty.window(talk.window)
        return ' '.join(kitty.text(talk.window).split())[-500:] if window else 'its window is gone'

    def kill(self, kitty):
        """SIGKILL of everything that is ours: kitty first, or it would tell its windows."""
        kitty.process.kill()
        kitty.process.wait()
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/cmdline', 'rb') as f:
                    words = f.read()
                if b'claude' in words.split(b'\0')[0] or b'codex' in words.split(b'\0')[0]:
                    os.kill(int(pid), signal.SIGKILL)
            except (OSError, ValueError):
                pass

    def listed(self, kitty, modes):
        status, out, err = self.kittymux(kitty, 'sessions', 'list')
        print('      ' + out.replace('\n', '\n      ').rstrip())
        return status == 0 and out.count('exact') >= modes

    def back(self, kitty):
        """Enter at every prompt: each conversation is the one its window had."""
        resumed, asked = 0, len(self.mock.asked)
        until(lambda: sum('Enter resume' in kitty.text(w['id']) for w in kitty.windows()) == len(self.talks), 60)
        asking = [w for w in kitty.windows() if 'Enter resume' in kitty.text(w['id'])]
        self.tally.check(f'{self.name}: every agent window asks', len(asking) == len(self.talks),
                         f'{len(asking)} of {len(self.talks)}: ' + ' | '.join(' '.join(kitty.text(w['id']).split())[-200:]
                                                                              for w in kitty.windows()))
        left = list(self.talks)
        # A prompt drops the keys of its first 150 ms.
        time.sleep(0.5)
        for window in asking:
            kitty.send('\r', window['id'])
        for window in asking:
            last = {t: squeezed(t.messages[-1]) for t in left}
            shows = lambda i=window['id']: next((t for t, m in last.items() if m in squeezed(kitty.text(i, 'all'))), None)
            talk = until(shows, SLOW)
            text = ' '.join(kitty.text(window['id'], 'all').split()) if kitty.window(window['id']) else 'gone'
            if talk is None:
                self.tally.check(f'{self.name}: window {window["id"]} shows its old message', False, text[-500:])
                continue
            left.remove(talk)
            wrong = [m for m in talk.gone if squeezed(m) in squeezed(text)]
            where = os.path.realpath(window['cwd'])
            here = where == os.path.join(self.home, talk.directory)
            resumed += self.tally.check(f'{self.name}: {talk.name}: its old message is on the screen again', here and not wrong,
                                        f'{where}, {wrong}, {text[-300:]}')
        for talk in left:
            self.tally.check(f'{self.name}: {talk.name}: its old message is on the screen again', False, 'no window shows it')
        again = [texts[-1][:200] for path, texts in self.mock.asked[asked:] if texts and not path.endswith('/count_tokens')]
        self.tally.check(f'{self.name}: nothing is said to the model again', not again, repr(again))
        return resumed


def hold(desk, kitty):
    for talk in desk.talks:
        # What is told by the moment of its start must not start with another one of its directory.
        if talk.apart:
            time.sleep(talk.apart)
        desk.begin(kitty, talk)
    for talk in desk.talks:
        desk.converse(kitty, talk)


def saved(tally, mock):
    """A desk saved by hand."""
    r = lambda n: f'remember maple-{n}'
    desk = Desk(tally, 'saved', [
        Talk('claude in a shell', 'claude', 'claude --model opus', 'one', [r(1)]),
        Talk('claude as the window', 'claude', 'claude --permission-mode plan', 'two', [r(2)], program=True),
        Talk('claude after /clear', 'claude', 'claude', 'three', [r(30), '/clear', r(3)], gone=[r(30)]),
        Talk('claude beside another', 'claude', 'claude', 'four', [r(4)], gone=[r(5)]),
        Talk('claude beside the first', 'claude', 'claude --verbose', 'four', [r(5)], gone=[r(4)]),
        Talk('claude with a CLAUDE_CONFIG_DIR', 'claude', 'claude', 'five', [r(6)], env=[('CLAUDE_CONFIG_DIR', 'other-claude')]),
        Talk('codex without its daemon', 'codex', 'codex --no-daemon -m gpt-5.5', 'six', [r(7)]),
        Talk('codex as the window', 'codex', 'codex --no-daemon', 'seven', [r(8)], program=True),
        Talk('codex with a CODEX_HOME', 'codex', 'codex --no-daemon', 'eight', [r(9)], env=[('CODEX_HOME', 'other-codex')]),
        Talk('codex after /new', 'codex', 'codex --no-daemon', 'nine', [r(31), '/new', r(10)], gone=[r(31)]),
    ], mock)
    with desk.kitty() as kitty:
        hold(desk, kitty)
        tally.check('saved: list knows every conversation', desk.listed(kitty, len(desk.talks)))
        status, out, err = desk.kittymux(kitty, 'sessions', 'save', 'desk', '--all')
        tally.check('saved: save', status == 0 and not err, out + err)
        desk.kill(kitty)
    with desk.kitty() as kitty:
        status, out, err = desk.kittymux(kitty, 'sessions', 'restore', 'desk')
        tally.check('saved: restore', status == 0, out + err)
        return desk.back(kitty)


def ticked(tally, mock):
    """A desk that only the timer saved; codex with its daemon."""
    r = lambda n: f'remember cedar-{n}'
    desk = Desk(tally, 'ticked', [
        Talk('claude', 'claude', 'claude', 'one', [r(1)]),
        Talk('codex with its daemon', 'codex', 'codex', 'two', [r(2)]),
        Talk('codex beside another', 'codex', 'codex', 'three', [r(3)], gone=[r(4)]),
        Talk('codex beside the first', 'codex', 'codex', 'three', [r(4)], gone=[r(3)], apart=12),
    ], mock)
    with desk.kitty() as kitty:
        hold(desk, kitty)
        tally.check('ticked: list knows every conversation', desk.listed(kitty, len(desk.talks)))
        for later in (0, 30, 100, 1100):
            status, out, err = desk.kittymux(None, '--tick', KITTYMUX_TARGET='unix:' + kitty.socket, KITTYMUX_BOOT_SHIFT=str(later),
                                            KITTYMUX_WALL_SHIFT=str(later))
            tally.check(f'ticked: a tick {later} s later', (status, out, err) == (0, '', ''), out + err)
        desk.kill(kitty)
    with desk.kitty() as kitty:
        status, out, err = desk.kittymux(kitty, 'sessions', 'restore', 'last')
        tally.check('ticked: restore last', status == 0, out + err)
        return desk.back(kitty)


def main():
    tally = Tally()
    resumed = 0
    desks = [d for d in (saved, ticked) if d.__name__ in (sys.argv[1:] or ['saved', 'ticked'])]
    with Mock() as mock:
        for desk in desks:
            resumed += desk(tally, mock)
    print(f'{resumed} agents resumed for real')
    return tally.close()


if __name__ == '__main__':
    sys.exit(main())
