"""A throw-away home in which the real agents start without a question, and the environment they get.

What is written here are the agents' own state files: first-start dialogs answered, the directories trusted, the model
behind the mock of mock.py. Nothing of the person's is read or written.
"""
import json
import os

KEY = 'sk-ant-mock-0123456789-0123456789'
CLAUDE_VERSION = '2.1.332'
# codex offers a newer one for it, unless config.toml says that this was asked already.
MODEL = 'gpt-5.5'


def claude_state(directories):
    """The text of claude's `.claude.json`."""
    return json.dumps({
        'hasCompletedOnboarding': True, 'theme': 'dark', 'lastOnboardingVersion': CLAUDE_VERSION, 'numStartups': 9,
        'bypassPermissionsModeAccepted': True, 'autoUpdates': False,
        'customApiKeyResponses': {'approved': [KEY[-20:]], 'rejected': []},
        'projects': {d: {'hasTrustDialogAccepted': True, 'hasCompletedProjectOnboarding': True,
                         'projectOnboardingSeenCount': 9} for d in directories}})


def codex_state(directories, url):
    """The text of codex's `config.toml`."""
    lines = [f'model = "{MODEL}"', 'model_provider = "mock"', 'check_for_update_on_startup = false',
             'hide_agent_reasoning = true', '[model_providers.mock]', 'name = "mock"', f'base_url = "{url}/v1"',
             'wire_api = "responses"', 'env_key = "MOCK_KEY"', '[notice]', 'hide_full_access_warning = true',
             '[notice.model_migrations]', f'"{MODEL}" = "gpt-6-sol"']
    for d in directories:
        lines += [f'[projects.{json.dumps(d)}]', 'trust_level = "trusted"']
    return '\n'.join(lines) + '\n'


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


def prepare(home, directories, url, claude_dirs=(), codex_dirs=()):
    """Makes the directories and the state files, in the usual places and in those given."""
    for d in directories:
        os.makedirs(d, exist_ok=True)
    write(os.path.join(home, '.claude.json'), claude_state(directories))
    for d in claude_dirs:
        write(os.path.join(d, '.claude.json'), claude_state(directories))
    for d in [os.path.join(home, '.codex'), *codex_dirs]:
        write(os.path.join(d, 'config.toml'), codex_state(directories, url))


def environment(home, path, url):
    """All the agents get: no name of a real service is ever asked."""
    dead = 'http://127.0.0.1:9'
    return {'HOME': home, 'PATH': path, 'LANG': 'C.UTF-8', 'TERM': 'xterm-256color', 'USER': 'user', 'SHELL': '/bin/bash',
            'XDG_RUNTIME_DIR': os.path.join(home, '.run'), 'ANTHROPIC_BASE_URL': url, 'ANTHROPIC_API_KEY': KEY,
            'MOCK_KEY': KEY, 'DISABLE_AUTOUPDATER': '1', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1', 'IS_SANDBOX': '1',
            'OPENCODE_DISABLE_AUTOUPDATE': '1', 'OPENCODE_DISABLE_MODELS_FETCH': '1', 'HTTPS_PROXY': dead,
            'https_proxy': dead, 'NO_PROXY': '127.0.0.1', 'no_proxy': '127.0.0.1'}
