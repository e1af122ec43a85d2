# kittymux_capture.py: a kitten without a UI that serialises kitty from inside, contract version 1.
#
# Run by the remote control command `kitten` with the arguments "1" and a JSON object
#   {"os_windows": null | [ids], "skip": [window ids]}
# it answers one ASCII JSON object:
#   {"v": 1, "kitty": "0.48.2", "text": …, "ls": [...], "cwds": {"<window id>": "<hex>"}}
# text   what `save_as_session --save-only --use-foreground-process` would write now for these OS windows, in its order,
#        without the windows of `skip` and without a leading new_os_window; always valid UTF-8
# ls     all OS windows as `kitty @ ls` describes them, with `env` left empty: nobody needs people's environments
# cwds   the raw bytes of directories that are no UTF-8; the text has their nearest UTF-8 parent
# or {"v": 1, "error": …}. It uses kitty's internals, so the caller must be ready to save without it.
import json
import os
import re
from contextlib import contextmanager
from functools import lru_cache

from kittens.tui.handler import result_handler

LONE_SURROGATE = re.compile('[\ud800-\udfff]')
# U+DC80 to U+DCFF stand for single bytes that are no UTF-8; our reader knows only these.
FOREIGN_SURROGATE = re.compile('[\ud800-\udc7f\udd00-\udfff]')


def main(args):
    pass


def nearest_parent(raw):
    while raw not in (b'', b'/'):
        raw = os.path.dirname(raw)
        try:
            return raw.decode() or '/'
        except UnicodeDecodeError:
            continue
    return '/'


def path_of_url(url):
    # as kitty's own path_from_osc7_url, but bytes that are no UTF-8 come through (kitty raises, or puts U+FFFD)
    if isinstance(url, bytes):
        url = url.decode('utf-8', 'surrogateescape')
    if url.startswith('kitty-shell-cwd://'):
        return '/' + url.split('/', 3)[-1]
    if url.startswith('file://'):
        from urllib.parse import unquote, urlparse
        return unquote(urlparse(url).path, errors='surrogateescape')
    return ''


@contextmanager
def replaced(owner, **new):
    old = {name: getattr(owner, name) for name in new}
    for name, value in new.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in old.items():
            setattr(owner, name, value)


def tolerant_directories(window_type, cwds):
    # One directory that is no UTF-8 would make kitty refuse the text of every window.
    its = window_type.cwd_for_serialization.fget

    def cwd(window):
        ans = its(window)
        try:
            ans.encode()
        except UnicodeEncodeError:
            raw = os.fsencode(FOREIGN_SURROGATE.sub('\ufffd', ans))
            cwds[str(window.id)] = raw.hex()
            ans = nearest_parent(raw)
        return ans

    return replaced(window_type, cwd_for_serialization=property(cwd))


def asked_once(module):
    # Text and list ask the same of each process several times; together this is half of all the time.
    directory = lru_cache(None)(module.cwd_of_process)
    command = lru_cache(None)(module.cmdline_of_pid)
    return replaced(module, cwd_of_process=directory, cmdline_of_pid=lambda pid: list(command(pid)),
                    environ_of_process=lambda pid: {})


def serialise(boss, chosen, skip):
    from kitty.fast_data_types import current_focused_os_window_id, last_focused_os_window_id
    from kitty.session import parse_save_as_options_spec_args
    options = parse_save_as_options_spec_args(['--use-foreground-process'])[0]
    wanted = frozenset(w for w in boss.all_windows if w.id not in skip) if skip else None
    # save_as_session's order: the focused OS window last, the last focused one before it
    rank = {current_focused_os_window_id(): 2, last_focused_os_window_id(): 1}
    lines = []
    for os_window_id in sorted(boss.os_window_map, key=lambda x: rank.get(x, 0)):
        if chosen is None or os_window_id in chosen:
            tab_manager = boss.os_window_map[os_window_id]
            lines.extend(tab_manager.serialize_state_as_session('', wanted, ser_opts=options, is_first=not lines))
    return LONE_SURROGATE.sub('\ufffd', '\n'.join(lines))


def listing(boss):
    ans = list(boss.list_os_windows())
    for os_window in ans:
        for tab in os_window['tabs']:
            for window in tab['windows']:
                window['env'] = {}
    return ans


def readable(x):
    # x with what our reader's JSON cannot hold replaced
    if isinstance(x, str):
        return x if x.isascii() else FOREIGN_SURROGATE.sub('\ufffd', x)
    if isinstance(x, dict):
        return {readable(k): readable(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [readable(i) for i in x]
    return x


def capture(args, boss):
    import kitty.child
    import kitty.window
    from kitty.constants import str_version
    version, request = args[-2:]
    if version != '1':
        raise ValueError(f'contract version {version} is not known')
    request = json.loads(request)
    chosen = request['os_windows']
    cwds = {}
    with kitty.child.cached_process_data(), asked_once(kitty.child), \
            tolerant_directories(kitty.window.Window, cwds), replaced(kitty.window, path_from_osc7_url=path_of_url):
        text = serialise(boss, None if chosen is None else frozenset(chosen), frozenset(request['skip']))
        ls = listing(boss)
    ans = {'v': 1, 'kitty': str_version, 'text': text, 'ls': ls, 'cwds': cwds}
    out = json.dumps(ans)
    # only surrogates, lone or in pairs, begin with this
    return json.dumps(readable(ans)) if '\\ud' in out else out


@result_handler(no_ui=True)
def handle_result(args, answer, target_window_id, boss):
    try:
        return capture(args, boss)
    except Exception as e:
        return json.dumps({'v': 1, 'error': f'{type(e).__name__}: {e}'})
