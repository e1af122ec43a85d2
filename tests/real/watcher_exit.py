#!/usr/bin/env python3
"""What the watcher writes when a real kitty, or one of its OS windows, goes; run inside the chroot:

    tests/real/enter.sh tests/real/watcher_exit.py
    KITTYMUX_TEST_SUITE=bookworm tests/real/enter.sh tests/real/watcher_exit.py old     (in a kitty without sessions)
"""
import json
import os
import re
import resource
import shlex
import shutil
import signal
import stat
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, Tally, until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ASSETS = os.path.realpath(os.path.join(HERE, '..', '..', 'assets'))
WATCHER = os.path.join(ASSETS, 'kittymux_watcher.py')
CAPTURE = os.path.join(ASSETS, 'kittymux_capture.py')
CHECK = os.path.join(HERE, 'check-session')
# Stands where kittymux would: notes its words, environment, signals and descriptors, then is renamed into place.
WORKER = '''#!/usr/bin/env python3
import json, os, sys
stdout = os.readlink('/proc/self/fd/1')
os.write(1, b'\\n')  # looked: kitty need not stand still any longer
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
note = {'argv': sys.argv[1:], 'env': dict(os.environ), 'blocked': int(status['SigBlk'], 16), 'leads': os.getsid(0) == os.getpid(),
        'fds': [os.readlink('/proc/self/fd/0'), stdout.split(':')[0], os.readlink('/proc/self/fd/2')],
        'others': [n for n in os.listdir('/proc/self/fd') if int(n) > 2 and os.path.exists(f'/proc/self/fd/{n}')],
        'there': os.path.exists(sys.argv[-1])}
path = os.path.join(os.environ['KITTYMUX_STATE_DIR'], f'worker-{os.getpid()}')
with open(path + '.part', 'w') as f:
    json.dump(note, f)
os.rename(path + '.part', path)
'''
BOTH_TABS = 'new_tab one\nlayout tall\nlaunch\nlaunch sleep 7001\nnew_tab\nlaunch sleep 7002\n'
tally = Tally()
texts = []  # (name, text): what kitty's own parser is asked about at the end, all at once


class Desk(Kitty):
    """A kitty with our watcher and a state directory that has the capture kitten and a recording worker."""

    def __init__(self, conf='', env=None, first='', capture=CAPTURE, worker=WORKER, state=None, watcher=WATCHER, **options):
        self.state = state or os.path.join(tempfile.mkdtemp(), 'state')
        if state is None:
            os.makedirs(os.path.join(self.state, 'kitty'))
            if capture:
                shutil.copy(capture, os.path.join(self.state, 'kitty', 'kittymux_capture.py'))
            if worker:
                path = os.path.join(self.state, 'worker.py')
                with open(path, 'w') as f:
                    f.write(worker)
                os.chmod(path, 0o755)
                with open(os.path.join(self.state, 'self-path'), 'w') as f:
                    f.write(path + '\n')
        self.exits = os.path.join(self.state, 'sessions', '.exit')
        super().__init__(conf=f'{first}watcher {watcher}\n{conf}', env={'KITTYMUX_STATE_DIR': self.state, **(env or {})}, **options)

    def settle(self, count):
        ok = until(lambda: len(self.windows()) == count and all(w['foreground_processes'] for w in self.windows()), 8)
        assert ok, f'{count} windows wanted: {self.windows()} {self.messages()}'

    def lives(self):
        return self.process.poll() is None

    def ended(self, seconds=10):
        return until(lambda: not self.lives(), seconds)

    def files(self):
        """Names in the order in which they were written; all of them, also those of torn writes."""
        names = os.listdir(self.exits) if os.path.isdir(self.exits) else []
        return sorted(names, key=lambda n: int(n.split('-')[-1].split('.')[0]) if re.fullmatch(r'[0-9a-f]{8}(-\d+){3}\.[a-z]+', n) else -1)

    def documents(self):
        ans = []
        for name in self.files():
            with open(os.path.join(self.exits, name), encoding='ascii') as f:
                ans.append(json.load(f))
        return ans

    def workers(self):
        ans = []
        for name in os.listdir(self.state):
            if name.startswith('worker-') and not name.endswith('.part'):
                with open(os.path.join(self.state, name)) as f:
                    ans.append(json.load(f))
        return ans

    def close_by_manager(self, number=0):
        """As a click on the close button: the window manager asks that OS window to go."""
        x = str(self.ls()[number]['platform_window_id'])
        subprocess.run(['xdotool', 'windowactivate', '--sync', x, 'key', 'alt+F4'], check=True, stderr=subprocess.DEVNULL)

    def answer(self, action, key):
        """Do what opens kitty's question, and answer it."""
        before = {w['id'] for w in self.windows()}
        action()
        asked = lambda: [w['id'] for w in self.windows() if w['id'] not in before]
        new = until(asked, 5)
        if not new:  # a key can get lost while the machine is busy
            action()
            new = until(asked, 10)
        assert new, 'kitty asked nothing: ' + self.messages()
        until(lambda: '?' in self.text(new[0]), 5)
        self.send(key, new[0])
        until(lambda: not self.lives() or self.gone(new[0]), 5)

    def gone(self, window):
        try:
            return self.window(window) is None
        except Exception:
            return True


