"""One window of a real kitty, started the way a rewritten session file starts it, with stand-ins for kittymux and an agent.

A stand-in for kittymux notes how it was called and waits for Enter, then turns into a stand-in agent, which notes its
environment and does what it is told over its terminal.
"""
import json
import os
import tempfile

from rig import until

SHELL_FILES = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'assets', 'shell'))
with open(os.path.join(SHELL_FILES, 'kittymux.fish')) as f:
    FISH_LINE = f.read().rstrip('\n')
RECORD = json.dumps({'v': 1, 'agent': 'claude', 'sid': 'a\'b"c $HOME `x` \\ \u2028 é * ; &', 'orig': ['claude', '', '--x y']})
RECORD = RECORD.replace('$', '\\u0024').replace("'", '\\u0027')

STAND_IN = '''#!/usr/bin/env python3
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "calls"), "a") as f:
    f.write(json.dumps({"args": sys.argv[1:], "env": dict(os.environ), "pid": os.getpid(), "group": os.getpgrp(),
                        "front": os.tcgetpgrp(0), "tty": os.isatty(0) and os.isatty(1), "cwd": os.getcwd()}) + chr(10))
if sys.argv[2] == "--after":
    sys.exit(0)
print("resume?", flush=True)
answer = sys.stdin.readline().strip()
if answer.startswith("leave"):
    sys.exit(int(answer[5:]))
os.execv(sys.executable, ["agent", os.path.join(here, "agent.py")])
'''
AGENT = '''
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
with open(os.path.join(here, "agents"), "a") as f:
    f.write(json.dumps({"env": dict(os.environ), "pid": os.getpid(), "group": os.getpgrp(), "front": os.tcgetpgrp(0)}) + chr(10))
print("agent here", flush=True)
while True:
    line = sys.stdin.readline()
    if not line or line.startswith("exit"):
        sys.exit(int(line[4:].strip() or 0) if line else 0)
    if line.startswith("die"):
        os.kill(os.getpid(), int(line[3:]))
'''


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(x) for x in f.read().splitlines()]


