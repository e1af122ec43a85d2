#!/usr/bin/env python3
"""The round trip, told step by step: agents run, kitty dies, everything comes back. Started by tests/demo.sh.

All of it happens in a home directory of its own, which is removed at the end with every process that was started.
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'real'))
from rig import Kitty, until  # noqa: E402

WIDTH = 80
RC = "export FOO=from-rc\nPATH=$HOME/bin:$PATH\nPS1='$ '\n"
CONF = '''shell /bin/bash
shell_integration enabled
confirm_os_window_close 0
update_check_interval 0
cursor_blink_interval 0
remember_window_size no
initial_window_width 120c
initial_window_height 12c
enabled_layouts splits
allow_remote_control socket-only
listen_on unix:{}/kitty-{{kitty_pid}}
'''
# Runs a program once the shell that started it is gone: what it says goes to $0, how it ended to $1.
DETACHED = '''(
    out=$0 status=$1; shift
    while kill -0 $$ 2>/dev/null; do sleep 0.02; done
    "$@" >"$out" 2>&1 </dev/null; echo $? >"$status.new"; mv "$status.new" "$status"
) >/dev/null 2>&1 &'''


class Failed(Exception):
    """The round trip did not come to its end; the text says where."""


class Desk(Kitty):
    """A kitty that runs already; windows and screens are asked for as in tests/real."""

    def __init__(self, pid, socket):
        self.pid, self.socket = pid, socket
        if not until(self.accepts, 20):
            raise Failed(f'the kitty with pid {pid} made no socket {socket}')

    def shows(self, window, *wanted):
        """The screen of a window, once it shows all of `wanted`; what is wrapped there is one text."""
        def seen():
            screen = self.text(window)
            joined = screen.replace('\n', '')
            return all(w in screen or w in joined for w in wanted) and screen
        screen = until(seen, 15)
        if not screen:
            raise Failed(f'window {window} never showed {wanted}; it shows:\n{self.text(window)}')
        return screen


class Agent:
    """One agent of the demonstration and what is expected of it."""

    def __init__(self, what, directory, typed='', program=(), flags=()):
        self.what, self.directory, self.typed, self.program, self.flags = what, directory, typed, program, flags
        self.window = self.id = None

    def how(self):
        return f'{self.what}, in ~/{self.directory}'


class Story:
    def __init__(self, programs):
        self.programs = programs
        # Short, since a socket's path may have 100 bytes at most.
        self.top = tempfile.mkdtemp(prefix='kmx-', dir='/tmp')
        self.home, self.run_dir, self.log = (os.path.join(self.top, n) for n in ('home', 'run', 'agents.log'))
        self.desk = None
        self.steps = 0
        tools = os.path.join(self.top, 'tools')
        for directory in (self.run_dir, tools, os.path.join(self.home, 'bin'), os.path.join(self.home, '.config/kitty')):
            os.makedirs(directory, 0o700)
        for name, program in (('kitty', programs.kitty), ('kittymux', programs.kittymux)):
            os.symlink(os.path.abspath(program), os.path.join(tools, name))
        for name in ('claude', 'codex'):
            shutil.copy(programs.agent, os.path.join(self.home, 'bin', name))
        self.write('.bashrc', RC)
        self.write('.config/kitty/kitty.conf', CONF.format(self.run_dir))
        self.environ = {
            'HOME': self.home, 'PATH': f'{tools}:/usr/local/bin:/usr/bin:/bin', 'SHELL': '/bin/bash', 'LANG': 'C.UTF-8', 'TERM': 'xterm-256color',
            'NO_COLOR': '1', 'XDG_RUNTIME_DIR': self.run_dir, 'FAKE_AGENT_LOG': self.log,
        }
        runtime, display = os.environ.get('XDG_RUNTIME_DIR', ''), os.environ.get('WAYLAND_DISPLAY', '')
        if display:
            self.environ['WAYLAND_DISPLAY'] = os.path.join(runtime, display)
        for name in ('DISPLAY', 'XAUTHORITY', 'LIBGL_ALWAYS_SOFTWARE'):
            if name in os.environ:
                self.environ[name] = os.environ[name]

    def write(self, name, text):
        with open(os.path.join(self.home, name), 'w') as f:
            f.write(text)

    def step(self, text):
        self.steps += 1
        print(f'\n{self.steps}. ' + textwrap.fill(text, WIDTH - 3, subsequent_indent='   '), flush=True)

    def say(self, text):
        print(textwrap.fill(text, WIDTH, initial_indent='   ', subsequent_indent='   '), flush=True)

    def show(self, text, bar='   | '):
        """What a person sees, as it stands; longer lines are folded."""
        for line in text.rstrip().splitlines() or ['']:
            indent = ' ' * (len(line) - len(line.lstrip()))
            for piece in textwrap.wrap(line, WIDTH - len(bar), subsequent_indent=indent + '  ') or ['']:
                print(f'{bar}{piece}'.rstrip())
        sys.stdout.flush()

    def screen(self, window, *wanted):
        screen = self.desk.shows(window, *wanted)
        print(f'   ,-- window {window} ' + '-' * 40)
        self.show(screen)
        print('   `' + '-' * 53, flush=True)

    def kittymux(self, *words):
        """Runs kittymux as a person in the desk's kitty would; outside of any when there is none."""
        environ = dict(self.environ)
        if self.desk:
            environ.update(KITTY_LISTEN_ON='unix:' + self.desk.socket, KITTY_PID=str(self.desk.pid))
        print(f'   $ kittymux {" ".join(words)}', flush=True)
        out, status = (os.path.join(self.top, n) for n in ('out', 'status'))
        # Away from the shell that told us to run: it may sit in a kitty of the person's own, and a kittymux below that
        # would rightly take it for the one that is meant.
        subprocess.run(['/bin/sh', '-c', DETACHED, out, status, 'kittymux', *words], env=environ, cwd=self.home, stdin=subprocess.DEVNULL, check=True)
        if not until(lambda: os.path.exists(status), 60):
            raise Failed(f'kittymux {" ".join(words)} does not end')
        with open(status) as f, open(out) as text:
            ended, said = f.read().strip(), text.read()
        os.unlink(status)
        self.show(said, '   ')
        if ended != '0':
            raise Failed(f'kittymux {" ".join(words)} ended with status {ended}')
        return said

    def starts(self):
        """What each agent was started with, in order."""
        try:
            with open(self.log) as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def start_kitty(self):
        with open(os.path.join(self.top, 'kitty.log'), 'w') as log:
            process = subprocess.Popen(['kitty'], executable=os.path.join(self.top, 'tools/kitty'), env=self.environ, cwd=self.home,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.process = process
        self.desk = Desk(process.pid, os.path.join(self.run_dir, f'kitty-{process.pid}'))

    def find_kitty(self, old):
        """The kitty that kittymux started."""
        def other():
            pids = [int(n.partition('-')[2]) for n in os.listdir(self.run_dir) if n.startswith('kitty-') and n[6:].isdigit()]
            return next((p for p in pids if p != old and alive(p)), None)
        pid = until(other, 20)
        if not pid:
            raise Failed('no new kitty is running')
        self.desk = Desk(pid, os.path.join(self.run_dir, f'kitty-{pid}'))

    def clean_up(self):
        """Ends what runs in this home, by its process id, and removes the home."""
        pids = own_processes(self.home)
        if self.desk and alive(self.desk.pid):
            pids.add(self.desk.pid)
            try:
                pids.update(w['pid'] for w in self.desk.windows())
            except Exception:
                pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until(lambda: not any(map(alive, pids)), 5)
        shutil.rmtree(self.top, ignore_errors=True)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return not os.path.isdir('/proc/self')


def own_processes(home):
    """Processes whose HOME is ours: nobody else has this directory."""
    found = set()
    for name in os.listdir('/proc') if os.path.isdir('/proc/self') else ():
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f'/proc/{name}/environ', 'rb') as f:
                    if b'HOME=' + home.encode() in f.read().split(b'\0'):
                        found.add(int(name))
            except OSError:
                pass
    return found


