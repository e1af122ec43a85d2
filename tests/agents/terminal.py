"""A program on a terminal of its own, as far as a test has to see it: what it writes, without escape sequences."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

ESCAPES = re.compile(rb'\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b.')
# What a terminal is asked at a start, and answers.
QUERIES = {b'\x1b[6n': b'\x1b[1;1R', b'\x1b[c': b'\x1b[?62c', b'\x1b[?u': b'\x1b[?0u'}


def squeezed(text):
    """Without blanks: a screen breaks lines, and programs draw words letter by letter."""
    return re.sub(r'\s+', '', text)


class Terminal:
    """`with Terminal(argv, environ, directory) as t`; what it started is ended with it, as when a window closes."""

    def __init__(self, argv, environ, directory, rows=40, columns=120):
        self.seen = bytearray()
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(directory)
                os.execvpe(argv[0], argv, environ)
            except OSError as e:
                os.write(2, f'{argv[0]}: {e}'.encode())
            os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def wait(self, seconds, text=None):
        """Reads until the program ends or has shown `text` (squeezed): its status, None when it goes on, or still runs at the end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text and text in squeezed(self.text()):
                return None
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.fd, 1 << 16)
            except OSError:
                piece = b''
            if not piece:
                _, status = os.waitpid(self.pid, 0)
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
            self.seen += piece
            for query, reply in QUERIES.items():
                if query in piece:
                    os.write(self.fd, reply)
        return None

    def text(self):
        return ESCAPES.sub(b' ', bytes(self.seen)).decode(errors='replace')
