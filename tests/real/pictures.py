#!/usr/bin/env python3
"""Pictures of what kittymux shows, from a real kitty of 80 columns; run by pictures.sh. Writes a tar of PNGs to stdout.

Xvfb keeps its screen in a file (-fbdir), so nothing but Python is needed to read it.
"""
import datetime
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tarfile
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, until  # noqa: E402

HOME = '/home/user'
STATE = HOME + '/.local/state/kittymux'
BIN = HOME + '/.local/bin'
DISPLAY = ':97'
FRAMES = '/tmp/frames'
FONT = 'DejaVu Sans Mono'
MARGIN = 10
DARK = '''background #1e2127
foreground #d5d8dd
cursor #1e2127
color1 #e06c75
color2 #98c379
color3 #e5c07b
color4 #61afef
color8 #7d8590
'''
LIGHT = '''background #fbf8f1
foreground #33363b
cursor #fbf8f1
color1 #b3312c
color2 #3f7a2a
color3 #8a6300
color4 #1f5fa8
color8 #75787d
'''
CONF = '''shell /bin/bash
font_family DejaVu Sans Mono
font_size 11
confirm_os_window_close 0
update_check_interval 0
cursor_blink_interval 0
cursor_shape beam
remember_window_size no
initial_window_width 80c
initial_window_height 34c
window_padding_width 6
hide_window_decorations yes
tab_bar_min_tabs 99
enabled_layouts stack
# below this line: as kittymux setup leaves it
'''
RC = f"PATH={BIN}:$PATH\nPS1='$ '\n"
# directory, what is typed, tab title, what is said
TALKS = [
    ('code/api', 'claude --model opus', 'api work', ['the login test fails on main', 'try it with the old token']),
    ('code/web', 'claude', 'front end', ['make the menu open by keyboard too']),
    ('code/tools', 'codex --no-daemon -m gpt-5.5', 'tools', ['sort the report by date']),
    ('notes', 'claude', '', []),
]


def say(text):
    print(text, file=sys.stderr, flush=True)


def put(name, text, mode=0o644):
    path = os.path.join(HOME, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)


def environ():
    return {'HOME': HOME, 'PATH': f'{BIN}:/usr/local/bin:/usr/bin:/bin', 'SHELL': '/bin/bash', 'LANG': 'C.UTF-8',
            'DISPLAY': DISPLAY, 'LIBGL_ALWAYS_SOFTWARE': '1', 'FONTCONFIG_FILE': '/tmp/fonts.conf', 'TMPDIR': '/tmp/run',
            'XDG_RUNTIME_DIR': '/tmp/run', 'FAKE_AGENT_HOOK': os.environ.get('FAKE_AGENT_HOOK', '')}


