#!/usr/bin/env python3
"""lines.py AGENTS TOOLS: every command that we make is one that the real agent understands.

Windows of fake-kitty (TOOLS/fake-kitty) run the stand-in (TOOLS/fake-agent) with each command line of the matrix below;
one `sessions save` makes the records. The real agents (AGENTS/bin) then get each `resume` and each `orig` of them in a
terminal: the conversation is one they never had, so they must say just that, and no prompt may reach the model.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, '..', 'real')]
import homes
from mock import Mock
from rig import Kitty, Tally, until
from terminal import Terminal

PROMPT = 'remember never-1'
# OLD: a conversation of another start; PROMPT: must not come back; DIR: a directory; PIC: a picture
MATRIX = {
    'claude': r'''
        --model opus
        --model=opus PROMPT
        PROMPT --model opus
        -- PROMPT
        --verbose -- PROMPT
        --resume OLD
        --resume=OLD --model opus
        -r OLD --verbose
        -rOLD --effort high
        --model opus --resume OLD PROMPT
        PROMPT --resume OLD
        --resume OLD -- PROMPT
        --resume OLD --fork-session
        --session-id OLD --permission-mode plan
        --session-id=OLD PROMPT
        --dangerously-skip-permissions PROMPT
        -n work --permission-mode=acceptEdits
        --add-dir DIR --model opus PROMPT
        --add-dir=DIR -- PROMPT
        --allowedTools 'Bash(git:*)' Edit --model opus -- PROMPT
        --disallowed-tools=WebFetch --append-system-prompt 'be "short" $HOME' PROMPT
        --mcp-config '{"mcpServers":{}}' --strict-mcp-config
        --settings '{"env":{"A":"b"}}' --debug
        --debug api --ide PROMPT
        --system-prompt --brief --tools default''',
    'codex': r'''
        --no-daemon
        --no-daemon PROMPT
        PROMPT --no-daemon -m gpt-5.5
        --no-daemon -- PROMPT
        -m gpt-5.5 PROMPT
        --model=gpt-5.5 -s read-only
        -c model_reasoning_effort=low -c 'tui.notifications=["x y"]' --no-daemon
        --config=model_reasoning_effort=low PROMPT
        -C DIR -a never PROMPT
        --cd=DIR --search
        --add-dir DIR --no-alt-screen
        --image=PIC PROMPT
        -i PIC -- PROMPT
        -sworkspace-write -mgpt-5.5
        --dangerously-bypass-approvals-and-sandbox PROMPT
        --enable web_search_request --no-daemon
        resume OLD
        -m gpt-5.5 resume OLD
        resume OLD PROMPT
        resume OLD -m gpt-5.5 -- PROMPT
        --no-daemon -s read-only resume --no-alt-screen OLD PROMPT
        resume --all OLD''',
    'opencode': r'''
        --session OLD
        -s OLD
        --session=OLD -m a/b
        -s=OLD
        --session OLD --prompt PROMPT
        --prompt=PROMPT --session OLD --agent build
        --log-level DEBUG --session OLD DIR
        DIR -s OLD --auto
        --pure --session OLD
        --session OLD --model=a/b --print-logs
        --port 0 --session OLD --cors a b''',
    # By definitions of one's own (own.json), in the shape that docs/settings.md shows.
    'gemini': r'''
        --resume OLD
        --resume=OLD -m flash
        --model=flash -r OLD
        --yolo --resume OLD''',
    'qwen': r'''
        --resume OLD
        -m coder --resume=OLD
        --yolo -r OLD
        --resume OLD -- PROMPT''',
    'copilot': r'''
        --resume=OLD
        --resume OLD --model gpt-5.5
        --allow-all-tools --resume=OLD
        --model=gpt-5.5 -r OLD''',
    'pi': r'''
        --session OLD
        --session OLD --model mock
        --model mock --session OLD -- PROMPT''',
}
OWN = ('gemini', 'qwen', 'copilot', 'pi')
# How each says that it does not know an id (docs/agent-facts.md), and its status.
UNKNOWN = {
    'claude': (r'No conversation found with session ID: ID', 1),
    'codex': (r'No saved session found with ID ID', 1),
    'opencode': (r'Session not found: ID', 1),
    # It has no conversation of this directory at all.
    'gemini': (r'No previous sessions found for this project', 42),
    'qwen': (r'No saved session found with ID ID', 1),
    'copilot': (r"matched 'ID", 1),
    'pi': (r"No session found matching 'ID", 1),
}
# What a parser says of a word it does not take. codex and opencode show their whole help then.
USAGE = re.compile(r'unknown option|unexpected argument|invalid value|Usage:|required option|argument missing|cannot be used with|'
                   r'Not enough|Unknown argument|too many arguments|is invalid|not supplied', re.I)


def new_id(agent):
    if agent == 'opencode':
        return 'ses_' + uuid.uuid4().hex[:12] + 'Aa0Bb1Cc2Dd3Ee'
    sid = str(uuid.uuid4())
    # The first 48 bits of codex's are a moment: one long ago.
    return '0190' + sid[4:].replace('-4', '-7', 1) if agent == 'codex' else sid


def store(home, agent, sid, directory):
    """The conversation `sid` as the stand-in looks for it: to the real agent, in another home, it is unknown."""
    if agent == 'claude' or agent in OWN:
        name = re.sub('[^A-Za-z0-9]', '-', directory)
        line = {'type': 'user', 'sessionId': sid, 'cwd': directory, 'message': {'role': 'user', 'content': 'hello'}}
        homes.write(f'{home}/.claude/projects/{name}/{sid}.jsonl', json.dumps(line) + '\n')
    elif agent == 'codex':
        meta = {'id': sid, 'cwd': directory, 'originator': 'codex-tui', 'timestamp': '2026-01-02T03:04:05.000Z'}
        homes.write(f'{home}/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{sid}.jsonl',
                    json.dumps({'type': 'session_meta', 'payload': meta}) + '\n')
    else:
        homes.write(f'{home}/.local/share/opencode/fake-sessions/{sid}', directory + '\n')


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


def make(tally, tools, home, environ):
    """Runs the whole matrix in one kitty and saves it: (agent, line, record) of each."""
    picture = os.path.join(home, 'pic.png')
    homes.write(picture, 'x')
    rows = []
    # An entry of one's own counts once its program was asked: here the stand-in, which has claude's help.
    own = [a for a in MATRIX if a in OWN]
    subprocess.run([f'{tools}/kittymux', 'sessions', 'check', *own], capture_output=True, timeout=60,
                   env=environ | {'FAKE_AGENT_NAME': 'claude'})
    with Kitty(env={k: v for k, v in environ.items() if k != 'HOME'}, home=home) as kitty:
        for agent, lines in MATRIX.items():
            for n, line in enumerate(filter(None, map(str.strip, lines.splitlines()))):
                old, directory = new_id(agent), os.path.join(home, 'p', f'{agent}{n}')
                os.makedirs(directory)
                if '--session-id' not in line:
                    store(home, agent, old, directory)
                words = [{'PROMPT': PROMPT, 'DIR': directory, 'PIC': picture, 'OLD': old}.get(
                    w, w.replace('OLD', old).replace('=PROMPT', '=' + PROMPT).replace('DIR', directory).replace('PIC', picture))
                    for w in shlex.split(line)]
                as_claude = ['FAKE_AGENT_NAME=claude'] if agent in OWN else []
                window = kitty.launch(f'{home}/bin/{agent}', *words, cwd=directory, type='tab', env=as_claude)
                rows.append((agent, line, directory, window))
                # One after the other: a conversation of codex is known by the moment it began.
                if until(lambda: f'{"claude" if agent in OWN else agent}: ' in kitty.text(window), 20):
                    kitty.send('hello\r', window)
        for agent, line, _, window in rows:
            heard = until(lambda w=window: 'heard hello' in kitty.text(w), 20)
            if not heard:
                tally.check(f'{agent} {line}: the stand-in talks', False, kitty.text(window)[-200:])
        listed = subprocess.run([f'{tools}/kittymux', 'sessions', 'list'], capture_output=True, text=True, timeout=60,
                                env=environ | {'KITTY_LISTEN_ON': 'unix:' + kitty.socket})
        done = subprocess.run([f'{tools}/kittymux', 'sessions', 'save', 'matrix', '--all'], capture_output=True, text=True,
                              env=environ | {'KITTY_LISTEN_ON': 'unix:' + kitty.socket}, timeout=60)
    if not tally.check('the matrix is saved', done.returncode == 0, done.stderr):
        return []
    # why the others are not exact
    print('\n'.join(f'      {a} | {b.strip()} | {c.strip()}' for a, b, c in zip(*[iter(listed.stdout.splitlines())] * 3)
                    if ' exact ' not in a))
    with open(f'{home}/.local/state/kittymux/sessions/matrix.kitty-session') as f:
        found = records(f.read())
    return [(agent, line, found.get(directory)) for agent, line, directory, _ in rows]


def answer(agents, url, agent, words, trusted):
    """What the real agent says to the words: its status (None: it had to be ended) and text."""
    with tempfile.TemporaryDirectory(prefix='real-', ignore_cleanup_errors=True) as home:
        directory = os.path.join(home, 'here')
        homes.prepare(home, [directory, trusted], url)
        environ = homes.environment(home, f'{agents}/bin:/usr/bin:/bin', url)
        with Terminal([agent, *words], environ, directory) as terminal:
            status = terminal.wait(90)
            return status, terminal.text()


def squeezed(text):
    return re.sub(r'\s+', '', text)


def judge(agents, mock, row):
    """(name, whether it is as it should be, what it said)."""
    agent, line, record = row
    name = f'{agent} {line}'
    if record is None:
        return name, False, 'no record was made'
    sid, resume = record['sid'], record['resume']
    everything = json.dumps([record['resume'], record['orig']])
    if record['mode'] != 'exact' or sid not in resume and not any(w.endswith(sid) for w in resume):
        return name, False, f'{record["mode"]}: {resume}'
    if 'never-1' in everything:
        return name, False, f'the prompt is replayed: {everything}'
    said, wanted = UNKNOWN[agent]
    # A screen breaks lines where it likes.
    expected = squeezed(re.sub(r'\bID$', sid, said))
    status, text = answer(agents, mock.url, agent, resume[1:], record['cwd'])
    ok = status == wanted and expected in squeezed(text) and not USAGE.search(text)
    return name, ok, f'{shlex.join(resume)} → {status}: {" ".join(text.split())[-300:]}'


def check(tally, tools, agents, home, environ, names):
    """`sessions check` believes every real CLI."""
    environ = environ | {'PATH': f'{agents}/bin:{tools}:/usr/bin:/bin'}
    done = subprocess.run([f'{tools}/kittymux', 'sessions', 'check', '--json'], capture_output=True, text=True, env=environ,
                          timeout=300)
    for agent in names:
        try:
            found = [e for e in json.loads(done.stdout)['agents'] if e['agent'] == agent]
        except (ValueError, KeyError, TypeError) as e:
            found = [repr(e)]
        tally.check(f'sessions check: {agent}', good(found), json.dumps(found)[:300])


def good(found):
    return len(found) == 1 and isinstance(found[0], dict) and found[0].get('verdict') == 'ok' and found[0].get('used') is True


def main():
    agents, tools = sys.argv[1:3]
    names = [n for n in MATRIX if os.path.exists(f'{agents}/bin/{n}')]
    for name in set(MATRIX) - set(names):
        print(f'left out: {name} is not installed')
        del MATRIX[name]
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix='lines-', ignore_cleanup_errors=True) as home, Mock() as mock:
        for name in names:
            os.makedirs(f'{home}/bin', exist_ok=True)
            os.symlink(f'{tools}/fake-agent', f'{home}/bin/{name}')
        os.symlink(f'{tools}/fake-kitty', f'{home}/bin/kitty')
        os.environ['PATH'] = f'{home}/bin:/usr/bin:/bin'
        environ = homes.environment(home, f'{home}/bin:{tools}:/usr/bin:/bin', mock.url)
        os.makedirs(environ['XDG_RUNTIME_DIR'], 0o700)
        with open(f'{here}/own.json') as f:
            homes.write(f'{home}/.config/kittymux/resume.json', f.read())
        check(tally, tools, agents, home, environ, names)
        rows = make(tally, tools, home, environ)
        accepted = dict.fromkeys(names, 0)
        with ThreadPoolExecutor(2) as pool:
            for (agent, *_), (name, ok, detail) in zip(rows, pool.map(lambda r: judge(agents, mock, r), rows)):
                accepted[agent] += tally.check(name, ok, detail)
        sent = [t for _, texts in mock.asked for t in texts if 'never-1' in t]
        tally.check('no prompt reached the model', not sent, repr(sent)[:300])
    lines = ', '.join(f'{a} {n}' for a, n in accepted.items())
    print(f'{len(accepted)} agents × command lines accepted: {lines}')
    return tally.close()


if __name__ == '__main__':
    sys.exit(main())
