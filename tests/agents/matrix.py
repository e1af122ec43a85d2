"""The command lines that lines.py makes its records from, and what each real agent says to a conversation it never had.

OLD stands for the id of a conversation of another start, PROMPT for a message that must not come back, DIR for a
directory, PIC for a file.
"""
import re

MATRIX = {
    'claude': r'''
        --model opus
        --model=opus PROMPT
        PROMPT --model opus
        -- PROMPT
        --verbose -- PROMPT
        --resume OLD
        --resume=OLD --model opus
        -r OLD --verbose
        -rOLD --effort high
        --model opus --resume OLD PROMPT
        PROMPT --resume OLD
        --resume OLD -- PROMPT
        --resume OLD --fork-session
        --session-id OLD --permission-mode plan
        --session-id=OLD PROMPT
        --dangerously-skip-permissions PROMPT
        -n work --permission-mode=acceptEdits
        --add-dir DIR --model opus PROMPT
        --add-dir=DIR -- PROMPT
        --allowedTools 'Bash(git:*)' Edit --model opus -- PROMPT
        --disallowed-tools=WebFetch --append-system-prompt 'be "short" $HOME' PROMPT
        --mcp-config '{"mcpServers":{}}' --strict-mcp-config
        --settings '{"env":{"A":"b"}}' --debug
        --debug api --ide PROMPT
        --system-prompt --brief --tools default''',
    'codex': r'''
        --no-daemon
        --no-daemon PROMPT
        PROMPT --no-daemon -m gpt-5.5
        --no-daemon -- PROMPT
        -m gpt-5.5 PROMPT
        --model=gpt-5.5 -s read-only
        -c model_reasoning_effort=low -c 'tui.notifications=["x y"]' --no-daemon
        --config=model_reasoning_effort=low PROMPT
        -C DIR -a never PROMPT
        --cd=DIR --search
        --add-dir DIR --no-alt-screen
        --image=PIC PROMPT
        -i PIC -- PROMPT
        -sworkspace-write -mgpt-5.5
        --dangerously-bypass-approvals-and-sandbox PROMPT
        --enable web_search_request --no-daemon
        resume OLD
        -m gpt-5.5 resume OLD
        resume OLD PROMPT
        resume OLD -m gpt-5.5 -- PROMPT
        --no-daemon -s read-only resume --no-alt-screen OLD PROMPT
        resume --all OLD''',
    'opencode': r'''
        --session OLD
        -s OLD
        --session=OLD -m a/b
        -s=OLD
        --session OLD --prompt PROMPT
        --prompt=PROMPT --session OLD --agent build
        --log-level DEBUG --session OLD DIR
        DIR -s OLD --auto
        --pure --session OLD
        --session OLD --model=a/b --print-logs
        --port 0 --session OLD --cors a b''',
    'gemini': r'''
        --resume OLD
        --resume=OLD -m flash
        --model=flash -r OLD
        -r=OLD --yolo
        --resume OLD PROMPT
        PROMPT --resume OLD
        --resume OLD -- PROMPT
        --resume OLD -i PROMPT
        --prompt-interactive=PROMPT --resume OLD
        --session-id OLD --approval-mode plan
        --session-id=OLD PROMPT
        --include-directories DIR -d --resume OLD
        --skip-trust -e none --resume OLD
        --allowed-tools=edit --screen-reader -r OLD''',
    'copilot': r'''
        --continue --no-color
        --resume=OLD
        --resume OLD --model gpt-5.5
        --allow-all-tools --resume=OLD
        --model=gpt-5.5 -r OLD
        -rOLD --yolo
        --resume=OLD -i PROMPT
        --interactive=PROMPT --allow-all
        --session-id OLD --add-dir DIR
        --session-id=OLD -i PROMPT
        --allow-tool 'shell(git:*)' write --resume=OLD
        --deny-tool=write --log-level debug --resume=OLD
        -n work --stream off
        --trust-folder --fleet -i PROMPT
        -C DIR --banner --screen-reader''',
    'qwen': r'''
        --continue -m coder
        --resume OLD
        -m coder --resume=OLD
        --yolo -r OLD
        -r=OLD --approval-mode plan
        --resume OLD -i PROMPT
        --prompt-interactive=PROMPT --resume OLD
        --session-id OLD --approval-mode=plan
        --session-id=OLD -i PROMPT
        --resume OLD --fork-session
        --add-dir DIR --resume OLD
        --include-directories=DIR --model=coder
        --allowed-tools edit write --resume OLD
        --append-system-prompt 'be "short" $HOME' -d
        --auth-type openai --openai-base-url http://127.0.0.1:9/v1 -i PROMPT''',
    # It writes its name over its command line: all but the id is gone by the time of a save.
    'pi': r'''
        --continue
        --session OLD
        --session OLD --model mock
        --model mock --session OLD -- PROMPT
        --session=OLD
        PROMPT --session OLD
        --session-id OLD PROMPT
        --fork OLD --thinking high
        --name work PROMPT
        --append-system-prompt 'be "short" $HOME' --no-skills''',
    'droid': r'''
        --resume OLD
        -r OLD --auto low
        --resume=OLD --cwd DIR
        --auto=high --resume OLD PROMPT
        PROMPT --auto low
        --resume OLD -- PROMPT
        --append-system-prompt 'be "short" $HOME' PROMPT
        --use-spec PROMPT
        --fork OLD
        --disable-builtin-skills --resume OLD
        resume OLD''',
    'amp': r'''
        threads continue OLD
        t c OLD
        thread continue OLD
        --no-notifications threads continue OLD
        threads continue OLD --no-ide
        --mode smart threads continue OLD
        -m deep threads c OLD
        --mode=smart --log-level debug threads continue OLD
        --no-color --ide t continue OLD
        threads continue OLD --visibility private''',
    'cline': r'''
        --id OLD
        --id=OLD -m a/b
        --model a/b --id OLD PROMPT
        PROMPT --id OLD
        --id OLD -- PROMPT
        --plan --id OLD
        -p -P anthropic --id OLD
        -c DIR --id OLD
        --cwd=DIR --id OLD PROMPT
        --auto-approve true --id OLD
        --thinking low --verbose --id OLD
        --retries 2 --id OLD
        -s 'be "short" $HOME' --id OLD''',
    'kilo': r'''
        --session OLD
        -s OLD
        --session=OLD -m a/b
        -s=OLD
        --session OLD --prompt PROMPT
        --prompt=PROMPT --session OLD --agent code
        --log-level DEBUG --session OLD DIR
        DIR -s OLD --auto
        --pure --session OLD
        --session OLD --model=a/b --print-logs
        --port 0 --session OLD --cors a b''',
    # No conversation has an id: the one of the directory goes on.
    'aider': r'''
        --restore-chat-history
        --model a/b
        --model=a/b --no-git
        PIC --dark-mode
        --read PIC --no-auto-commits
        --chat-mode ask --edit-format=diff
        --no-restore-chat-history --vim
        --no-check-update --no-show-model-warnings
        --lint-cmd 'be "short" $HOME' PIC''',
    'auggie': r'''
        --resume OLD
        -r OLD -m x
        --model=x --resume=OLD
        --resume OLD PROMPT
        PROMPT -r OLD
        --resume OLD -- PROMPT
        --instruction PROMPT -r OLD
        -i PROMPT --resume OLD
        --ask --resume OLD
        -w DIR --resume OLD
        --workspace-root=DIR --resume OLD
        --image PIC --resume OLD
        --rules PIC -a --resume OLD
        --no-update-terminal-title --permission 'view:allow' -r OLD''',
    'vibe': r'''
        --continue
        --resume OLD
        --resume=OLD --agent plan
        PROMPT
        --auto-approve PROMPT
        --resume OLD -- PROMPT
        -- PROMPT
        --agent=plan --trust PROMPT
        --workdir DIR
        --add-dir DIR PROMPT
        --smart-approve --resume OLD''',
    'hermes': r'''
        --resume OLD
        -r OLD -m x
        --model=x --resume=OLD
        chat --resume OLD
        chat -m x --resume OLD
        --yolo --resume OLD
        --provider anthropic --resume OLD
        -t web,terminal --no-restore-cwd -r OLD
        --accept-hooks --ignore-rules --resume OLD
        --safe-mode -w -r OLD''',
    'omp': r'''
        --continue
        --resume OLD
        -r OLD --model mock
        --model=mock --resume=OLD
        --resume OLD -- PROMPT
        PROMPT
        --thinking high PROMPT
        PROMPT --cwd DIR
        --add-dir=DIR -- PROMPT
        --fork OLD
        --no-lsp --approval-mode write
        --append-system-prompt 'be "short" $HOME' --no-title''',
    'grok': r'''
        --resume OLD
        -r OLD -m x
        --model=x --resume=OLD
        -rOLD --no-alt-screen
        --resume OLD PROMPT
        PROMPT --resume OLD
        --resume OLD -- PROMPT
        --session-id OLD --always-approve
        --cwd DIR --resume OLD
        --permission-mode plan --minimal -r OLD
        --allow 'Bash(git:*)' --deny=Edit -r OLD
        --rules 'be "short" $HOME' --reasoning-effort high -r OLD
        --worktree --resume OLD
        -w work -r OLD PROMPT
        --agents '{}' --tools read_file --resume OLD''',
    'qodercli': r'''
        --continue --dangerously-skip-permissions
        --resume OLD
        -r OLD -m x
        --model=x --resume=OLD
        PROMPT --resume OLD
        --resume OLD -- PROMPT
        PROMPT
        -i PROMPT -d
        --prompt-interactive=PROMPT
        --session-id OLD --permission-mode plan
        --resume OLD --fork-session
        -w DIR PROMPT
        --cwd=DIR -n work
        --add-dir DIR PROMPT
        --allowed-tools 'Bash(git:*)' -- PROMPT
        --tools a b --model x PROMPT
        --teleport OLD --remote-control=work
        --append-system-prompt 'be "short" $HOME' PROMPT''',
    'cn': r'''
        --resume
        --model a/b PROMPT
        PROMPT --readonly
        --fork OLD
        --auto -- PROMPT
        --allow Bash --exclude=Write
        --rule 'be "short" $HOME' PROMPT''',
    'letta': r'''
        --agent OLD
        -a OLD -m x
        --agent=OLD --toolset default
        --model=x -a OLD
        --skills DIR --agent OLD
        --no-skills --memfs -a OLD
        --new-agent --name work --personality linus -a OLD
        --memory-scope project -a OLD''',
}

