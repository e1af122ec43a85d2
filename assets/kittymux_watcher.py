# kittymux_watcher.py: loaded by kitty (`watcher` in kitty.conf); tells kittymux where this kitty's socket is.
# Writes one line of JSON to <state>/kitties/<boot>-<pid>-<start>, once in a kitty's life, and removes the files of
# kitties that are gone. It never raises, and does nothing where there is no socket or no /proc.
import json
import os
import sys

# kitty's own table of modules: including this file twice, or a copy of it, finds the same state.
STATE = sys.modules.setdefault('kittymux_watcher_state', type(sys)('kittymux_watcher_state'))


def state_directory():
    base = os.environ.get('XDG_STATE_HOME', '')
    base = base if os.path.isabs(base) else os.path.expanduser('~/.local/state')
    return os.environ.get('KITTYMUX_STATE_DIR') or os.path.join(base, 'kittymux')


def private_directory(path):
    # a descriptor of a directory that is ours alone; a symbolic link or somebody else's is refused
    os.makedirs(path, 0o700, exist_ok=True)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if os.fstat(fd).st_uid != os.geteuid():
        os.close(fd)
        raise PermissionError(path)
    os.fchmod(fd, 0o700)
    return fd


def start_of(pid):
    with open(f'/proc/{pid}/stat', 'rb') as f:  # field 22, behind a name that may hold blanks and brackets
        return int(f.read().rpartition(b')')[2].split()[19])


def gone(name, boot):
    its_boot, pid, start = (name.lstrip('.').split('.')[0].split('-') + ['', '', ''])[:3]
    try:
        return its_boot == boot and start_of(int(pid)) != int(start)
    except (FileNotFoundError, ProcessLookupError):
        return True
    except ValueError:
        return False


def register(socket, pid):
    start = start_of(pid)
    with open('/proc/sys/kernel/random/boot_id') as f:
        boot = f.read().replace('-', '')[:8]
    os.close(private_directory(state_directory()))
    fd = private_directory(os.path.join(state_directory(), 'kitties'))
    try:
        name = f'{boot}-{pid}-{start}'
        temp = f'.{name}.{os.urandom(4).hex()}'
        with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=fd), 'w') as f:
            f.write(json.dumps({'v': 1, 'socket': socket, 'pid': pid, 'start': start}) + '\n')
        os.rename(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
        for other in os.listdir(fd):
            if gone(other, boot):
                os.unlink(other, dir_fd=fd)
    finally:
        os.close(fd)


def on_load(boss, *_):
    try:
        if boss.listening_on and not hasattr(STATE, 'registered'):
            STATE.registered = True
            register(boss.listening_on, os.getpid())
    except Exception:
        pass
