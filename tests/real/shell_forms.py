#!/usr/bin/env python3
"""The start-up files of assets/shell in real bash, zsh and fish windows of a real kitty; run inside the chroot:

    tests/real/enter.sh tests/real/shell_forms.py [WORD]        (WORD: only cases whose name has it)
"""
import os
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rig import Kitty, Tally, until  # noqa: E402
from shell_window import (AGENT, FISH_LINE, KSI, LAST_STATUS, LEFT, NOTHING_LEFT, RC, RECORD, SHELL_FILES, STAND_IN,  # noqa: E402
                          Case, home_of, lines_of)

BOTH = ('enabled', 'disabled')
tally = Tally()
only = sys.argv[1] if len(sys.argv) > 1 else ''


def check(case, name, ok, detail=''):
    tally.check(name, ok, f'{detail}\n    calls {[(c["args"]) for c in case.calls()]}\n    screen: {case.screen() if case.window() else "gone"}')


def is_info(call, record=RECORD):
    return call['args'] == ['resume-prompt', '--info', record]


def wanted(name):
    return only in name


def clean_shell(case, name, integration, left=None, status='0'):
    """The person's shell, at its prompt, as if we had never been there."""
    if not case.at_shell():
        return check(case, f'{name}: the shell is there', False, f'front {case.front()}')
    first = case.tell(LAST_STATUS[case.shell])
    check(case, f'{name}: $? at the first prompt is {status}', first is not None and first.strip() == status, repr(first))
    found = case.tell(LEFT[case.shell])
    check(case, f'{name}: nothing of ours is left', found in (NOTHING_LEFT[case.shell] if left is None else left), repr(found))
    if integration == 'enabled':
        check(case, f'{name}: kitty sees the prompt', until(case.sees_prompt, 5))


def enter_and_exit(k, shell, integration, name):
    c = Case(k, shell, home_of(shell), session_shell=True)
    if not c.asked():
        return check(c, f'{name}: asked', False)
    call = c.calls()[0]
    check(c, f'{name}: the record arrives whole', is_info(call), repr(call['args']))
    check(c, f'{name}: kitty sees no prompt while it waits', not c.sees_prompt())
    check(c, f'{name}: a job of its own in front, with the terminal', call['tty'] and call['group'] == call['front'] != c.window()['pid'] and
          c.front() == [call['pid']], f'{call["group"]} {call["front"]} {c.front()}')
    c.send('\r')
    check(c, f'{name}: Enter starts the agent', c.running())
    check(c, f'{name}: kitty sees no prompt while the agent runs', not c.sees_prompt())
    env = c.agents()[0]['env'] if c.agents() else {}
    check(c, f'{name}: it has what the rc file and the prompt hook set', env.get('FOO') == '1' and env.get('DENV') == 'hook' and
          '/from/rc' in env.get('PATH', ''), str({x: env.get(x) for x in ('FOO', 'DENV', 'PATH')}))
    check(c, f'{name}: and nothing of ours', not [x for x in env if x.startswith('KITTYMUX')] and 'ZDOTDIR' not in env,
          str([x for x in env if 'KITTYMUX' in x or x == 'ZDOTDIR']))
    c.send('exit 0\r')
    clean_shell(c, name, integration)
    with open(os.path.join(c.home, 'read')) as f:
        check(c, f'{name}: the rc file was read once', f.read() == 'rc\n')
    check(c, f'{name}: no second call', len(c.calls()) == 1)
    c.close()


def interrupt(k, shell, integration, name):
    c = Case(k, shell, home_of(shell))
    if not c.asked():
        return check(c, f'{name}: asked', False)
    c.send('\r')
    c.running()
    c.send('\x03')
    clean_shell(c, f'{name} at the agent', integration, status={'bash': '130', 'zsh': '0', 'fish': '130'}[shell])
    c.close()
    c = Case(k, shell, home_of(shell))
    c.asked()
    c.send('\x03')
    clean_shell(c, f'{name} at the question', integration, status={'bash': '130', 'zsh': '0', 'fish': '130'}[shell])
    c.close()