def in_list(document):
    return [w for o in document['ls'] for t in o['tabs'] for w in t['windows']]


def launches(document):
    return sum(line.startswith('launch ') for line in document['text'].split('\n'))


def start_of(pid):
    with open(f'/proc/{pid}/stat') as f:
        return int(f.read().rpartition(')')[2].split()[19])


def children(pid):
    """The states of its child processes."""
    ans = []
    for other in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{other}/stat') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            ans.append(fields[0])
    return ans


def examine(name, desk, expected, parses=True, clean=True, started=True, alive=True):
    """expected: per file its `how`, the windows in it and its OS windows. alive: their processes were when it was written."""
    until(lambda: len(desk.files()) >= len(expected), 3)
    if started:
        until(lambda: len(desk.workers()) >= len(expected), 5)
    files, documents = desk.files(), desk.documents()
    with open('/proc/sys/kernel/random/boot_id') as f:
        boot = f.read().replace('-', '')[:8]
    wrong = []

    def want(what, seen, wanted):
        if seen != wanted:
            wrong.append(f'{what}: {seen} instead of {wanted}')
    want('files', [(f.rpartition('.')[2], launches(d), len(d['ls'])) for f, d in zip(files, documents)], expected)
    for n, (file, document) in enumerate(zip(files, documents), 1):
        pid, start = document['kitty']['pid'], document['kitty']['start']
        want('name', file, f'{boot}-{pid}-{start}-{n}.{document["how"]}')
        want('keys', sorted(document), ['at', 'boot', 'how', 'kitty', 'ls', 'procs', 'text', 'up', 'v', 'version'])
        want('head', (document['v'], document['boot'], pid, start), (1, boot, desk.process.pid, desk.start))
        want('clock', abs(document['at'] - time.time_ns()) < 60e9 and abs(document['up'] - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) < 60e9, True)
        want('windows in ls and procs', (len(in_list(document)), sorted(document['procs'])),
             (launches(document), sorted(str(w['id']) for w in in_list(document))))
        want('pids', [document['procs'][str(w['id'])]['child'][0] for w in in_list(document)], [w['pid'] for w in in_list(document)])
        want('environments', [w['env'] for w in in_list(document)], [{}] * launches(document))
        if alive and document['how'] in ('quit', 'signal', 'closed'):
            want('start times', [w['id'] for w in in_list(document) if not all(s > start for _, s in
                 [document['procs'][str(w['id'])]['child'], *document['procs'][str(w['id'])]['foreground']])], [])
        want('mode', stat.S_IMODE(os.stat(os.path.join(desk.exits, file)).st_mode), 0o600)
        if parses:
            texts.append((name, document['text']))
    if files:
        for path in (desk.exits, os.path.dirname(desk.exits), desk.state):
            want(f'mode of {path}', stat.S_IMODE(os.stat(path).st_mode), 0o700)
    workers = desk.workers()
    want('workers', sorted(w['argv'] for w in workers), [['exit-save', os.path.join(desk.exits, f)] for f in files] if started else [])
    for worker in workers:
        want('names of the closing kitty', [k for k in worker['env'] if k in (
            'KITTY_LISTEN_ON', 'KITTY_WINDOW_ID', 'KITTY_PID', 'KITTY_PUBLIC_KEY')], [])
        want('its session, its files, and the document there', (worker['leads'], worker['fds'], worker['others'], worker['there']),
             (True, ['/dev/null', 'socket', '/dev/null'], [], True))
        want('blocked signals', worker['blocked'], 0)
    if clean:
        log = desk.messages()
        want('log', [line for line in log.split('\n') if 'Traceback' in line or 'atcher' in line or 'Assertion' in line], [])
    tally.check(name, not wrong, '; '.join(wrong)[:2000])
    return documents


