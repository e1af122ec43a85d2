#!/usr/bin/env python3
"""lines.py AGENTS TOOLS [NAME…]: every command that we make is one that the real agent understands.

Windows of fake-kitty (TOOLS/fake-kitty) run the stand-in (TOOLS/fake-agent) with each command line of matrix.py, or of
the agents named; a `sessions save` per agent makes the records, by the definitions that kittymux brings. The real agents
(AGENTS/bin) then get each `resume` of them in a terminal: the conversation is one they never had, so they must say just
that, and no prompt may reach the model.
"""
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, '..', 'real')]
import homes
from matrix import ABSENT, ALONE, ANSWERS, MATRIX, NEWEST, TAKE_ANYTHING, USAGE
from mock import Mock
from rig import Kitty, Tally, until
from terminal import Terminal, squeezed

PROMPT = 'remember never-1'
NO_OPTION = '--no-such-option'


def new_id(agent):
    sid = str(uuid.uuid4())
    if agent in ('opencode', 'kilo'):
        return 'ses_' + uuid.uuid4().hex[:12] + 'Aa0Bb1Cc2Dd3Ee'
    if agent == 'hermes':
        return '20260102_030405_' + sid[:6]
    # The first 48 bits of codex's are a moment: one long ago.
    if agent == 'codex':
        return '0190' + sid[4:].replace('-4', '-7', 1)
    return {'amp': 'T-', 'letta': 'agent-'}.get(agent, '') + sid


def store(home, agent, sid, directory):
    """The conversation `sid` as the stand-in looks for it: to the real agent, in another home, it is unknown."""
    letters, dashed = re.sub('[^A-Za-z0-9]', '-', directory), directory.replace('/', '-')
    below_home = dashed.removeprefix(home.replace('/', '-'))
    kept = {
        'claude': f'.claude/projects/{letters}/{sid}.jsonl',
        'codex': f'.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{sid}.jsonl',
        'opencode': f'.local/share/opencode/fake-sessions/{sid}',
        'gemini': f'.gemini/tmp/project/chats/session-2026-11-30T08-00-{sid[:8]}.jsonl',
        'copilot': f'.copilot/session-state/{sid}/events.jsonl',
        'qwen': f'.qwen/projects/{letters}/chats/{sid}.jsonl',
        'pi': f'.pi/agent/sessions/-{dashed}--/2026-11-30T08-00-00-000Z_{sid}.jsonl',
        'droid': f'.factory/sessions/{dashed}/{sid}.jsonl',
        'omp': f'.omp/agent/sessions/{below_home}/2026-11-30T08-00-00-000Z_{sid}.jsonl',
        'qodercli': f'.qoder/projects/{dashed}/{sid}.jsonl',
        'vibe': f'.vibe/logs/session/unified/{sid}/meta.json',
    }.get(agent, f'.fake-{agent}/{sid}')
    line = {'type': 'user', 'sessionId': sid, 'cwd': directory, 'message': {'role': 'user', 'content': 'hello'}}
    if agent == 'codex':
        meta = {'id': sid, 'cwd': directory, 'originator': 'codex-tui', 'timestamp': '2026-01-02T03:04:05.000Z'}
        line = {'type': 'session_meta', 'payload': meta}
    homes.write(f'{home}/{kept}', directory + '\n' if agent == 'opencode' else json.dumps(line) + '\n')
    os.utime(f'{home}/{kept}', (1767323045, 1767323045))


def records(text):
    """The record of each window of a save, by its directory."""
    found, cwd = {}, ''
    for line in text.splitlines():
        if line.startswith('cd '):
            cwd = line[3:]
        if not line.startswith('launch '):
            continue
        words = shlex.split(line)
        if '--info' in words:
            info = words[words.index('--info') + 1]
        else:
            info = next((w.partition('=')[2][len('KITTYMUX_RECORD='):] for w in words
                         if w.startswith('--env=KITTYMUX_RECORD=')), None)
        if info:
            record = json.loads(info)
            found[record['cwd'] if record['cwd'] in found else cwd or record['cwd']] = record
    return found


def shown(kitty, window):
    """What a window shows; nothing once it is closed."""
    try:
        return kitty.text(window)
    except RuntimeError:
        return ''