def stop_and_go(k, shell, integration, name):
    c = Case(k, shell, home_of(shell))
    if not c.asked():
        return check(c, f'{name}: asked', False)
    c.send('\r')
    c.running()
    pid = c.agents()[0]['pid']
    c.send('\x1a')
    check(c, f'{name}: the shell is in front, the agent stopped', c.at_shell() and c.state(pid) == 'T', f'{c.front()} {c.state(pid)}')
    if integration == 'enabled':
        check(c, f'{name}: kitty sees the prompt', until(c.sees_prompt, 5))
    check(c, f'{name}: the shell works', c.tell('echo fine') == 'fine\n')
    c.send('fg\r')
    check(c, f'{name}: fg brings it back', until(lambda: c.state(pid) != 'T' and pid in c.front(), 4), f'{c.front()} {c.state(pid)}')
    c.send('exit 3\r')
    until(lambda: not c.state(pid), 4)
    check(c, f'{name}: the shell is there afterwards', c.at_shell())
    check(c, f'{name}: no question afterwards', len(c.calls()) == 1)
    found = c.tell(LEFT[shell])
    check(c, f'{name}: nothing of ours is left', found in NOTHING_LEFT[shell], repr(found))
    c.close()


def failing_agent(k, shell, integration, name):
    for how, status in (('exit 3', '3'), ('die 15', '143')):
        c = Case(k, shell, home_of(shell))
        if not c.asked():
            return check(c, f'{name}: asked', False)
        c.send('\r')
        c.running()
        c.send(how + '\r')
        until(lambda: len(c.calls()) > 1, 4)
        c.at_shell()
        time.sleep(0.2)
        calls = [x['args'] for x in c.calls()][1:]
        check(c, f'{name} ({how}): one call says so', calls == [['resume-prompt', '--after', status, '--info', RECORD]], str(calls))
        clean_shell(c, f'{name} ({how})', integration)
        c.close()
    for status in ('126', '127'):
        c = Case(k, shell, home_of(shell))
        c.asked()
        c.send(f'leave{status}\r')
        clean_shell(c, f'{name} (status {status})', integration)
        check(c, f'{name} (status {status}): no second call', len(c.calls()) == 1)
        c.close()


def missing_binary(k, shell, integration, name):
    for what, options in (
        ('not executable', {'mode': 0o644}), ('missing', {'env': {'KITTYMUX_BIN': '/nowhere/kittymux'}}), ('a directory', {'env': {'KITTYMUX_BIN': '/usr'}}),
        ('relative', {'env': {'KITTYMUX_BIN': 'ls'}}), ('not given', {'env': {'KITTYMUX_BIN': None}}), ('no record', {'record': ''}),
    ):
        c = Case(k, shell, home_of(shell), **options)
        until(c.sees_prompt if integration == 'enabled' else lambda: '$' in c.screen() or '%' in c.screen() or '>' in c.screen(), 5)
        check(c, f'{name}, {what}: not called, nothing said', not c.calls() and 'kittymux' not in c.screen() and 'not found' not in c.screen())
        clean_shell(c, f'{name}, {what}', integration)
        c.close()


def other_homes(k, shell, integration, name):
    c = Case(k, shell, {'name': "a home's", 'files': RC[shell]})
    if check(c, f'{name} with blanks: asked', c.asked()) or c.calls():
        c.send('\r')
        c.running()
        check(c, f'{name} with blanks: the rc file was read', c.agents() and c.agents()[0]['env'].get('FOO') == '1')
        c.send('exit\r')
        clean_shell(c, f'{name} with blanks', integration)
    c.close()
    c = Case(k, shell, {'name': 'empty', 'files': {}})
    if check(c, f'{name} with no rc files: asked', c.asked()) or c.calls():
        c.send('\r')
        c.running()
        c.send('exit\r')
        clean_shell(c, f'{name} with no rc files', integration, left=('[]\n0\n', f'[{KSI}]\n0\n') if shell == 'bash' else None)
    c.close()