def begun(count, **options):
    desk = Desk(**options)
    desk.settle(count)
    desk.start = start_of(desk.process.pid)
    return desk


def own_save(desk):
    """kitty's save_as_session now, without what a first OS window that is not the first adds."""
    return desk.save(os.path.join(desk.dir, 'saved')).decode()


def by_quit():
    two = BOTH_TABS + 'new_os_window\nlaunch\nlaunch --type=overlay sleep 7003\n'
    with begun(5, session=two) as k:
        until(lambda: sum(w['at_prompt'] for w in k.windows()) == 2, 4)
        theirs, listed = own_save(k), k.ls()
        k.act('quit')
        k.ended()
        document, = examine('quit, nothing asked, two OS windows', k, [('quit', 5, 2)])
        tally.check('its text is that of save_as_session', document['text'] == theirs, f'\n{document["text"]}\n---\n{theirs}')

        def plain(os_windows):
            for o in os_windows:
                o.pop('platform_window_id'), o.pop('background_opacity', None)
                for w in (w for t in o['tabs'] for w in t['windows']):
                    w.update(env={}, has_activity_since_last_focus=None)
            return os_windows
        tally.check('its list is that of ls', plain(json.loads(json.dumps(document['ls']))) == plain(listed), f'\n{document["ls"]}\n---\n{listed}')
    with begun(3, session=BOTH_TABS, conf='confirm_os_window_close 1') as k:
        k.answer(lambda: k.act('quit'), 'n')
        examine('quit, answered no', k, [])
        k.answer(lambda: k.act('quit'), 'y')
        k.ended()
        examine('then quit, answered yes', k, [('quit', 3, 1)])
    with begun(3, session=BOTH_TABS, conf='confirm_os_window_close 1') as k:
        k.answer(lambda: k.act('quit'), 'n')
        k.answer(k.close_by_manager, 'n')
        examine('quit and the close button, both answered no', k, [])
        k.answer(k.close_by_manager, 'y')
        k.ended()
        examine('then the close button, answered yes', k, [('closed', 3, 1)])


def aborted():
    """A watcher behind ours that stops quits while a file is there."""
    stop = os.path.join(tempfile.mkdtemp(), 'stop')
    path = stop + '.py'
    with open(path, 'w') as f:
        f.write(f'import os\ndef on_quit(boss, window, data):\n    data["aborted"] = os.path.exists({stop!r})\n')
    for name, last, how in (('quit', lambda k: k.act('quit'), 'quit'), ('SIGTERM', lambda k: k.process.send_signal(signal.SIGTERM), 'signal')):
        open(stop, 'w').close()
        with begun(3, session=BOTH_TABS, conf=f'watcher {path}') as k:
            k.act('quit')
            time.sleep(0.2)
            alive = k.lives()
            os.unlink(stop)
            k.launch('sleep', '7010')
            last(k)
            k.ended()
            examine(f'a quit that a later watcher stops, a new window and at once {name}', k, [('quit', 3, 1), (how, 4, 1)])
            tally.check('that quit was stopped', alive)


