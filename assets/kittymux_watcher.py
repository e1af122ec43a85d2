# kittymux_watcher.py: loaded by kitty (`watcher` in kitty.conf). It never raises, and does nothing without /proc.
#
# Loaded, it tells where this kitty's socket is: one line of JSON in <state>/kitties/<boot>-<pid>-<start>, once in a
# kitty's life. The files of kitties that are gone are removed.
#
# When kitty or one of its OS windows goes it writes what was open, as kitty would save it, to
# <state>/sessions/.exit/<boot>-<pid>-<start>-<n>.<how> and starts `kittymux exit-save` with that file. <how> is quit (a
# confirmed one), signal (kitty was ended), closed (that OS window alone) or last (the last programs in it have ended).
# Which files become a save, and what of them is true, is for kittymux to say: here nothing is decided or compared.
import json
import os
import re
import socket
import sys
import time
from contextlib import contextmanager, suppress
from runpy import run_path
from types import SimpleNamespace

from kitty import child, constants, fast_data_types, main, session

# kitty's own table of modules: including this file twice, or a copy of it, finds the same state.
STATE = sys.modules.setdefault('kittymux_state', SimpleNamespace(loaded=0, written=0, seen=set(), kept={}, quit={}))


def in_state(*below):
    base = next(filter(os.path.isabs, (os.environ.get('XDG_STATE_HOME', ''), os.path.expanduser('~/.local/state'))))
    return os.path.join(os.environ.get('KITTYMUX_STATE_DIR') or os.path.join(base, 'kittymux'), *below)


@contextmanager
def private_directory(*below):
    # a descriptor of a directory that is ours alone, as those above it; a symbolic link or somebody else's is refused
    with private_directory(*below[:-1]) if below else suppress():
        os.makedirs(in_state(*below), 0o700, exist_ok=True)
    fd = os.open(in_state(*below), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            raise PermissionError(below)
        os.fchmod(fd, 0o700)
        yield fd
    finally:
        os.close(fd)


def write(fd, name, value, sync=lambda fd: None):
    # ASCII; of lone surrogates only those that stand for a byte are left, our reader knows no others
    text = re.sub('[\ud800-\udc7f\udd00-\udfff]', '\ufffd', json.dumps(value, ensure_ascii=False))
    text = re.sub('[^\0-\x7f]', lambda c: json.dumps(c[0])[1:-1], text)
    temp = f'.{name}.{os.urandom(4).hex()}'
    try:
        with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=fd), 'w') as f:
            print(text, file=f, flush=True)
            sync(f.fileno())
        os.rename(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
        sync(fd)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=fd)


def life(pid):
    # pid and start time: field 22, behind a name that may hold blanks and brackets; 0 when the process is gone
    with suppress(FileNotFoundError, ProcessLookupError), open(f'/proc/{pid}/stat', 'rb') as f:
        return pid, int(f.read().rpartition(b')')[2].split()[19])
    return pid, 0


def this_kitty():
    with open('/proc/sys/kernel/random/boot_id') as f:
        return f.read().replace('-', '')[:8], *life(os.getpid())


def on_load(boss, *_):
    with suppress(Exception), private_directory('kitties') as fd:
        if boss.listening_on and not STATE.loaded:
            STATE.loaded = 1
            boot, pid, start = this_kitty()
            write(fd, f'{boot}-{pid}-{start}', {'v': 1, 'socket': boss.listening_on, 'pid': pid, 'start': start})
            for name in os.listdir(fd):
                if (its := re.fullmatch(rf'\.?{boot}-(\d+)-(\d+)(\..*)?', name)) and life(int(its[1]))[1] != int(its[2]):
                    os.unlink(name, dir_fd=fd)


def listed(os_windows):
    # as kitty's own list, which asks for the platform's window: kitty aborts when that is closed already
    focused, last = fast_data_types.current_focused_os_window_id(), fast_data_types.last_focused_os_window_id()
    return [{'id': k, 'platform_window_id': None, 'is_active': k == last, 'is_focused': k == focused,
             'last_focused': k == last, 'tabs': list(tm.list_tabs()), 'active_tab_history': list(tm.active_tab_history),
             'wm_class': tm.wm_class, 'wm_name': tm.wm_name} for k, tm in os_windows.items()]