PROMPT_COMMANDS = {
    'unset': '', 'a string': 'PROMPT_COMMAND="_a"', 'ends in ;': 'PROMPT_COMMAND="_a; "', 'with a comment': 'PROMPT_COMMAND="_a # b"',
    'several lines': "PROMPT_COMMAND=$'_a\\n_b'", 'an array': 'PROMPT_COMMAND=(_a _b)', 'an array with holes': 'PROMPT_COMMAND=([3]=_a [7]="_b;")',
    'exported': 'export PROMPT_COMMAND="_a"', 'readonly': 'readonly PROMPT_COMMAND="_a"', 'a readonly array': 'readonly -a PROMPT_COMMAND=(_a)',
    'empty': 'PROMPT_COMMAND=""', 'empty array': 'PROMPT_COMMAND=()',
}


def prompt_commands(k, shell, integration, name):
    for what, text in PROMPT_COMMANDS.items():
        rc = f'_a() {{ export A=1; }}; _b() {{ export B=1; }}\n{text}\n'
        show = 'test -n "${PROMPT_COMMAND[*]}" && declare -p PROMPT_COMMAND'
        reference = Case(k, shell, {'name': 'home', 'files': {'.bashrc': rc}}, program=['/bin/bash'])
        reference.at_shell()
        plain = reference.tell(show)
        reference.close()
        c = Case(k, shell, {'name': 'home', 'files': {'.bashrc': rc}})
        check(c, f'{name} {what}: asked', c.asked())
        c.send('\r')
        c.running()
        env = c.agents()[0]['env'] if c.agents() else {}
        check(c, f'{name} {what}: its hooks ran before', ('A' in env) == ('_a' in text and 'readonly' not in text), str(env.get('A')))
        c.send('exit\r')
        c.at_shell()
        # kitty's own script cannot add to a readonly one either, and says so
        said = [x for x in ('error', 'not found', 'kittymux', 'readonly') if x in c.screen()]
        check(c, f'{name} {what}: no error on the screen', said in ([], ['readonly'] if 'readonly' in what and integration == 'enabled' else []), str(said))
        now = c.tell(show)

        def hooks(text):
            # kitty's own entry may have been added as a string here and as an element there
            return re.findall('_ksi_prompt_command$|_ksi_prompt_command["\']|\\b_a\\b|\\b_b\\b', text or '')
        check(c, f'{name} {what}: afterwards it is as without us', now is not None and 'kittymux' not in now and
              (now == plain or integration == 'enabled' and [x[:4] for x in hooks(now)] == [x[:4] for x in hooks(plain)]), f'\n{plain}{now}')
        c.tell('A=0; B=0')
        ran = c.tell('echo $A$B')
        check(c, f'{name} {what}: their hooks go on', ran == f'{int("_a" in text)}{int("_b" in text)}\n', repr(ran))
        c.close()


def login_files(k, shell, integration, name):
    base = {x: f'export READ="$READ {x}"\n' for x in ('.bashrc', '.profile', '.bash_login', '.bash_profile')}
    for present, expected in ((('.bashrc', '.profile'), '.profile'), (('.bashrc', '.profile', '.bash_login'), '.bash_login'), (tuple(base), '.bash_profile'),
                              (('.bashrc',), '')):
        c = Case(k, shell, {'name': 'home', 'files': {x: base[x] for x in present}}, env={'KITTYMUX_LOGIN': '1'})
        check(c, f'{name} with {" ".join(present)}: asked', c.asked())
        env = c.calls()[0]['env'] if c.calls() else {}
        check(c, f'{name}: read {expected or "nothing"} alone', env.get('READ', '').strip() == expected and 'KITTYMUX_LOGIN' not in env, repr(env.get('READ')))
        c.close()
    c = Case(k, shell, {'name': 'home', 'files': base})
    c.asked()
    check(c, f'{name}: not one, .bashrc alone', c.calls() and c.calls()[0]['env'].get('READ', '').strip() == '.bashrc')
    c.close()


