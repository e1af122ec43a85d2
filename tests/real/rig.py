"""A real kitty of one's own, for the tests that run inside the chroot (see enter.sh).

Speaks kitty's remote control over its unix socket with frames of its own making, so nothing here depends on kittymux.
"""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

PREFIX, SUFFIX = b'\x1bP@kitty-cmd', b'\x1b\\'
# Small and steady: no dialogs at the end, nothing read from the network, no blinking.
BASE_CONF = '''
confirm_os_window_close 0
update_check_interval 0
cursor_blink_interval 0
remember_window_size no
initial_window_width 100c
initial_window_height 30c
'''


class NoReply(Exception):
    """kitty did not answer in time, or closed the connection."""


def until(what, seconds=10.0, step=0.03):
    """Call `what` until it returns something true; returns that, or the last false answer after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        ans = what()
        if ans or time.monotonic() > end:
            return ans
        time.sleep(step)


class Kitty:
    """One kitty process with a socket under a directory of its own; `with Kitty(...) as k`."""

    def __init__(self, conf='', args=(), env=None, session=None, home=None, files=None, remote='socket-only', listen=True):
        # files: what its HOME has, name → text; a zsh without .zshrc asks its questions for new users

        self.dir = tempfile.mkdtemp(prefix='desk-')
        self.socket = os.path.join(self.dir, 'socket')
        self.home = home or os.path.join(self.dir, 'home')
        config = os.path.join(self.dir, 'config')
        os.makedirs(self.home, exist_ok=True)
        os.makedirs(config, exist_ok=True)
        for name, text in ({'.zshrc': ''} if files is None else files).items():
            path = os.path.join(self.home, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w') as f:
                f.write(text)
        with open(os.path.join(config, 'kitty.conf'), 'w') as f:
            f.write(BASE_CONF + (f'allow_remote_control {remote}\n' if remote else '') + conf + '\n')
        cmd = ['kitty', *args]
        if listen:
            cmd += ['--listen-on', 'unix:' + self.socket]
        if session is not None:
            self.session = os.path.join(self.dir, 'desk.kitty-session')
            with open(self.session, 'w', errors='surrogateescape') as f:
                f.write(session)
            cmd += ['--session', self.session]
        environ = {k: v for k, v in os.environ.items() if not k.startswith('KITTY')}
        environ.update(HOME=self.home, KITTY_CONFIG_DIRECTORY=config, **(env or {}))
        self.log = os.path.join(self.dir, 'log')
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ,
                                            cwd=self.home, start_new_session=True)
        if listen and not until(self.accepts, 20):
            raise NoReply('kitty made no socket: ' + self.messages())

    def accepts(self):
        """Whether kitty can be reached; its socket's file is there a moment before that."""
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(self.socket)
                return True
            except OSError:
                return False

    def messages(self):
        with open(self.log, errors='replace') as f:
            return f.read()

    def raw(self, request, seconds=20.0):
        """Send one request object, return the body of the reply frame as text."""
        frame = PREFIX + json.dumps(request).encode() + SUFFIX
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(seconds)
            s.connect(self.socket)
            s.sendall(frame)
            got = bytearray()
            try:
                while not got.endswith(SUFFIX):
                    piece = s.recv(1 << 16)
                    if not piece:
                        raise NoReply('end of file')
                    got += piece
            except TimeoutError as e:
                raise NoReply('time-out') from e
        return bytes(got[len(PREFIX):-len(SUFFIX)]).decode()

    def ask(self, cmd, payload=None, seconds=20.0):
        """The reply's `data`; an error of kitty's is raised as RuntimeError."""
        ans = json.loads(self.raw({'cmd': cmd, 'version': [0, 26, 0], 'payload': payload or {}}, seconds))
        if not ans.get('ok'):
            raise RuntimeError(ans.get('error'))
        return ans.get('data')

    def act(self, action):
        return self.ask('action', {'action': action})

    def ls(self):
        return json.loads(self.ask('ls'))

    def tabs(self):
        return [t for o in self.ls() for t in o['tabs']]

    def windows(self):
        return [w for t in self.tabs() for w in t['windows']]

    def window(self, id):
        return next((w for w in self.windows() if w['id'] == id), None)

    def launch(self, *args, **payload):
        """Returns the new window's id as kitty gives it."""
        payload['args'] = list(args)
        return int(self.ask('launch', payload) or 0)

    def send(self, text, id=None):
        payload = {'data': 'text:' + text}
        if id is not None:
            payload['match'] = f'id:{id}'
        self.ask('send-text', payload)

    def text(self, id, extent='screen'):
        return self.ask('get-text', {'match': f'id:{id}', 'extent': extent})

    def save(self, path, options='--use-foreground-process --save-only'):
        """kitty's own save_as_session, as bytes; the path must need no quoting."""
        if os.path.exists(path):
            os.unlink(path)
        self.act(f'save_as_session {options} {path}')
        with open(path, 'rb') as f:
            return f.read()

    def stop(self, seconds=10.0):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Tally:
    """One line per case and the closing line `N passed, N failed`."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, ok, detail=''):
        if ok:
            self.passed += 1
            print(f'ok    {name}', flush=True)
        else:
            self.failed += 1
            print(f'FAIL  {name}  {detail}', flush=True)
        return ok

    def close(self):
        print(f'{self.passed} passed, {self.failed} failed', flush=True)
        return 1 if self.failed or not self.passed else 0