class Desk(Kitty):
    """A kitty of this home, by the socket that setup gave it."""

    def __init__(self, colours):
        put('.config/kitty/colours.conf', colours)
        self.process = subprocess.Popen(['kitty'], env=environ(), cwd=HOME, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.socket = f'/tmp/run/kittymux-{self.process.pid}'
        if not until(self.accepts, 20):
            raise SystemExit('pictures: kitty made no socket')

    def shows(self, window, what):
        if not until(lambda: what in self.text(window).replace('\n', ''), 15):
            raise SystemExit(f'pictures: window {window} never showed {what}:\n{self.text(window)}')


def run(*words):
    done = subprocess.run([BIN + '/kittymux', *words], env=environ(), cwd=HOME, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f'pictures: kittymux {" ".join(words)}: {done.stderr}{done.stdout}')
    return done.stdout


def frame():
    """The screen as rows of RGB, from the XWD file that Xvfb keeps."""
    with open(FRAMES + '/Xvfb_screen0', 'rb') as f:
        data = f.read()
    head = struct.unpack('>25I', data[:100])
    size, width, height, per_line, colours = head[0], head[4], head[5], head[12], head[19]
    pixels = data[size + colours * 12:]
    rows = []
    for y in range(height):
        line = pixels[y * per_line:y * per_line + width * 4]
        rgb = bytearray(width * 3)
        rgb[0::3], rgb[1::3], rgb[2::3] = line[2::4], line[1::4], line[0::4]
        rows.append(bytes(rgb))
    return rows


def cropped(rows):
    """The window (the root is black), without the empty rows below its text."""
    black = bytes(3)
    first = rows[0]
    width = next((n for n in range(len(first) // 3) if first[n * 3:n * 3 + 3] == black), len(first) // 3)
    rows = [r[:width * 3] for r in rows if r[:3] != black]
    back = rows[0][:3] * width
    last = max(n for n, r in enumerate(rows) if r != back)
    return rows[:last + 1 + MARGIN] + [back] * max(0, last + 1 + MARGIN - len(rows))


def png(rows):
    """As few bytes as go without loss: a palette where the colours are few."""
    width = len(rows[0]) // 3
    pixels = [[r[n * 3:n * 3 + 3] for n in range(width)] for r in rows]
    palette = {}
    for row in pixels:
        for colour in row:
            palette.setdefault(colour, len(palette))
    if len(palette) <= 256:
        kind, raw = 3, b''.join(b'\0' + bytes(palette[c] for c in row) for row in pixels)
        extra = chunk(b'PLTE', b''.join(palette))
    else:
        kind, raw, extra = 2, b''.join(b'\0' + r for r in rows), b''
    head = struct.pack('>IIBBBBB', width, len(rows), 8, kind, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + extra + chunk(b'IDAT', zlib.compress(raw, 9)) + chunk(b'IEND', b'')


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def picture(out, name):
    """The screen, once it stands still."""
    last = None

    def still():
        nonlocal last
        now = cropped(frame())
        same, last = now == last, now
        return same and now
    time.sleep(0.5)
    rows = until(still, 10, 0.3)
    data = png(rows)
    say(f'{name}: {len(rows[0]) // 3} x {len(rows)}, {len(data)} bytes')
    info = tarfile.TarInfo(name + '.png')
    info.size, info.mode = len(data), 0o644
    out.addfile(info, io.BytesIO(data))


def command(desk, out, line, name, last):
    """A shell in which `line` was typed, in a tab of its own that is gone afterwards."""
    window = desk.launch('/bin/bash', '--rcfile', HOME + '/.viewrc', type='tab', cwd=HOME)
    desk.shows(window, '$')
    desk.send(line + '\r', window)
    desk.shows(window, last)
    picture(out, name)
    desk.ask('close-window', {'match': f'id:{window}'})


def talk(desk, directory, typed, title, said):
    path = os.path.join(HOME, directory)
    os.makedirs(path, exist_ok=True)
    window = desk.launch(type='tab', cwd=path, **({'tab_title': title} if title else {}))
    desk.shows(window, '$')
    desk.send(typed + '\r', window)
    desk.shows(window, '(new)')
    for text in said:
        desk.send(text + '\r', window)
        desk.shows(window, 'heard ' + text)
    return window


def prompts(out, name, colours):
    """A kitty that opens with the desk of the one before, and asks."""
    desk = Desk(colours)
    asks = until(lambda: next((w for w in desk.windows() if w['cwd'].endswith('/code/api')), None), 15)
    desk.ask('focus-window', {'match': f"id:{asks['id']}"})
    desk.shows(asks['id'], 'Enter resume')
    picture(out, name)
    return desk


def older(journal):
    """Work of the days before: the sessions of today, at other times and in other places."""
    with open(journal) as f:
        document = json.load(f)
    sessions = document['sessions']
    for session, (runs, minutes) in zip(sessions, [(14, 47), (3, 9), (6, 21)]):
        session.update(runs=runs, work_ms=minutes * 60000)
    days = [('code/api', 'claude', 'api work', 22, 95, 26), ('code/web', 'codex', 'front end', 9, 31, 29), ('notes', 'claude', 'talk', 4, 12, 50)]
    for n, (directory, agent, tab, runs, minutes, hours) in enumerate(days):
        old = dict(next(s for s in sessions if s['agent'] == agent))
        old.update(sid=f'{n + 3}c1e{n}b7{n}' + old['sid'][8:], cwd=f'{HOME}/{directory}', tab=tab, runs=runs, work_ms=minutes * 60000, open=False)
        then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
        old['first'] = old['last'] = old['closed'] = then.strftime('%Y-%m-%dT%H:%M:%S.000Z')
        sessions.append(old)
    with open(journal, 'w') as f:
        f.write('{"v":1,"sessions":[\n' + ',\n'.join(map(json.dumps, sessions)) + '\n]}\n')


def main():
    os.makedirs(FRAMES)
    os.makedirs('/tmp/run', 0o700)
    os.makedirs('/tmp/.X11-unix', exist_ok=True)
    fonts = os.environ['FONTS']
    with open('/tmp/fonts.conf', 'w') as f:
        f.write(f'<fontconfig><dir>{fonts}</dir><cachedir>/tmp/font-cache</cachedir></fontconfig>')
    x = subprocess.Popen(['Xvfb', DISPLAY, '-screen', '0', '1280x1024x24', '-nolisten', 'tcp', '-br', '-nocursor', '-fbdir', FRAMES],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not until(lambda: os.path.exists('/tmp/.X11-unix/X97'), 10):
        raise SystemExit('pictures: Xvfb did not start')
    os.makedirs(BIN)
    for name in ('claude', 'codex'):
        subprocess.run(['cp', '/mnt/stage/bin/fake-agent', f'{BIN}/{name}'], check=True)
    subprocess.run(['cp', '/mnt/stage/bin/kittymux', BIN], check=True)
    put('.bashrc', RC)
    put('.viewrc', RC)
    put('.config/kitty/kitty.conf', CONF + 'include colours.conf\n')
    run('setup', '--yes')
    out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|')
    desk = Desk(DARK)
    windows = [talk(desk, *t) for t in TALKS]
    run('sessions', 'save', '--all', 'monday')
    run('--tick')
    command(desk, out, 'kittymux sessions list', 'list', 'nothing was said in it yet')
    command(desk, out, 'kittymux doctor', 'doctor', '1 save')
    older(STATE + '/agent-sessions.json')
    command(desk, out, 'kittymux sessions history', 'history', 'of work')
    for window in windows[2:]:
        desk.ask('close-window', {'match': f'id:{window}'})
    desk.stop()
    until(lambda: 'launch' in open(STATE + '/sessions/startup.kitty-session').read(), 10)
    for name, colours in (('prompt-dark', DARK), ('prompt-light', LIGHT)):
        desk = prompts(out, name, colours)
        desk.stop()
        until(lambda: 'launch' in open(STATE + '/sessions/startup.kitty-session').read(), 10)
    out.close()
    desk.stop()
    x.send_signal(signal.SIGTERM)


if __name__ == '__main__':
    main()