def hard_rc_files(k, shell, integration, name):
    for what, text in (
        ('set -u', 'set -u'), ('set -e', 'set -e'), ('noclobber, noglob', 'set -o noclobber; set -f'), ('failglob', 'shopt -s failglob nullglob'),
        ('aliases', 'alias local=false unset=false return=false declare=false jobs=false .=false export=false'), ('IFS', 'IFS=_mr'), ('return 3', 'return 3'),
        ('DEBUG trap', "trap 'x=1' DEBUG; set -T"), ('ERR trap', "trap 'echo ERR' ERR"), ('nocasematch', 'shopt -s nocasematch extglob'), ('readonly names', 'readonly record=1 bin=2 status=3 i=4'),
    ):
        if what == 'set -e' and integration == 'enabled':
            continue  # kitty's own script ends such a shell
        c = Case(k, shell, {'name': 'home', 'files': {'.bashrc': text + '\n'}})
        check(c, f'{name} {what}: asked', c.asked() and is_info(c.calls()[0]))
        c.send('\r')
        c.running()
        c.send('exit 0\r')
        c.at_shell()
        c.send('\\unalias -a; set +e +u\r')
        found = c.tell('declare -F | command grep -i kittymux; env | command grep KITTYMUX; echo "<$(declare -p PROMPT_COMMAND 2>&1 | command grep -c kittymux)>"')
        check(c, f'{name} {what}: nothing of ours is left', found is not None and found.endswith('<0>\n') and 'ERR' not in c.screen() and 'kittymux' not in found, repr(found))
        c.close()


def zsh_homes(k, shell, integration, name):
    zshrc = RC['zsh']['.zshrc']
    elsewhere = os.path.join(tempfile.mkdtemp(), "z dir's")
    os.makedirs(elsewhere)
    with open(os.path.join(elsewhere, '.zshrc'), 'w') as f:
        f.write(zshrc + 'export WHERE=elsewhere\n')
    with open(os.path.join(elsewhere, '.zshenv'), 'w') as f:
        f.write('export ENVFILE=elsewhere\n')
    quoted = "'" + elsewhere.replace("'", "'\\''") + "'"
    for what, home, env, expected in (
        ('ZDOTDIR of their own', {'.zshrc': 'export WHERE=home\n'}, {'KITTYMUX_ZDOTDIR': elsewhere}, {'WHERE': 'elsewhere', 'ENVFILE': 'elsewhere', 'ZDOTDIR': elsewhere}),
        ('ZDOTDIR set by ~/.zshenv', {'.zshenv': f'export ENVFILE=home; ZDOTDIR={quoted}\n', '.zshrc': 'export WHERE=home\n'}, {}, {'WHERE': 'elsewhere', 'ENVFILE': 'home', 'ZDOTDIR': None}),
        ('.zshenv but no .zshrc', {'.zshenv': 'export ENVFILE=home\n'}, {}, {'WHERE': None, 'ENVFILE': 'home', 'ZDOTDIR': None}),
        ('.zshrc but no .zshenv', {'.zshrc': 'export WHERE=home\n'}, {}, {'WHERE': 'home', 'ENVFILE': None, 'ZDOTDIR': None}),
        ('precmd_functions reset', {'.zshrc': 'precmd_functions=(); precmd() { export DENV=hook }; export WHERE=home\n'}, {}, {'WHERE': 'home', 'DENV': 'hook'}),
        ('a PERIOD of their own', {'.zshrc': 'PERIOD=300; periodic() { export P=1 }; export WHERE=home\n'}, {}, {'WHERE': 'home', 'P': '1'}),
        ('hard options', {'.zshrc': 'setopt err_return no_unset ksh_arrays sh_word_split warn_create_global no_clobber; alias local=false; export WHERE=home\n'}, {}, {'WHERE': 'home'}),
        ('err_exit', {'.zshrc': 'setopt err_exit; export WHERE=home\n'}, {}, {'WHERE': 'home'}),
    ):
        c = Case(k, shell, {'name': 'home', 'files': home}, env=env)
        check(c, f'{name} {what}: asked', c.asked() and is_info(c.calls()[0]))
        c.send('\r')
        c.running()
        found = c.agents()[0]['env'] if c.agents() else {}
        check(c, f'{name} {what}: their files were read, and no others', all(found.get(x) == y for x, y in expected.items()) and 'KITTYMUX_RECORD' not in found,
              str({x: found.get(x) for x in expected}))
        c.send('exit 0\r')
        c.at_shell()
        c.send('unsetopt err_exit; emulate -R zsh\r')
        rest = c.tell('print -l ${(k)functions} | grep -i kittymux; typeset + | grep -i kittymux_; echo "${PERIOD-none}"')
        check(c, f'{name} {what}: nothing of ours is left', rest == ('300\n' if 'PERIOD' in what else 'none\n'), repr(rest))
        if integration == 'enabled' and 'reset' not in what:
            check(c, f'{name} {what}: kitty sees the prompt', until(c.sees_prompt, 5))
        c.close()
    c = Case(k, shell, home_of('zsh'), session_shell=False, program=['/usr/bin/zsh', '-c', 'env; sleep 1000'])
    until(lambda: 'FOO' in c.screen() or 'HOME=' in c.screen(), 4)
    check(c, f'{name}: a zsh that is not interactive asks nothing', not c.calls() and 'KITTYMUX_RECORD' not in c.screen())
    c.close()


