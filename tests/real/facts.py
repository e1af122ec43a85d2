#!/usr/bin/env python3
"""Facts of docs/kitty-facts.md that no other test shows in a real kitty; run inside the chroot:

    tests/real/enter.sh tests/real/facts.py
"""
import os
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, NoReply, Tally, until  # noqa: E402

tally = Tally()


def programs(k):
    """The programs of all windows, by OS window and tab."""
    return [[[os.path.basename(w['cmdline'][0]) for w in t['windows']] for t in o['tabs']] for o in k.ls()]


def a_stopped_kitty():
    with Kitty() as k:
        k.ls()
        os.kill(k.process.pid, signal.SIGSTOP)
        try:
            k.raw({'cmd': 'ls', 'version': [0, 26, 0]}, seconds=0.5)
            silent = False
        except NoReply as e:
            silent = str(e) == 'time-out'
        reached = k.accepts()
        os.kill(k.process.pid, signal.SIGCONT)
        tally.check('1.9 a stopped kitty takes a connection and says nothing', silent and reached)
        tally.check('1.9 and answers when it goes on', len(k.windows()) == 1)


def includes():
    files = {'.zshrc': '', 'one.conf': 'env A=1\ninclude sub/two.conf\n', 'sub/two.conf': 'include three.conf\n', 'sub/three.conf': 'env B=2\n',
             'four.conf': 'env A=3\nenv C=4\n'}
    with Kitty(conf='include ~/one.conf\ninclude ${HOME}/four.conf\n', files=files) as k:
        out = os.path.join(k.dir, 'env')
        k.launch('sh', '-c', 'echo "$A $B $C" >"$1.new"; mv "$1.new" "$1"; sleep 1000', 'sh', out)
        until(lambda: os.path.exists(out), 5)
        with open(out) as f:
            found = f.read()
        tally.check('2.10 include: ~ and ${NAME}, relative to the including file, the last line counts', found == '3 2 4\n', repr(found) + k.messages())


def a_session_that_begins_with_an_os_window():
    text = '\n\nnew_os_window\nnew_tab x\nlaunch sleep 1000\n'
    with Kitty(session=text) as k:
        tally.check('5.4 --session opens an OS window with a shell before a leading new_os_window', programs(k) == [[['bash']], [['sleep']]], str(programs(k)))
    with Kitty() as k:
        path = os.path.join(k.dir, 'lead.kitty-session')
        with open(path, 'w') as f:
            f.write(text)
        k.act(f'goto_session {path}')
        until(lambda: len(k.windows()) == 2, 5)
        tally.check('9.2 goto_session opens it in an OS window of its own', programs(k) == [[['bash']], [['sleep']]], str(programs(k)))
        tally.check('9.3 the windows have the stem as their session', [w['session_name'] for w in k.windows()] == ['', 'lead'])
        with open(path, 'w') as f:
            f.write('launch sleep 1001\n')
        k.act(f'goto_session {path}')
        time.sleep(0.5)
        tally.check('9.3 a session that is open is only gone to', len(k.windows()) == 2, str(programs(k)))


def a_missing_directory():
    with Kitty(session='cd /nowhere\nlaunch sleep 1000\n') as k:
        found = [f['cwd'] for w in k.windows() for f in w['foreground_processes']]
        tally.check('6.7 a missing directory is passed over: kitty\'s own instead', found == [k.home], f'{found} {k.messages()}')


def a_job_that_was_brought_back():
    with Kitty() as k:
        window = k.windows()[0]['id']
        until(lambda: k.window(window)['at_prompt'], 5)
        k.send('sleep 1000\r', window)
        until(lambda: 'sleep' in str(k.window(window)['foreground_processes']), 5)
        k.send('\x1a', window)
        tally.check('3.4 a stopped job is not listed', until(lambda: k.window(window)['at_prompt'] and 'sleep' not in str(k.window(window)['foreground_processes']), 5))
        k.send('fg\r', window)
        until(lambda: 'sleep' in str(k.window(window)['foreground_processes']), 5)
        text = k.save(os.path.join(k.dir, 'saved')).decode()
        tally.check('5.10 after fg the line that is saved is fg', '"cmd_at_shell_startup": "fg"' in text, text)