def desk(os_windows):
    # text and window list from our capture kitten, for which this stands for the boss; else plainly from kitty
    boss = SimpleNamespace(os_window_map=os_windows, list_os_windows=lambda: listed(os_windows))
    with suppress(Exception):
        capture = run_path(in_state('kitty', 'kittymux_capture.py'))['capture']
        return (ans := json.loads(capture(['1', '{"os_windows": null, "skip": []}'], boss)))['text'], ans['ls']
    options, lines = session.parse_save_as_options_spec_args(['--use-foreground-process'])[0], []
    with child.cached_process_data():
        for tm in os_windows.values():
            with suppress(UnicodeError):  # a shell in a directory that is no UTF-8: the other OS windows remain
                lines += tm.serialize_state_as_session('', None, ser_opts=options, is_first=not lines)
        return re.sub('[\ud800-\udfff]', '\ufffd', '\n'.join(lines)), listed(os_windows)


def wanted():
    able = os.path.exists('/proc/self/stat') and getattr(main.run_app, 'cached_values_name', '') != 'panel'
    return able and os.environ.get('KITTYMUX_AUTOSAVE') != '0' and not os.path.lexists(in_state('autosave-off'))


def save(how, os_windows, kept):
    up, at, (boot, pid, start) = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns(), this_kitty()
    text, ls = desk({k: tm for k, tm in sorted(os_windows.items()) if k not in kept})
    for its_text, its_ls in kept.values():
        text, ls = '\n\n\nnew_os_window\n'.join(filter(None, (its_text, text))), its_ls + ls
    procs = {}
    for w in (w for o in ls for tab in o['tabs'] for w in tab['windows']):
        w['env'] = {}
        procs[w['id']] = {'child': life(w['pid']), 'foreground': [life(p['pid']) for p in w['foreground_processes']]}
    STATE.written += 1
    name = f'{boot}-{pid}-{start}-{STATE.written}.{how}'
    with private_directory('sessions', '.exit') as fd:
        write(fd, name, {'v': 1, 'how': how, 'kitty': {'pid': pid, 'start': start}, 'boot': boot, 'up': up, 'at': at,
                         'version': constants.str_version, 'text': text, 'ls': ls, 'procs': procs}, os.fsync)
    with open(in_state('self-path'), errors='surrogateescape') as f:
        command = [os.path.join('/', f.read().rstrip('\n')), 'exit-save', in_state('sessions', '.exit', name)]
    # It outlives this kitty: it must not hold anything of it open, or be deaf to the signals kitty blocks.
    looked, worker = socket.socketpair()
    actions = [(os.POSIX_SPAWN_DUP2, worker.fileno(), 1)]
    actions += [(os.POSIX_SPAWN_CLOSE, int(n)) for n in os.listdir('/proc/self/fd') if n != '1']
    actions += [(os.POSIX_SPAWN_OPEN, n, '/dev/null', os.O_RDWR, 0) for n in (0, 2)]
    os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True, setsigmask=())
    # Programs end with their windows: for a moment it may look at them while they run. One that is gone ends that.
    worker.close()
    looked.settimeout(0.25)
    looked.recv(1)


def on_quit(boss, window, data):
    # All watchers get the same data, in which a later one may still stop this quit.
    with suppress(Exception):
        if data.get('confirmed') and not data.get('aborted') and data is not STATE.quit and wanted():
            STATE.quit = data
            save('quit', boss.os_window_map, {})


def on_close(boss, window, *_):
    # Called for each window. Only the first one of an OS window that goes still sees all of it.
    with suppress(Exception):
        if window.id in STATE.seen or not wanted():
            return
        how, going = 'closed', {window.os_window_id: window.tabref().tab_manager_ref()}
        if window.os_window_id in boss.os_window_map:
            # kitty has closed the terminals of the windows that go, and of no other
            how = '' if any(os.isatty(w.child.child_fd) for tm in going.values() for tab in tm for w in tab) else 'last'
        elif fast_data_types.current_application_quit_request() == fast_data_types.IMPERATIVE_CLOSE_REQUESTED:
            going.update(boss.os_window_map)
            how = 'signal'
        # Programs may end a moment before kitty does, each with its window: then their OS window as it was before counts.
        kept = {k: v for k, (at, v) in STATE.kept.items() if k in going and time.monotonic() - at < 1}
        if not how and not kept and not window.actions_on_close:  # which kitty's own questions have; it saves none of them
            STATE.kept[window.os_window_id] = time.monotonic(), desk(going)
        elif how and (how != 'signal' or STATE.quit.get('aborted', True)):
            STATE.seen.update(w.id for tm in going.values() for tab in tm for w in tab)
            save(how, going, kept)
