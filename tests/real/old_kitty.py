#!/usr/bin/env python3
"""Record what a kitty too old for sessions answers, as JSON {case: {request, reply}}; reply is the frame's body as sent:

    KITTYMUX_TEST_SUITE=bookworm tests/real/enter.sh tests/real/old_kitty.py >tests/data/old-kitty-0.26.5.json
"""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, NoReply, until  # noqa: E402

CAPTURE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'assets', 'kittymux_capture.py'))
KITTEN = '''
from kittens.tui.handler import result_handler
def main(args): pass
@result_handler(no_ui=True)
def handle_result(args, answer, target_window_id, boss): return "kitten answered " + repr(args)
'''
SAVE = 'save_as_session --save-only --use-foreground-process /tmp/out.kitty-session'
CASES = {
    'ls': ('ls', {}),
    'ls output_format=session': ('ls', {'output_format': 'session'}),
    'action save_as_session': ('action', {'action': SAVE}),
    'action goto_session': ('action', {'action': 'goto_session /tmp/out.kitty-session'}),
    'action unknown': ('action', {'action': 'frobnicate'}),
    'kitten': ('kitten', {'kitten': '/tmp/kitten.py', 'args': ['1', '{}']}),
    'kitten missing': ('kitten', {'kitten': '/tmp/missing.py', 'args': ['1', '{}']}),
    'kitten capture': ('kitten', {'kitten': CAPTURE, 'args': ['1', '{"os_windows":null,"skip":[]}']}),
    'set-user-vars': ('set-user-vars', {'var': ['kittymux_agent=claude'], 'match': 'all'}),
    'launch': ('launch', {'args': ['sleep', '60'], 'type': 'window'}),
    'send-text': ('send-text', {'data': 'text:x', 'match': 'id:1'}),
    'unknown command': ('frob', {}),
}

with open('/tmp/kitten.py', 'w') as f:
    f.write(KITTEN)
with Kitty() as k:
    until(lambda: k.windows()[0]['foreground_processes'], 5)
    time.sleep(0.5)
    ans = {}
    for name, (cmd, payload) in CASES.items():
        request = {'cmd': cmd, 'version': [0, 26, 0], 'payload': payload}
        try:
            reply = k.raw(request, 2)
        except NoReply:
            reply = None
        ans[name] = {'request': request, 'reply': reply}
    request = {'cmd': 'ls', 'version': [0, 48, 0], 'payload': {}}
    ans['ls from a newer client'] = {'request': request, 'reply': k.raw(request, 2)}
print(json.dumps(ans, indent=1))