def narrow_windows():
    with Kitty(conf='initial_window_width 640\nenabled_layouts splits\n') as k:
        for _ in range(5):
            k.launch('sleep', '1000', location='vsplit')
        narrow = until(lambda: min(w['columns'] for w in k.windows()) <= 4 and min(w['columns'] for w in k.windows()), 5)
        tally.check('11.4 windows of a few columns', narrow and narrow <= 4, str([w['columns'] for w in k.windows()]))


def a_variable_that_a_program_sets():
    with Kitty() as k:
        out = os.path.join(tempfile.mkdtemp(), 'go')
        window = k.launch('sh', '-c', "printf '\\033]1337;SetUserVar=kittymux_sid=YWJj\\007'; touch \"$1\"; sleep 1000", 'sh', out)
        until(lambda: os.path.exists(out), 5)
        tally.check('4.2 any program in a window sets variables of it', until(lambda: k.window(window)['user_vars'] == {'kittymux_sid': 'abc'}, 5))
        text = k.save(os.path.join(k.dir, 'saved')).decode()
        tally.check('4.3 they are saved', '--var=kittymux_sid=abc' in text, text)


def the_shell_of_run_shell():
    files = {'my shells/dash': ''}
    for shell, shown in (('{home}/my\\ shells/dash -i', 'dash'), ("'{home}/my shells/dash'", 'dash'), ('{home}/my shells/dash', 'sh'), ('/nowhere/fish', 'sh')):
        with Kitty(files=files) as k:
            path = os.path.join(k.home, 'my shells/dash')
            os.unlink(path)
            shutil.copy('/bin/dash', path)
            window = k.launch('kitten', 'run-shell', '--shell=' + shell.replace('{home}', k.home), 'sleep', '1')
            waits = os.path.basename(k.window(window)['cmdline'][0])
            until(lambda: os.path.basename(k.window(window)['cmdline'][0]) != 'kitten', 5)
            found = k.window(window)['cmdline']
            tally.check(f'9.9 run-shell --shell={shell} is kitten, then {shown}', waits == 'kitten' and os.path.basename(found[0]) == shown and ('-i' in found) == ('-i' in shell), f'{waits} {found}')


def the_file_a_kitty_starts_with():
    place = tempfile.mkdtemp()
    for name, lines, count in (('comments', '# nothing', 1), ('a window and a line in the background', 'launch\nlaunch --type=background {}', 1),
                               ('a line in the background alone', 'launch --type=background {}', 0)):
        for what, program in (('', '/bin/true'), (', whose program is missing', '/nowhere/kittymux')):
            path = os.path.join(place, 'start.kitty-session')
            with open(path, 'w') as f:
                f.write(lines.format(program) + '\n')
            with Kitty(conf=f'startup_session {path}', args=['--directory', place]) as k:
                until(k.windows, 2)
                time.sleep(0.5)
                found = [w['cwd'] for w in k.windows()]
                tally.check(f'12.8 started with {name}{what}: {count} windows', found == [place] * count, f'{found} {k.messages()}')
    for program, lives in (('/nowhere/kittymux', False), ("/bin/sh -c '[ ! -x \"$0\" ] || exec \"$0\"' /nowhere/kittymux", True)):
        with open(path, 'w') as f:
            f.write(f'launch\nlaunch --type=background --allow-remote-control {program}\n')
        with Kitty(conf=f'startup_session {path}', listen=False) as k:
            ended = until(lambda: k.process.poll() is not None, 3 if lives else 20)
            tally.check(f'12.9 with a socket, {program}: kitty {"lives" if lives else "ends"}', ended != lives, k.messages())


a_stopped_kitty()
the_file_a_kitty_starts_with()
the_shell_of_run_shell()
includes()
a_session_that_begins_with_an_os_window()
a_missing_directory()
a_job_that_was_brought_back()
narrow_windows()
a_variable_that_a_program_sets()
sys.exit(tally.close())