def by_manager():
    with begun(3, session=BOTH_TABS) as k:
        k.close_by_manager()
        k.ended()
        examine('the close button of the only OS window', k, [('closed', 3, 1)])
    with begun(5, session=BOTH_TABS + 'new_os_window\nlaunch\nlaunch sleep 7004\n') as k:
        first, second = [[w['id'] for t in o['tabs'] for w in t['windows']] for o in k.ls()]
        k.close_by_manager(0)
        until(lambda: len(k.ls()) == 1)
        document, = examine('the close button of one of two OS windows', k, [('closed', 3, 1)])
        tally.check('the worker leaves no zombie', until(lambda: not [s for s in children(k.process.pid) if s == 'Z'], 3))
        tally.check('kitty lives and answers, and that OS window alone is in the file',
                    [w['id'] for w in k.windows()] == second and [w['id'] for w in in_list(document)] == first, str(document['ls']))
        k.close_by_manager(0)
        k.ended()
        examine('then that of the other', k, [('closed', 3, 1), ('closed', 2, 1)])


def by_signal():
    two = BOTH_TABS + 'new_os_window\nlaunch\nnew_os_window\nlaunch sleep 7005\n'
    for which in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with begun(5, session=two, conf='confirm_os_window_close 1') as k:
            k.process.send_signal(which)
            k.ended()
            examine(f'{which.name}, three OS windows', k, [('signal', 5, 3)])
    with begun(1) as k:
        k.process.kill()
        k.ended()
        examine('kill -9', k, [])
    with Desk(listen=False) as k:
        until(lambda: subprocess.run(['pgrep', '-P', str(k.process.pid), 'bash'], capture_output=True).stdout, 8)
        time.sleep(0.5)
        k.start = start_of(k.process.pid)
        k.process.send_signal(signal.SIGTERM)
        k.ended()
        examine('SIGTERM, a kitty without a socket', k, [('signal', 1, 1)])


