#!/usr/bin/env python3
"""The capture kitten gives the very text that kitty's own save_as_session writes; run inside the chroot:

    tests/real/enter.sh tests/real/capture_same.py [-t]       (-t: also time 20 and 100 windows)
"""
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, Tally, until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTURE = os.path.join(HERE, '..', '..', 'assets', 'kittymux_capture.py')
CHECK = os.path.join(HERE, 'check-session')
SHELLS = ('bash', 'zsh', 'fish')
tally = Tally()


def capture(k, os_windows=None, skip=(), version='1'):
    request = json.dumps({'os_windows': os_windows, 'skip': list(skip)})
    answer = k.ask('kitten', {'kitten': os.path.realpath(CAPTURE), 'args': [version, request]})
    assert answer.isascii()
    return json.loads(answer)


def saved(k, match=''):
    option = f' --match={shlex.quote(match)}' if match else ''
    return k.save(os.path.join(k.dir, 'saved'), f'--use-foreground-process --save-only{option}').decode()


def unled(text):
    # The capture never begins with new_os_window; kitty does when the first OS window has no match.
    lines = text.split('\n')
    return '\n'.join(lines[3:]) if lines[:3] == ['', '', 'new_os_window'] else text


def compare(k, name, os_windows=None, skip=(), match=''):
    """Both texts at a moment when nothing moves: kitty's own is the same before and after the capture."""
    for _ in range(40):
        before, ours, after = saved(k, match), capture(k, os_windows, skip), saved(k, match)
        if before == after:
            break
        time.sleep(0.1)
    text = ours.get('text', ours.get('error'))
    same = text == unled(after)
    tally.check(f'{name} ({text.count("launch ")} windows)', same and before == after and 'launch ' in text,
                f'\n--- kitty\n{after}\n--- capture\n{text}\n' + k.messages())
    return ours


def settle(k):
    until(lambda: all(w['at_prompt'] or w['foreground_processes'] for w in k.windows()), 3)
    last = None
    for _ in range(40):
        now = saved(k)
        if now == last:
            return
        last = now
        time.sleep(0.15)


def listing_matches(k, name):
    def plain(os_windows):
        for o in os_windows:
            for t in o['tabs']:
                for w in t['windows']:
                    w['env'] = {}
                    # whether there was output since is a matter of moments
                    w.pop('has_activity_since_last_focus', None)
        return os_windows
    ok = until(lambda: plain(k.ls()) == plain(capture(k)['ls']), 5)
    tally.check(name, ok)


def layouts_desk():
    tabs = []
    for layout in ('fat', 'grid', 'horizontal', 'splits', 'stack', 'tall:bias=70', 'vertical'):
        tabs.append(f'new_tab the {layout} tab\nlayout {layout}\ncd /usr\nlaunch\nlaunch --cwd=/tmp\n'
                    'launch --location=vsplit sleep 1000\nlaunch --bias=30\nfocus')
    return '\n'.join(tabs) + '\nfocus_tab 3\n'


def options_desk():
    return '\n'.join((
        'new_tab it\'s "quoted" $$HOME', 'cd /', "launch --env=A=1 --env='B=two words' --var=k=v --var='q=a b' --title='my $ title' bash",
        'launch --allow-remote-control --hold sleep 1000', "launch sh -c 'sleep 1000; echo \"$1\"' x ''",
        'launch --type=overlay sleep 1001', 'launch --color=background=red', 'launch --spacing=padding=3 --spacing=margin-left=4',
        'launch --copy-env --title=ünï☃ sleep 1002', 'new_tab', 'enabled_layouts tall,stack', 'launch', 'launch kitten run-shell sleep 1003',
        'new_os_window', 'os_window_class other', 'os_window_name named', 'new_tab second', 'cd /usr/share', 'launch',
        'launch --type=overlay-main sleep 1004', ''))