def announced(screen):
    """The id in the line `NAME: conversation ID (new) in DIRECTORY`."""
    return screen.replace('\n', '').rpartition(': conversation ')[2].split()[0]


def begin(story, agents):
    story.step('A kitty with a plain shell and three agents. Two are typed into a bash, one has its window for itself.')
    story.start_kitty()
    desk = story.desk
    until(lambda: any(w['at_prompt'] for w in desk.windows()), 10)
    for agent in agents:
        directory = os.path.join(story.home, agent.directory)
        os.makedirs(directory)
        agent.window = desk.launch(*agent.program, cwd=directory, type='tab', tab_title=os.path.basename(directory))
        if agent.typed:
            desk.shows(agent.window, '$')
            desk.send(agent.typed + '\r', agent.window)
        screen = desk.shows(agent.window, '(new)')
        desk.send(f'please look at {os.path.basename(agent.directory)}\r', agent.window)
        desk.shows(agent.window, 'heard please look at')
        agent.id = announced(screen)
        story.say(f'- {agent.how()}: conversation {agent.id[:8]}')
    story.say('This is what the first one shows:')
    story.screen(agents[0].window, 'heard please look at')
    if len({a.id for a in agents}) != len(agents):
        raise Failed('two agents have one conversation')


def save(story, agents):
    story.step('What kittymux knows: which conversation each window has, and how it knows.')
    listed = story.kittymux('sessions', 'list')
    for agent in agents:
        if f'exact {agent.id[:8]}' not in listed:
            raise Failed(f'{agent.how()} is not listed with its conversation')
    story.step('Save the desk.')
    story.kittymux('sessions', 'save', 'demo')