def make(tally, tools, home, environ, agent, lines):
    """Runs command lines of an agent in one kitty and saves it: (agent, line, record) of each."""
    picture = os.path.join(home, 'pic.png')
    homes.write(picture, 'x')
    rows = []
    # The stand-in for gemini keeps the chats of one project.
    shutil.rmtree(f'{home}/.gemini', ignore_errors=True)
    with Kitty(env={k: v for k, v in environ.items() if k != 'HOME'}, home=home) as kitty:
        for line in lines:
            old, directory = new_id(agent), os.path.join(home, 'p', agent + uuid.uuid4().hex[:6])
            os.makedirs(directory)
            if 'OLD' in line and '--session-id' not in line:
                store(home, agent, old, directory)
            words = [{'PROMPT': PROMPT, 'DIR': directory, 'PIC': picture, 'OLD': old}.get(
                w, w.replace('OLD', old).replace('=PROMPT', '=' + PROMPT).replace('DIR', directory).replace('PIC', picture))
                for w in shlex.split(line)]
            window = kitty.launch(f'{home}/bin/{agent}', *words, cwd=directory, type='tab')
            rows.append((line, directory, window))
            # One after the other: a conversation of codex is known by the moment it began.
            if until(lambda w=window: f'{agent}: ' in shown(kitty, w), 20):
                kitty.send('hello\r', window)
        for line, _, window in rows:
            heard = until(lambda w=window: 'heard hello' in shown(kitty, w), 20)
            if not heard:
                tally.check(f'{agent} {line}: the stand-in talks', False, shown(kitty, window)[-200:])
        asked = environ | {'KITTY_LISTEN_ON': 'unix:' + kitty.socket}
        listed = subprocess.run([f'{tools}/kittymux', 'sessions', 'list'], capture_output=True, text=True, timeout=60, env=asked)
        done = subprocess.run([f'{tools}/kittymux', 'sessions', 'save', 'matrix', '--all'], capture_output=True, text=True,
                              env=asked, timeout=60)
    if done.returncode != 0:
        tally.check(f'{agent}: the matrix is saved', False, done.stderr)
        return []
    # why the others are not exact
    print('\n'.join(f'      {a} | {b.strip()} | {c.strip()}' for a, b, c in zip(*[iter(listed.stdout.splitlines())] * 3)
                    if ' exact ' not in a and agent not in NEWEST))
    with open(f'{home}/.local/state/kittymux/sessions/matrix.kitty-session') as f:
        found = records(f.read())
    return [(agent, line, found.get(directory)) for line, directory, _ in rows]


def end_all(home):
    """Ends what an agent left behind, such as a server that it shares: all that was started with this home."""
    mark = f'HOME={home}'.encode()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/environ', 'rb') as f:
                if mark in f.read().split(b'\0'):
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def environment(home, path, url):
    """What the agents get; where there is no network at all they need no dead proxy, behind which some wait long."""
    environ = homes.environment(home, path, url)
    if all(name == 'lo' for _, name in socket.if_nameindex()):
        environ = {k: v for k, v in environ.items() if k.lower() != 'https_proxy'}
    return environ


def answer(agents, url, agent, words, trusted, text):
    """What the real agent says to the words: its status (None: it goes on, with `text` on its screen) and text."""
    with tempfile.TemporaryDirectory(prefix='real-', ignore_cleanup_errors=True) as home:
        directory = os.path.join(home, 'here')
        homes.prepare(home, [directory, trusted], url)
        environ = environment(home, f'{agents}/bin:/usr/bin:/bin', url)
        try:
            with Terminal([agent, *words], environ, directory) as terminal:
                return terminal.wait(90, text), terminal.text()
        finally:
            end_all(home)


def judge(agents, mock, agent, record, more=()):
    """Whether the real agent takes the resume command of a record, with `more` words before it, and what it said."""
    sid, resume = record['sid'], record['resume']
    said, wanted = ANSWERS[agent]
    # A screen breaks lines where it likes.
    expected = squeezed(re.sub(r'\bID\b(?!.*\bID\b)', sid or '', said))
    status, text = answer(agents, mock.url, agent, [*more, *resume[1:]], record['cwd'], expected if wanted is None else None)
    ok = status == wanted and expected in squeezed(text) and not USAGE.search(text) and 'never-1' not in squeezed(text)
    return ok, f'{shlex.join(resume)} → {status}: {" ".join(text.split())[-300:]}'