def descendants(pid):
    """Its child processes and theirs, by pid."""
    parents = {}
    for other in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{other}/stat') as f:
                parents[int(other)] = int(f.read().rpartition(')')[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for p in found:
        found += [child for child, parent in parents.items() if parent == p]
    return sorted(found[1:])


def all_at_once():
    """As when a session is ended: every process is told to go at the same moment, in this or that order."""
    two = BOTH_TABS + 'new_os_window\nlaunch\nlaunch sleep 7012\nlaunch sleep 7013\nnew_os_window\nlaunch\n'
    for name, order in (('kitty first', lambda pid: [pid, *descendants(pid)]), ('kitty last', lambda pid: [*descendants(pid), pid])):
        with begun(7, session=two) as k:
            until(lambda: sum(w['at_prompt'] for w in k.windows()) == 3, 4)
            for pid in order(k.process.pid):
                os.kill(pid, signal.SIGTERM)
            k.ended()
            examine(f'SIGTERM for all processes, {name}', k, [('signal', 7, 3)], alive=False)


def parts():
    """What ends in a kitty that lives on; and its last windows."""
    with begun(3, session=BOTH_TABS) as k:
        k.launch('sleep', '7006', type='os-window')
        k.settle(4)
        ids = [w['id'] for w in k.windows()]
        k.ask('close-window', {'match': f'id:{ids[1]}'})
        until(lambda: len(k.windows()) == 3)
        k.ask('close-tab', {'match': f'window_id:{ids[2]}'})
        until(lambda: len(k.windows()) == 2)
        k.launch(type='window', match=f'window_id:{ids[0]}')
        k.settle(3)
        new = next(w['id'] for w in k.windows() if w['id'] not in ids)
        until(lambda: k.window(new)['at_prompt'], 4)
        k.send('exit\r', new)
        until(lambda: len(k.windows()) == 2)
        examine('a split closed, a tab of two closed, a shell of two left', k, [])
        time.sleep(1.1)  # what ends within a second has ended together
        k.ask('focus-window', {'match': f'id:{ids[3]}'})
        k.act('close_os_window')
        until(lambda: len(k.windows()) == 1)
        examine('close_os_window, one of two', k, [('closed', 1, 1)])
        until(lambda: k.window(ids[0])['at_prompt'], 4)
        k.send('exit\r', ids[0])
        k.ended()
        examine('then the last shell is left', k, [('closed', 1, 1), ('last', 1, 1)])
    stubborn = '''new_tab\nlaunch\nlaunch sh -c 'trap "" HUP; sleep 2'\nlaunch sh -c 'trap "" HUP; sleep 2'\n'''
    with begun(3, session=stubborn) as k:
        k.act('close_tab')
        k.ended()
        examine('close_tab of the last tab, with programs that do not go at once', k, [('last', 3, 1)])
    with begun(4, session=BOTH_TABS + 'new_tab\nlaunch sleep 7007\n') as k:
        k.ask('focus-tab', {'match': 'title:one'})
        k.act('detach_tab')
        until(lambda: len(k.ls()) == 2)
        detached = next(n for n, o in enumerate(k.ls()) if o['tabs'][0]['title'] == 'one')
        k.close_by_manager(detached)
        until(lambda: len(k.ls()) == 1)
        examine('a tab that was detached, and its OS window closed', k, [('closed', 2, 1)])
        k.act('quit')
        k.ended()
        examine('then quit', k, [('closed', 2, 1), ('quit', 2, 1)])


def loaded_often():
    copy = os.path.join(tempfile.mkdtemp(), 'a copy.py')
    shutil.copy(WATCHER, copy)
    with begun(3, session=BOTH_TABS, conf=f'watcher {WATCHER}\nwatcher {copy}') as k:
        k.act('load_config_file')
        k.process.send_signal(signal.SIGUSR1)
        k.ask('launch', {'args': ['sleep', '7008'], 'watcher': [copy, WATCHER], 'type': 'os-window'})
        k.settle(4)
        k.close_by_manager(1)
        until(lambda: len(k.ls()) == 1)
        examine('included twice and as a copy, read again twice: one OS window closed', k, [('closed', 1, 1)])
        k.act('quit')
        k.ended()
        examine('the same, then quit', k, [('closed', 1, 1), ('quit', 3, 1)])
    with begun(3, session=BOTH_TABS, conf=f'watcher {WATCHER}\nwatcher {copy}') as k:
        k.process.send_signal(signal.SIGTERM)
        k.ended()
        examine('included twice and as a copy, SIGTERM', k, [('signal', 3, 1)])


def odd_values():
    base = tempfile.mkdtemp()
    bad = os.fsencode(base) + b'/bad\xff'
    os.mkdir(bad)
    for name, capture in (('', CAPTURE), (', without the capture kitten', None)):
        with begun(1, capture=capture) as k:
            first = k.windows()[0]['id']
            until(lambda: k.window(first)['at_prompt'], 4)
            k.launch('sleep', '7009', cwd='/usr', type='os-window')
            k.send(f"cd {base}/bad*\r", first)
            until(lambda: os.readlink(b'/proc/%d/cwd' % k.window(first)['pid']) == bad and k.window(first)['at_prompt'], 4)
            time.sleep(0.3)
            k.act('quit')
            k.ended()
            until(k.workers, 5)
            document = k.documents()[0]
            wanted = 2 if capture else 1
            tally.check(f'a directory that is no UTF-8: the others are there{name}', launches(document) == wanted and 'sleep 7009' in document['text'] and
                        in_list(document)[0]['cwd'] == os.fsdecode(bad) and (f'\ncd {base}\n' in document['text']) == bool(capture), str(document)[:1500])
            texts.append(('a directory that is no UTF-8' + name, document['text']))
    odd = os.path.join(base, 'it\'s "a\nb" \u2028 é')
    os.mkdir(odd)
    with begun(1) as k:
        window = k.windows()[0]['id']
        k.launch('sh', '-c', 'sleep 7011; :', "it's\n\"x\"\u2028", '', cwd=odd)
        k.ask('set-tab-title', {'title': 'two\nlines "and" \'quotes\'', 'match': f'window_id:{window}'})
        k.ask('set-user-vars', {'var': ['a=\udc80x', 'b=\ud800', 'emoji=😀'], 'match': f'id:{window}'})
        k.settle(2)
        k.act('quit')
        k.ended()
        until(k.workers, 5)
        with open(os.path.join(k.exits, k.files()[0]), encoding='ascii') as f:
            raw = f.read()
        document = json.loads(raw)
        windows = in_list(document)
        tally.check('quotes and line breaks in directory, title and words', f'--cwd={odd}' in shlex.split(document['text']) and windows[1]['cwd'] == odd and
                    document['ls'][0]['tabs'][0]['title'] == 'two\nlines "and" \'quotes\'' and windows[1]['cmdline'][3] == "it's\n\"x\"\u2028", raw[:1500])
        tally.check('one line of ASCII; of surrogates only those that stand for bytes', raw.count('\n') == 1 and
                    windows[0]['user_vars'] == {'a': '\udc80x', 'b': '\ufffd', 'emoji': '😀'}, str(windows[0]['user_vars']))


def without_our_other_files():
    broken = os.path.join(tempfile.mkdtemp(), 'broken.py')
    with open(broken, 'w') as f:
        f.write('def capture(args, boss):\n    return 1 +\n')
    raising = broken + '2'
    with open(raising, 'w') as f:
        f.write('def capture(args, boss):\n    raise SystemError("no")\n')
    two = BOTH_TABS + 'new_os_window\nlaunch\n'
    for name, capture in (('missing', None), ('broken', broken), ('raising', raising)):
        with begun(4, session=two, capture=capture) as k:
            k.close_by_manager(1)
            until(lambda: len(k.ls()) == 1)
            k.process.send_signal(signal.SIGTERM)
            k.ended()
            examine(f'capture kitten {name}', k, [('closed', 1, 1), ('signal', 3, 1)])
    with begun(1, worker=None) as k:
        k.act('quit')
        k.ended()
        examine('no self-path: the file alone', k, [('quit', 1, 1)], started=False)
    with begun(1, worker='#!/bin/sh\nexec sleep 7010\n') as k:
        k.act('quit')
        k.ended()
        examine('a worker that says nothing: kitty ends all the same', k, [('quit', 1, 1)], started=False)
    patient = os.path.join(tempfile.mkdtemp(), 'kittymux_watcher.py')
    with open(WATCHER) as f, open(patient, 'w') as g:
        g.write(f.read().replace('settimeout(0.25)', 'settimeout(60)'))
    with begun(1, worker='#!/bin/sh\n', watcher=patient) as k:
        k.act('quit')
        tally.check('a worker that ends without a word is not waited for', k.ended())
    odd = os.path.join(tempfile.mkdtemp(), os.fsdecode(b'a "b" $c \xff'))
    with open(odd, 'w') as f:
        f.write(WORKER)
    os.chmod(odd, 0o755)
    with begun(1, worker=None) as k:
        with open(os.path.join(k.state, 'self-path'), 'w', errors='surrogateescape') as f:
            f.write(odd + '\n')
        k.act('quit')
        k.ended()
        examine('self-path has blanks, quotes and what is no UTF-8', k, [('quit', 1, 1)])
    for name, content in (('a directory', '/usr\n'), ('missing', '/nowhere/kittymux\n'), ('empty', ''), ('relative', 'true\n')):
        with begun(2, session='launch\nnew_os_window\nlaunch\n', worker=None) as k:
            with open(os.path.join(k.state, 'self-path'), 'w') as f:
                f.write(content)
            k.close_by_manager(0)
            until(lambda: len(k.ls()) == 1)
            examine(f'self-path is {name}: the file alone, and kitty lives', k, [('closed', 1, 1)], started=False)


def nothing():
    with begun(1, env={'KITTYMUX_AUTOSAVE': '0'}) as k:
        k.act('quit')
        k.ended()
        examine('KITTYMUX_AUTOSAVE=0', k, [])
    with begun(2, session='launch\nnew_os_window\nlaunch\n') as k:
        open(os.path.join(k.state, 'autosave-off'), 'w').close()
        k.close_by_manager(0)
        until(lambda: len(k.ls()) == 1)
        examine('the file autosave-off', k, [])
        os.unlink(os.path.join(k.state, 'autosave-off'))
        k.act('quit')
        k.ended()
        examine('taken away again', k, [('quit', 1, 1)])
    panel = Desk(args=('+kitten', 'panel', '--edge=top', '--lines=4'))
    with panel as k:
        k.settle(1)
        loaded = os.path.isdir(os.path.join(k.state, 'kitties'))
        k.process.send_signal(signal.SIGTERM)
        k.ended()
        time.sleep(0.3)
        tally.check('a panel: nothing, though the watcher is loaded', loaded and not os.path.exists(k.exits) and not k.workers(), k.messages())


def cannot_write():
    elsewhere = tempfile.mkdtemp()

    def link(state):
        os.symlink(elsewhere, os.path.join(state, 'sessions'))

    def link_below(state):
        os.mkdir(os.path.join(state, 'sessions'))
        os.symlink(elsewhere, os.path.join(state, 'sessions', '.exit'))

    def a_file(state):
        open(os.path.join(state, 'sessions'), 'w').close()
    for name, prepare in (('a link', link), ('a link below', link_below), ('a file', a_file)):
        with Desk() as k:
            k.settle(1)
            prepare(k.state)
            k.act('quit')
            ended = k.ended()
            tally.check(f'sessions is {name}: nothing written, kitty ends, no word in its log',
                        ended and k.process.returncode == 0 and not os.listdir(elsewhere) and not k.workers() and 'raceback' not in k.messages(), k.messages())
    with Desk(state='/proc/nothing') as k:
        k.settle(1)
        k.act('quit')
        tally.check('a state directory that cannot be made: kitty ends', k.ended() and k.process.returncode == 0 and 'raceback' not in k.messages(), k.messages())
    with begun(2, session='launch\nnew_os_window\nlaunch\n') as k:
        # As a full disk: a write beyond this size fails, in the middle of the document.
        resource.prlimit(k.process.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        k.close_by_manager(0)
        until(lambda: len(k.ls()) == 1)
        examine('no room left: nothing is left behind, kitty lives', k, [])
        resource.prlimit(k.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        k.act('quit')
        k.ended()
        tally.check('room again: written', [d['how'] for d in k.documents()] == ['quit'], str(k.files()))


def many(count):
    tabs = ['new_tab\nlayout grid\n' + 'launch\n' * 5 for _ in range(count // 5)]
    return '\n'.join(tabs[:-4]) + '\nnew_os_window\n' + '\n'.join(tabs[-4:])


def why_so():
    """Two things of kitty's that ours goes round: they end, or hurt, what asks in the plain way."""
    place = tempfile.mkdtemp()
    with open(os.path.join(place, 'probe'), 'w') as f:
        f.write('import signal\nfrom kitty.utils import platform_window_id\ndef on_close(boss, window, data):\n'
                f'    open({place!r} + "/blocked", "w").write(" ".join(s.name for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])))\n'
                '    platform_window_id(window.os_window_id)\n')
    with Kitty(session='launch\nnew_os_window\nlaunch\n', conf=f'watcher {place}/probe') as k:
        k.act('close_os_window')
        until(lambda: k.process.poll() is not None, 5)
        tally.check('to ask for the platform\'s window of a closed OS window ends kitty', k.process.returncode == -signal.SIGABRT, str(k.process.returncode))
        with open(os.path.join(place, 'blocked')) as f:
            blocked = f.read().split()
        tally.check('kitty itself blocks the signals that end it', {'SIGTERM', 'SIGHUP', 'SIGCHLD'} <= set(blocked), str(blocked))


def too_old():
    """A kitty that has neither sessions nor the event: nothing is written, and nothing said."""
    place = tempfile.mkdtemp()
    with open(os.path.join(place, 'probe'), 'w') as f:
        f.write(f'def on_close(boss, window, data):\n    open({place!r} + "/closed", "w").close()\n')
    with Desk(conf=f'watcher {place}/probe') as k:
        k.settle(1)
        new = k.launch(type='os-window')
        k.settle(2)
        k.ask('close-window', {'match': f'id:{new}'})
        until(lambda: len(k.ls()) == 1)
        k.process.send_signal(signal.SIGTERM)
        ended = k.ended()
        tally.check('an old kitty: no file, no worker, no word in its log', ended and not k.files() and not k.workers() and
                    os.path.exists(os.path.join(place, 'closed')) and 'raceback' not in k.messages() and 'atcher' not in k.messages(), k.messages())


def quit_takes(count):
    """Seconds that kitty stands still in our on_quit, by watchers before and behind it."""
    place = tempfile.mkdtemp()
    took = os.path.join(place, 'took')
    for name, line in (('before', 'sys.began = time.monotonic()'), ('behind', f'open({took!r}, "w").write(str(time.monotonic() - sys.began))')):
        with open(os.path.join(place, name), 'w') as f:
            f.write(f'import sys, time\ndef on_quit(boss, window, data):\n    {line}\n')
    with begun(count, session=many(count), first=f'watcher {place}/before\n', conf=f'watcher {place}/behind') as k:
        until(lambda: sum(w['at_prompt'] for w in k.windows()) >= count * 0.9, 15)
        k.act('quit')
        k.ended()
        with open(took) as f:
            seconds = float(f.read())
        examine(f'quit with {count} shells: kitty stands still for {seconds * 1000:.1f} ms', k, [('quit', count, 2)])


def signal_takes(count, ours):
    """Seconds from SIGTERM until the process is gone."""
    desk = begun(count, session=many(count)) if ours else Kitty(session=many(count))
    with desk as k:
        until(lambda: sum(w['at_prompt'] for w in k.windows()) >= count * 0.9, 15)
        time.sleep(0.3)
        began = time.monotonic()
        k.process.send_signal(signal.SIGTERM)
        k.process.wait(10)
        took = time.monotonic() - began
        return took, not ours or [launches(d) for d in k.documents()] == [count]


def timed():
    quit_takes(100)
    runs = [(signal_takes(30, True), signal_takes(30, False)) for _ in range(3)]
    with_ours, without = (statistics.median(run[n][0] for run in runs) * 1000 for n in (0, 1))
    tally.check(f'SIGTERM with 30 shells, all written: gone after {with_ours:.0f} ms with our watcher, {without:.0f} ms without',
                all(complete for run in runs for _, complete in run), str(runs))


def parsed():
    """kitty's own parser on every text above."""
    place = tempfile.mkdtemp()
    for n, (_, text) in enumerate(texts):
        with open(os.path.join(place, str(n)), 'w') as f:
            f.write(text)
    paths = [os.path.join(place, str(n)) for n in range(len(texts))]
    out = subprocess.run(['kitty', '+launch', CHECK, *paths], capture_output=True, text=True).stdout
    answers = {a['file']: a for a in map(json.loads, out.splitlines())}
    refused = [(name, answers.get(path)) for path, (name, _) in zip(paths, texts)
               if not answers.get(path, {}).get('ok') or answers[path]['launch_errors']]
    tally.check(f"kitty's own parser takes all {len(texts)} texts", texts and not refused, str(refused)[:2000])


if sys.argv[1:] == ['old']:
    too_old()
    sys.exit(tally.close())
by_quit()
aborted()
by_manager()
by_signal()
all_at_once()
parts()
loaded_often()
odd_values()
without_our_other_files()
nothing()
cannot_write()
why_so()
timed()
parsed()
sys.exit(tally.close())