def crash(story):
    desk, story.desk = story.desk, None
    inside = [w['pid'] for w in desk.windows()]
    story.step('The crash: kitty is killed (kill -9), and every agent goes with it.')
    os.kill(desk.pid, signal.SIGKILL)
    story.process.wait()
    if not until(lambda: not any(map(alive, inside)), 5):
        for pid in inside:
            os.kill(pid, signal.SIGKILL)
    story.say(f'kitty {desk.pid} is gone, and with it {len(inside)} windows.')
    return desk.pid


def restore(story, agents, old):
    story.step('Bring it back. There is no kitty any more, so kittymux starts one.')
    story.kittymux('sessions', 'restore', 'demo')
    story.find_kitty(old)
    windows = {w['user_vars'].get('kittymux_sid'): w['id'] for w in story.desk.windows()}
    story.step('Each agent window asks first. Nothing has been started yet:')
    for agent in agents:
        agent.window = windows.get(agent.id)
        if agent.window is None:
            raise Failed(f'no window asks for conversation {agent.id[:8]} ({agent.how()})')
        story.screen(agent.window, f'resume session {agent.id[:8]}', 'Enter resume')


def resume(story, agents):
    before = len(story.starts())
    # Keys of the first moment after a prompt appeared are not taken for an answer.
    time.sleep(0.3)
    story.step('Enter in each of them:')
    for agent in agents:
        story.desk.send('\r', agent.window)
        story.screen(agent.window, f'conversation {agent.id} (resumed)')
    return story.starts()[before:]


def check(agents, starts):
    """A line per agent and how many are back: the right conversation, started once, with its flags, without its prompt."""
    back = 0
    for agent in agents:
        own = [s for s in starts if agent.id in s['argv']]
        words = own[0]['argv'] if own else []
        faults = []
        if len(own) != 1:
            faults.append(f'it was started {len(own)} times with its conversation')
        else:
            faults += [f'{flag} is missing' for flag in agent.flags if flag not in words]
            if 'explain this' in words:
                faults.append('its old prompt was sent again')
            if not own[0]['cwd'].endswith(agent.directory):
                faults.append(f'it runs in {own[0]["cwd"]}')
            if agent.typed and own[0]['env'].get('FOO') != 'from-rc':
                faults.append('it does not have what the rc file sets')
        back += not faults
        command = shlex.join([os.path.basename(words[0]), *words[1:]]).replace(agent.id, agent.id[:8] + '…') if words else '-'
        print(f'   {"NOT BACK" if faults else "back"}  {agent.id[:8]}  {command}')
        for fault in faults:
            print(f'             {fault}')
    return back


def tell(story, kind):
    agents = [
        Agent('claude, typed into bash', 'code/api', typed="claude --model opus 'explain this'", flags=('--model', 'opus')),
        Agent('claude, a window of its own', 'code/web app', program=(os.path.join(story.home, 'bin/claude'), '--name', 'the web $app'),
              flags=('--name', 'the web $app')),
        Agent('codex, typed into bash', 'code/tools', typed='codex --no-daemon -m gpt-5.5', flags=('-m', 'gpt-5.5')),
    ]
    story.say(f'A throw-away home, {story.home}; {kind}; the agents are stand-ins that keep their conversations where the real ones do.')
    begin(story, agents)
    save(story, agents)
    old = crash(story)
    restore(story, agents, old)
    starts = resume(story, agents)
    story.step('What came back, and the command of each:')
    back = check(agents, starts)
    print(f'\n{back} of {len(agents)} conversations came back.', flush=True)
    return back == len(agents)


def interrupted(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser()
    for name in ('kitty', 'kittymux', 'agent'):
        parser.add_argument('--' + name, required=True)
    programs = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    version = subprocess.run([programs.kitty, '--version'], capture_output=True, text=True).stdout.strip()
    bundled = os.path.basename(programs.kitty) == 'fake-kitty'
    kind = 'a stand-in for kitty' if bundled else version.replace(' created by Kovid Goyal', '')
    story = Story(programs)
    try:
        return 0 if tell(story, kind) else 1
    except (Failed, OSError, RuntimeError, subprocess.SubprocessError) as e:
        print(f'\nIt did not work: {e}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nstopped', file=sys.stderr)
        return 130
    finally:
        story.clean_up()


if __name__ == '__main__':
    sys.exit(main())
