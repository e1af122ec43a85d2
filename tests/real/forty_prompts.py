#!/usr/bin/env python3
"""Forty prompts at once, in eight tabs of five windows: how long until all ask, and what they cost while they wait.

Needs kittymux at /mnt/stage/kittymux (scenarios.sh puts it there). Times are printed, not judged: only that every
prompt asks, with its own conversation, and that waiting costs nothing.
"""
import json
import os
import sys
import time
import uuid

from rig import Kitty, Tally, until

KITTYMUX = '/mnt/stage/kittymux'
STATE = '/home/user/h/.local/state/kittymux'
TICKS = os.sysconf('SC_CLK_TCK')


def record(sid):
    words = ['claude', '--resume', sid]
    return json.dumps({'v': 1, 'agent': 'claude', 'mode': 'exact', 'sid': sid, 'orig': ['claude'], 'resume': words, 'exe': '', 'cwd': '/tmp',
                       'tab': '', 'save': 'forty', 'at': '2026-11-30T08:00:00Z', 'was': []})


def line(n, sid, form):
    data = f"'kitty-unserialize-data={{\"id\": {n}}}' --var=kittymux_sid={sid}"
    info = record(sid)
    env = f"'--env=KITTYMUX_RECORD={info}' --env=KITTYMUX_BIN={KITTYMUX}"
    fish = open('/mnt/kittymux/assets/shell/kittymux.fish').read().strip()
    return {
        'program': f"launch {data} {KITTYMUX} resume-prompt --info '{info}'",
        'bash': f'launch {data} {env} /bin/bash --rcfile {STATE}/shell/kittymux.bash',
        'zsh': f'launch {data} {env} --env=ZDOTDIR={STATE}/shell/zsh /bin/zsh',
        'fish': f"launch {data} {env} /usr/bin/fish -C '{fish}'",
    }[form]


def cpu(pid):
    with open(f'/proc/{pid}/stat') as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def prompts():
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                words = f.read().split(b'\0')
        except OSError:
            continue
        if words[1:2] == [b'resume-prompt']:
            found.append(int(pid))
    return found


def one(tally, form):
    sids = [str(uuid.uuid4()) for _ in range(40)]
    store = '/home/user/h/.claude/projects/-tmp'
    os.makedirs(store, exist_ok=True)
    for sid in sids:
        with open(f'{store}/{sid}.jsonl', 'w') as f:
            f.write('{"type":"user","cwd":"/tmp"}\n')
    lines = []
    for n, sid in enumerate(sids):
        if n % 5 == 0:
            lines += ['new_tab', 'layout grid', 'cd /tmp']
        lines.append(line(n + 1, sid, form))
    files = {'.zshrc': 'export FOO=1\n', '.bashrc': 'export FOO=1\n'}
    began = time.monotonic()
    with Kitty(session='\n'.join(lines) + '\n', home='/home/user/h', files=files) as kitty:
        def asking():
            return len(prompts()) == 40

        until(asking, 30, 0.01)
        started = time.monotonic() - began
        windows = {w['user_vars'].get('kittymux_sid'): w['id'] for w in kitty.windows()}
        shown = until(lambda: all(sid[:8] in kitty.text(windows[sid]).replace('\n', '') for sid in sids if sid in windows), 20, 0.02)
        painted = time.monotonic() - began
        sample = kitty.text(next(iter(windows.values())))
        tally.check(f'{form}: every one of 40 asks for its own conversation', shown and len(windows) == 40, f'{len(windows)} windows; {sample!r}')
        time.sleep(0.5)
        pids = prompts()
        before, kitty_before = sum(map(cpu, pids)), cpu(kitty.process.pid)
        time.sleep(3)
        waited, kitty_waited = sum(map(cpu, pids)) - before, cpu(kitty.process.pid) - kitty_before
        tally.check(f'{form}: waiting costs nothing', waited == 0, f'{waited} s')
        print(f'      {form}: all started {started:.2f} s, all painted {painted:.2f} s after kitty’s start; '
              f'prompts {before * 1000:.0f} ms CPU together, 3 s of waiting: prompts {waited * 1000:.0f} ms, kitty {kitty_waited * 1000:.0f} ms')


def main():
    tally = Tally()
    os.makedirs(f'{STATE}/shell/zsh', exist_ok=True)
    for name in ('kittymux.bash', 'zsh/.zshenv'):
        with open(f'/mnt/kittymux/assets/shell/{name}') as f, open(f'{STATE}/shell/{name}', 'w') as to:
            to.write(f.read())
    for form in ('program', 'bash', 'zsh', 'fish'):
        one(tally, form)
    return tally.close()


if __name__ == '__main__':
    sys.exit(main())