def from_a_session_file(shell, integration):
    """The same line as a session file has it: quoting and kitty's expansion of --env."""
    name = f'{shell}, integration {integration}: from a session file'
    if not wanted(name):
        return
    folder = tempfile.mkdtemp()
    for file, text in (('kittymux', STAND_IN), ('agent.py', AGENT)):
        with open(os.path.join(folder, file), 'w') as f:
            f.write(text)
        os.chmod(os.path.join(folder, file), 0o755)
    words = [f'--env=KITTYMUX_RECORD={RECORD}', f'--env=KITTYMUX_BIN={folder}/kittymux']
    if shell == 'zsh':
        words.append(f'--env=ZDOTDIR={SHELL_FILES}/zsh')
    words += {'bash': ['/bin/bash', '--rcfile', f'{SHELL_FILES}/kittymux.bash'], 'zsh': [], 'fish': ['/usr/bin/fish', '-C', FISH_LINE]}[shell]
    line = 'launch ' + ' '.join("'" + w.replace("'", "'\"'\"'") + "'" for w in words)
    tabs = ''.join(f'new_tab\ncd /usr\n{line}\n' for _ in range(4))
    with Kitty(conf=f'shell {shell}\nshell_integration {integration}\n', session=tabs, files=RC[shell]) as k:
        calls = until(lambda: len(lines_of(os.path.join(folder, 'calls'))) == 4 and lines_of(os.path.join(folder, 'calls')), 8)
        tally.check(f'{name}: each window asks once, with the record whole', bool(calls) and all(is_info(c) for c in calls), str(calls)[:300] + k.messages())
        tally.check(f'{name}: in its directory, with the rc file read', bool(calls) and all(c['cwd'] == '/usr' and c['env'].get('FOO') == '1' for c in calls))


CASES = (('Enter and exit', enter_and_exit, None), ('^C', interrupt, None), ('^Z and fg', stop_and_go, None), ('a failing agent', failing_agent, None),
         ('kittymux', missing_binary, None), ('home', other_homes, None), ('PROMPT_COMMAND', prompt_commands, 'bash'), ('login', login_files, 'bash'),
         ('rc with', hard_rc_files, 'bash'), ('files', zsh_homes, 'zsh'))
for shell in ('bash', 'zsh', 'fish'):
    for integration in BOTH:
        with Kitty(conf=f'shell {shell}\nshell_integration {integration}\nenabled_layouts tall\n', files=RC[shell]) as kitty:
            for title, run, which in CASES:
                name = f'{shell}, integration {integration}: {title}'
                if which in (None, shell) and wanted(name):
                    run(kitty, shell, integration, name)
        from_a_session_file(shell, integration)
sys.exit(tally.close())