class Case:
    """One window, started the way a rewritten session file starts it."""

    def __init__(self, kitty, shell, home=None, env=None, record=RECORD, mode=0o755, program=None, session_shell=False):
        self.kitty, self.shell = kitty, shell
        self.dir = tempfile.mkdtemp(prefix='case of ')
        self.bin = os.path.join(self.dir, 'kitty mux')
        for name, text, its_mode in (('kitty mux', STAND_IN, mode), ('agent.py', AGENT, 0o644)):
            with open(os.path.join(self.dir, name), 'w') as f:
                f.write(text)
            os.chmod(os.path.join(self.dir, name), its_mode)
        self.home = os.path.join(self.dir, 'home') if home is None else os.path.join(self.dir, home['name'])
        for name, text in ({} if home is None else home['files']).items():
            path = os.path.join(self.home, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w') as f:
                f.write(text)
        os.makedirs(self.home, exist_ok=True)
        environ = {'HOME': self.home, 'KITTYMUX_RECORD': record, 'KITTYMUX_BIN': self.bin, **(env or {})}
        if shell == 'zsh':
            environ['ZDOTDIR'] = os.path.join(SHELL_FILES, 'zsh')
        args = program if program is not None else {
            'bash': ['/bin/bash', '--rcfile', os.path.join(SHELL_FILES, 'kittymux.bash')],
            'zsh': [] if session_shell else ['/usr/bin/zsh'],
            'fish': ['/usr/bin/fish', '-C', FISH_LINE]}[shell]
        self.id = kitty.launch(*args, type='tab', cwd=self.home, env=[f'{k}={v}' for k, v in environ.items() if v is not None])
        self.told = 0

    def calls(self):
        return lines_of(os.path.join(self.dir, 'calls'))

    def agents(self):
        return lines_of(os.path.join(self.dir, 'agents'))

    def asked(self):
        return until(lambda: len(self.calls()) == 1 and 'resume?' in self.screen(), 8)

    def running(self):
        return until(lambda: len(self.agents()) == 1 and 'agent here' in self.screen(), 5)

    def window(self):
        return self.kitty.window(self.id)

    def sees_prompt(self):
        return (self.window() or {}).get('at_prompt')

    def front(self):
        w = self.window()
        return [p['pid'] for p in w['foreground_processes']] if w else []

    def send(self, text):
        if self.window():
            self.kitty.send(text, self.id)

    def screen(self):
        try:
            return self.kitty.text(self.id)
        except RuntimeError:
            return 'the window is gone'

    def state(self, pid):
        try:
            with open(f'/proc/{pid}/stat') as f:
                return f.read().rpartition(')')[2].split()[0]
        except OSError:
            return ''

    def at_shell(self):
        """The shell itself is in front, and nothing else."""
        return until(lambda: self.front() == [(self.window() or {}).get('pid')], 5)

    def tell(self, command):
        """What `command`, typed in the shell, prints; None when no answer comes."""
        self.told += 1
        path = os.path.join(self.dir, f'told{self.told}')
        quoted = path.replace(' ', '\\ ')
        self.send(f' {{ {command} ; }} > {quoted}.x 2>&1; mv {quoted}.x {quoted}\r' if self.shell != 'fish' else
                  f' begin; {command} ; end > {quoted}.x 2>&1; mv {quoted}.x {quoted}\r')
        if not until(lambda: os.path.exists(path), 5):
            return None
        with open(path, errors='replace') as f:
            return f.read()

    def close(self):
        if self.window():
            pid = self.window()['pid']
            self.kitty.ask('close-window', {'match': f'id:{self.id}'})
            until(lambda: not self.state(pid), 3)


RC = {
    'bash': {'.bashrc': 'export FOO=1; PATH=$PATH:/from/rc; _hook() { export DENV=hook; }; PROMPT_COMMAND=_hook\n'
                        'HISTFILE=~/history; HISTCONTROL=ignorespace; shopt -s histappend; echo rc >> ~/read\n'},
    'zsh': {'.zshrc': 'export FOO=1; path+=(/from/rc); _hook() { export DENV=hook }; autoload -Uz add-zsh-hook; add-zsh-hook precmd _hook\n'
                      'HISTFILE=~/history; SAVEHIST=100; setopt inc_append_history hist_ignore_space; echo rc >> ~/read\n'},
    'fish': {'.config/fish/config.fish': 'set -gx FOO 1; set -gxa PATH /from/rc; function _hook --on-event fish_prompt; set -gx DENV hook; end\n'
                                         'echo rc >> ~/read\n'},
}
# What must be gone again: functions and variables of ours, in the shell and in what it exports.
LEFT = {
    'bash': 'declare -F | grep -i kittymux; declare -p | grep -a -i "^declare [^ ]* _*kittymux[_=]"; env | grep KITTYMUX; echo "[$PROMPT_COMMAND]"; history | grep -c "[r]esume-prompt"',
    'zsh': 'print -l ${(k)functions} | grep -i kittymux; typeset + | grep -a -i "kittymux_"; env | grep KITTYMUX; '
           'echo "$+PERIOD $+periodic_functions ${ZDOTDIR-none}"; fc -l 1 | grep -c "[r]esume-prompt"',
    'fish': 'functions -a | grep -i kittymux; set -n | grep -i kittymux; set -n | string match -r "^[rbs]\\$"; status | string match -i "*job control*"; env | grep KITTYMUX; history | grep -c "[r]esume-prompt"',
}
KSI = 'builtin declare -F _ksi_prompt_command > /dev/null 2> /dev/null && _ksi_prompt_command'
NOTHING_LEFT = {'bash': ('[_hook]\n0\n', f'[_hook\n{KSI}]\n0\n', f'[_hook; {KSI}]\n0\n'), 'zsh': ('0 0 none\n0\n',), 'fish': ('Job control: Only on interactive jobs\n0\n',)}
LAST_STATUS = {'bash': 'echo $?', 'zsh': 'echo $?', 'fish': 'echo $status'}


def home_of(shell, **more):
    return {'name': 'home', 'files': {**RC[shell], **more}}