# How each says that it does not know an id (docs/agent-facts.md), and its status; None: it goes on, at a login that it
# comes to only when it took the whole command line, or with a new conversation.
ANSWERS = {
    'claude': ('No conversation found with session ID: ID', 1),
    'codex': ('No saved session found with ID ID', 1),
    'opencode': ('Session not found: ID', 1),
    # It has no conversation of this directory at all.
    'gemini': ('No previous sessions found for this project', 42),
    'copilot': ("matched 'ID", 1),
    'qwen': ('No saved session found with ID ID', 1),
    'pi': ("No session found matching 'ID", 1),
    # It says nothing; of a word that it does not take it makes a new conversation.
    'droid': ('', 1),
    'amp': ('Starting login flow', None),
    'cline': ('Sign in with', None),
    'kilo': ('Session not found: ID', 1),
    'aider': ('(Y)es/(N)o', None),
    'auggie': ('Login to continue', None),
    'vibe': ('Starting the app server', None),
    'hermes': ('Session not found: ID', None),
    'omp': ('Session "ID" not found', 1),
    'grok': ('Failed to authenticate for session restore', 1),
    'qodercli': ('Trust folder', None),
    'cn': ('Enter your Anthropic API key', None),
    'letta': ('Login to Letta Code', None),
}

# These take any option, so of theirs it is only the id that says something.
TAKE_ANYTHING = ('pi', 'omp')

# Those without an id come back with the newest; ALONE have a kitty to themselves, as what is kept of them is of one.
NEWEST = ('aider', 'cn')
ALONE = ('cn', 'gemini')

# Of which neither npm nor PyPI has a program that runs here.
ABSENT = {
    'cursor-agent': 'neither npm nor PyPI has it',
    'agy': 'neither npm nor PyPI has it',
    'acli': 'neither npm nor PyPI has it',
    'devin': 'neither npm nor PyPI has it',
    'codebuddy': 'npm has its package no more, only a part of it without a screen',
    'kimi': 'what PyPI has of it only says that it is another program now',
}

# What a parser says of a word it does not take. Some show their whole help then.
USAGE = re.compile(r'unknown option|unexpected argument|invalid value|Usage:|required option|argument missing|cannot be used with|'
                   r'Not enough|Unknown argument|too many arguments|is invalid|not supplied|unrecognized argument|'
                   r'expected one argument|invalid choice', re.I)