def many_desks():
    with Kitty() as k:
        settle(k)
        compare(k, 'one bash')
        listing_matches(k, 'the list is that of ls, one window')
    with Kitty(session=layouts_desk()) as k:
        settle(k)
        compare(k, 'seven layouts')
        k.act('next_tab')
        k.act('next_layout')
        k.act('goto_tab 2')
        compare(k, 'seven layouts, another tab and layout')
        listing_matches(k, 'the list is that of ls, seven tabs')
    with Kitty(session=options_desk()) as k:
        settle(k)
        compare(k, 'launch options, overlays, two OS windows')
        ids = [w['id'] for w in k.windows()]
        for skip in (ids[:1], ids[1:3], ids[::2], ids[-1:], ids[2:]):
            match = ' and '.join(f'not id:{i}' for i in skip)
            compare(k, f'without {len(skip)} of {len(ids)} windows', skip=skip, match=match)
        tally.check('without any window there is no text', capture(k, skip=ids)['text'] == '')
        k.ask('set-tab-title', {'title': 'by hand'})
        k.ask('set-window-title', {'title': 'window by hand', 'match': f'id:{ids[0]}'})
        k.ask('set-user-vars', {'var': ['kittymux_sid=abc', 'x=a=b $HOME "q"'], 'match': 'all'})
        compare(k, 'titles and variables set by hand')


def several_os_windows():
    with Kitty() as k:
        for n in range(3):
            k.launch('sleep', str(2000 + n), type='os-window', cwd='/usr')
            k.launch(type='tab', cwd='/')
        k.launch('sleep', '3000', type='os-window', os_window_class='special', os_window_name='mine')
        settle(k)
        all_ids = [o['id'] for o in k.ls()]
        for window in [o['tabs'][0]['windows'][0]['id'] for o in k.ls()]:
            k.ask('focus-window', {'match': f'id:{window}'})
            until(lambda: any(o['is_focused'] and any(w['id'] == window for t in o['tabs'] for w in t['windows']) for o in k.ls()), 2)
            compare(k, f'five OS windows, window {window} focused')
        for chosen in (all_ids[:1], all_ids[1:3], all_ids[3:], all_ids[::2]):
            inside = [w['id'] for o in k.ls() if o['id'] in chosen for t in o['tabs'] for w in t['windows']]
            compare(k, f'OS windows {chosen} alone', os_windows=chosen, match=' or '.join(f'id:{i}' for i in inside))
        tally.check('an OS window that is not there: no text', capture(k, os_windows=[9999])['text'] == '')
        everything = capture(k, os_windows=all_ids[:1])
        tally.check('the list has every OS window, also those not chosen', [o['id'] for o in everything['ls']] == all_ids)
        k.launch('sleep', '3001', type='os-panel')
        time.sleep(1)
        settle(k)
        compare(k, 'with a panel')


def shells_and_programs():
    for shell in SHELLS:
        for integration in ('enabled', 'disabled'):
            with Kitty(conf=f'shell {shell}\nshell_integration {integration}') as k:
                first = k.windows()[0]['id']
                ids = [first] + [k.launch(cwd='/usr') for _ in range(3)]
                until(lambda: all(w['at_prompt'] for w in k.windows()), 3)
                k.send('sleep 4000\r', ids[1])
                k.send('cd /tmp && sh -c "sleep 4001; true"\r', ids[2])
                k.send('sleep 4002 | cat\r', ids[3])
                until(lambda: all(len(k.window(i)['foreground_processes']) for i in ids[1:]), 3)
                settle(k)
                compare(k, f'{shell}, integration {integration}: programs typed in shells')
    with Kitty() as k:
        k.act('kitten ask --type=yesno --message=really?')
        k.act('show_scrollback')
        time.sleep(0.7)
        settle(k)
        compare(k, 'a kitten that asks, and the scrollback pager')