def row_judged(agents, mock, row):
    """(name, whether it is as it should be, what it said)."""
    agent, line, record = row
    name = f'{agent} {line}'
    if record is None:
        return name, False, 'no record was made'
    resume = record['resume']
    everything = json.dumps([resume, record['orig']])
    if agent in NEWEST:
        if record['mode'] != 'latest':
            return name, False, f'{record["mode"]}: {resume}'
    elif record['mode'] != 'exact' or not any(w.endswith(record['sid']) for w in resume):
        return name, False, f'{record["mode"]}: {resume}'
    if 'never-1' in everything:
        return name, False, f'the prompt is replayed: {everything}'
    return name, *judge(agents, mock, agent, record)


def check(tally, tools, agents, environ, names):
    """`sessions check` believes every real CLI."""
    environ = environ | {'PATH': f'{agents}/bin:{tools}:/usr/bin:/bin'}
    done = subprocess.run([f'{tools}/kittymux', 'sessions', 'check', '--json'], capture_output=True, text=True, env=environ,
                          timeout=300)
    for agent in names:
        try:
            found = [e for e in json.loads(done.stdout)['agents'] if e['agent'] == agent]
        except (ValueError, KeyError, TypeError) as e:
            found = [repr(e)]
        tally.check(f'sessions check: {agent}', good(found), json.dumps(found)[:600])


def good(found):
    return len(found) == 1 and isinstance(found[0], dict) and found[0].get('verdict') == 'ok' and found[0].get('used') is True


def controls(tally, agents, mock, pool, rows):
    """That an answer can be the wrong one: with an option that nobody has, no agent may answer as if all were well."""
    first = {a: r for a, _, r in reversed(rows) if r and r['mode'] in ('exact', 'latest')}
    asked = [a for a in first if a not in TAKE_ANYTHING]
    for agent, (ok, detail) in zip(asked, pool.map(lambda a: judge(agents, mock, a, first[a], [NO_OPTION]), asked)):
        tally.check(f'{agent} {NO_OPTION} is refused', not ok, detail)
    for agent in filter(first.__contains__, TAKE_ANYTHING):
        print(f'left out: {agent} takes any option, so its answer says only that the id is in its place')


def version(agents, agent):
    """The version that was installed."""
    with open(f'{agents}/{agent}/.stamp') as f:
        return re.split('@|==', f.read().strip())[-1]


def main():
    agents, tools, *wanted = sys.argv[1:]
    with open(f'{here}/../../assets/resume-agents.json') as f:
        known = [n for n in json.load(f) if not n.startswith('_')]
    tally = Tally()
    tally.check('every agent has its command lines, or a reason', set(known) == set(MATRIX) | set(ABSENT))
    for name, why in ABSENT.items():
        print(f'left out: {name}: {why}')
    names = [n for n in MATRIX if n in (wanted or MATRIX)]
    for name in [n for n in names if not os.path.exists(f'{agents}/bin/{n}')]:
        print(f'left out: {name} is not installed')
        names.remove(name)
    with tempfile.TemporaryDirectory(prefix='lines-', ignore_cleanup_errors=True) as home, Mock() as mock:
        os.makedirs(f'{home}/bin')
        for name in names:
            os.symlink(f'{tools}/fake-agent', f'{home}/bin/{name}')
        os.symlink(f'{tools}/fake-kitty', f'{home}/bin/kitty')
        os.environ['PATH'] = f'{home}/bin:/usr/bin:/bin'
        environ = environment(home, f'{home}/bin:{tools}:/usr/bin:/bin', mock.url)
        os.makedirs(environ['XDG_RUNTIME_DIR'], 0o700)
        check(tally, tools, agents, environ, names)
        rows = []
        for agent in names:
            lines = [line.strip() for line in MATRIX[agent].splitlines() if line.strip()]
            for part in [[line] for line in lines] if agent in ALONE else [lines]:
                rows += make(tally, tools, home, environ, agent, part)
        accepted = dict.fromkeys(names, 0)
        with ThreadPoolExecutor(2) as pool:
            for (agent, *_), (name, ok, detail) in zip(rows, pool.map(lambda r: row_judged(agents, mock, r), rows)):
                accepted[agent] += tally.check(name, ok, detail)
            controls(tally, agents, mock, pool, rows)
        sent = [t for _, texts in mock.asked for t in texts if 'never-1' in t]
        tally.check('no prompt reached the model', not sent, repr(sent)[:300])
    for agent, n in accepted.items():
        print(f'{agent} {version(agents, agent)}: {n} command lines accepted')
    return tally.close()


if __name__ == '__main__':
    sys.exit(main())