def hostile_values():
    base = os.fsencode(tempfile.mkdtemp())
    bad = base + b'/bad\xff/in\xe2\x98\x83/\xfe'
    os.makedirs(bad)
    for shell in SHELLS:
        with Kitty(conf=f'shell {shell}') as k:
            first = k.windows()[0]['id']
            until(lambda: k.window(first)['at_prompt'], 4)
            other = k.launch('sleep', '5000', cwd='/usr')
            k.send('cd "$(cat %s)"\r' % os.fsdecode(name_file(bad)), first)
            pid = k.window(first)['pid']
            until(lambda: os.readlink(b'/proc/%d/cwd' % pid) == bad, 4)
            ours = {}

            def seen():
                ours.clear()
                ours.update(capture(k))
                return ours.get('cwds') == {str(first): bad.hex()}
            ok = until(seen, 4)
            text = ours.get('text', '')
            line = f'cd {os.fsdecode(base)}'
            tally.check(f'{shell} at its prompt in a directory that is no UTF-8: its bytes come back', ok, str(ours)[:600])
            tally.check(f'{shell}: the text has its nearest UTF-8 parent and both windows',
                        text.count('launch ') == 2 and (line in text or f'--cwd={os.fsdecode(base)}' in text), text)
            k.send('sleep 5001\r', first)
            until(lambda: not k.window(first)['at_prompt'], 4)
            tally.check(f'{shell} running a program there: the same', until(seen, 4) and ours['text'].count('launch ') == 2, str(ours)[:600])
            k.ask('close-window', {'match': f'id:{first}'})
            until(lambda: len(k.windows()) == 1, 4)
            compare(k, f'{shell}: afterwards kitty is as before')
            del other
    with Kitty() as k:
        settle(k)
        k.ask('set-user-vars', {'var': ['a=\udc80x', 'b=\ud800', 'emoji=😀']})
        try:
            saved(k)
            tally.check('a variable with a lone surrogate makes kitty\'s own save fail', False)
        except RuntimeError as e:
            tally.check('a variable with a lone surrogate makes kitty\'s own save fail', 'surrogate' in str(e), str(e))
        ours = capture(k)
        text = ours.get('text', '')
        tally.check('the capture has U+FFFD instead', "'--var=a=\ufffdx'" in text or '--var=a=\ufffdx' in text, str(ours)[:600])
        tally.check('an emoji stays', 'emoji=😀' in text, text)
        variables = ours['ls'][0]['tabs'][0]['windows'][0]['user_vars']
        tally.check('in the list only surrogates that stand for bytes are left', variables['a'] == '\udc80x' and variables['b'] == '\ufffd', str(variables))
        path = os.path.join(k.dir, 'captured')
        with open(path, 'w') as f:
            f.write(text)
        tally.check('kitty\'s own parser takes that text', parses(path))


def name_file(raw):
    with tempfile.NamedTemporaryFile(delete=False) as f:
        f.write(raw)
    return os.fsencode(f.name)


def parses(path):
    p = subprocess.run(['kitty', '+launch', CHECK, path], capture_output=True, text=True)
    return p.returncode == 0 and json.loads(p.stdout)['ok']


def wrong_requests():
    with Kitty() as k:
        settle(k)
        for name, args in (
            ('another contract version', ['2', '{"os_windows":null,"skip":[]}']),
            ('no JSON', ['1', '{']), ('no arguments', []), ('not an object', ['1', '[]']), ('no key', ['1', '{}']),
            ('ids that are no list', ['1', '{"os_windows":3,"skip":[]}']),
        ):
            answer = json.loads(k.ask('kitten', {'kitten': os.path.realpath(CAPTURE), 'args': args}))
            tally.check(f'{name}: an error, not a failure', answer['v'] == 1 and answer['error'] and 'text' not in answer, str(answer))
        compare(k, 'after wrong requests all is as before')
        version = capture(k)['kitty']
        tally.check('the version is kitty\'s', version in subprocess.check_output(['kitty', '--version'], text=True), version)


def time_it(count):
    tabs = '\n'.join('new_tab\nlayout grid\n' + 'launch\n' * 10 for _ in range(count // 10))
    with Kitty(session=tabs) as k:
        until(lambda: sum(w['at_prompt'] for w in k.windows()) >= count * 0.9, 20)
        time.sleep(1)
        assert len(k.windows()) == count

        def median(what):
            took = []
            for _ in range(11):
                start = time.perf_counter()
                what()
                took.append((time.perf_counter() - start) * 1000)
            return statistics.median(took)
        ours, theirs, ls = median(lambda: capture(k)), median(lambda: saved(k)), median(k.ls)
        compare(k, f'{count} windows')
        tally.check(f'{count} bash windows: capture {ours:.1f} ms, save_as_session {theirs:.1f} ms, ls {ls:.1f} ms', ours < theirs)


many_desks()
several_os_windows()
shells_and_programs()
hostile_values()
wrong_requests()
if '-t' in sys.argv[1:]:
    time_it(20)
    time_it(100)
sys.exit(tally.close())
