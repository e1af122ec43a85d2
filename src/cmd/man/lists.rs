//! What the manual page lists beside the verbs: exit codes, variables, files.

/// What is no verb of the table: how it is called, and what it does.
pub(super) const STARTED: [(&str, &str); 2] = [
    (
        "kittymux resume-prompt [--info JSON]",
        "What a restored window runs: it asks, and becomes the agent or a shell.",
    ),
    (
        "kittymux --tick",
        "What a timer starts every ten seconds: one look at the open kitties, and a save where one is due.",
    ),
];

/// Exit codes.
pub(super) const EXIT_CODES: [(&str, &str); 3] = [
    ("0", "done, or there was nothing to do"),
    ("1", "it could not be done; standard error says why"),
    ("2", "it was used wrongly"),
];

/// Variables that count.
pub(super) const ENVIRONMENT: [(&str, &str); 26] = [
    (
        "KITTYMUX_TARGET",
        "the kitty to act on: unix:/path, unix:@name or fd:N; a wrong one is an error",
    ),
    (
        "KITTYMUX_STATE_DIR",
        "the state directory, an absolute path",
    ),
    (
        "KITTYMUX_RESUME",
        "auto: resume without asking; never: start no agent, open shells",
    ),
    (
        "KITTYMUX_AUTOSAVE",
        "0 in the environment of a kitty: nothing is written when it goes; in that of a tick: it saves nothing",
    ),
    (
        "KITTYMUX_JOURNAL",
        "0: this kittymux writes nothing into the journal",
    ),
    (
        "KITTYMUX_RECORD",
        "set by a save for the shell of a restored window: what the prompt may run",
    ),
    (
        "KITTYMUX_BIN",
        "set beside it: the kittymux that shell starts",
    ),
    (
        "KITTYMUX_LOGIN",
        "set beside it: the shell was a login shell",
    ),
    (
        "KITTYMUX_ZDOTDIR",
        "set beside it for zsh: the person's own ZDOTDIR",
    ),
    ("ZDOTDIR", "where zsh has its start-up files"),
    (
        "KITTY_LISTEN_ON",
        "the socket of the kitty this window is in, set by kitty",
    ),
    ("KITTY_PID", "the process of that kitty"),
    ("KITTY_WINDOW_ID", "the window of that kitty"),
    (
        "KITTY_CONFIG_DIRECTORY",
        "where kitty.conf is, as kitty itself looks for it",
    ),
    (
        "KITTY_INSTALLATION_DIR",
        "where setup reads which kitty it is",
    ),
    ("XDG_STATE_HOME", "holds the state directory"),
    (
        "XDG_CONFIG_HOME",
        "holds kittymux/resume.json and kittymux/config.json",
    ),
    (
        "XDG_DATA_HOME",
        "where setup puts the completions of bash and zsh",
    ),
    (
        "BASH_COMPLETION_USER_DIR",
        "where bash has a person's own completions, in its place",
    ),
    (
        "XDG_DATA_DIRS",
        "where packages put completions: setup writes none that are there",
    ),
    (
        "FPATH",
        "where zsh looks for completions, if it is exported",
    ),
    (
        "BASH_COMPLETION_VERSINFO",
        "set where bash-completion is loaded",
    ),
    (
        "HOME",
        "the home directory; else the one of the password file",
    ),
    (
        "SHELL",
        "the shell to open; else the one of the password file",
    ),
    ("PATH", "where kitty and the agents are found"),
    ("NO_COLOR", "no colour, whatever its value"),
];

/// Files: those of the state directory by their path in it, the person's own from home.
pub(super) const FILES: [(&str, &str); 35] = [
    (
        "sessions/NAME.kitty-session",
        "A save: a session file of kitty's with a record for each agent window.",
    ),
    (
        "sessions/autosave-BOOT-PID-START.kitty-session",
        "The desk of one kitty, saved by itself.",
    ),
    (
        "sessions/startup.kitty-session",
        "The newest desk that is still to come back, for startup_session in kitty.conf.",
    ),
    (
        "sessions/.previous/",
        "What a save, a rewrite or setup --remove --plain-saves replaced.",
    ),
    (
        "sessions/.history/",
        "The last four desks of a kitty that had other windows.",
    ),
    ("sessions/.taken/", "Which desk was opened by which kitty."),
    (
        "sessions/.pending-ID/",
        "A capture under way; removed ten minutes after it was given up.",
    ),
    (
        "sessions/.restore-ID/",
        "The private copy that a kitty loads; removed after seven days.",
    ),
    ("sessions/.records/", "Records too long for a launch line."),
    (
        "sessions/.exit/",
        "What kitty's watcher wrote as kitty went.",
    ),
    (
        "sessions/.trash/",
        "Saves that were deleted; sessions restore opens them by their path.",
    ),
    (
        "sessions/.closed/",
        "The last five OS windows that were closed by themselves.",
    ),
    (
        "agent-sessions.json",
        "The journal: 300 sessions and 90 days at most.",
    ),
    (
        "hooks/",
        "Events of agents, a file for each process; counted, then removed.",
    ),
    ("claims/", "Which process has which conversation open."),
    ("kitties/", "The sockets of running kitties."),
    ("locks/", "Locks; always empty."),
    ("tick.json", "What the last tick saw."),
    (
        "plan.json",
        "The last plan of each kitty: which window had which conversation.",
    ),
    (
        "resume-check.json",
        "What the installed agents know; believed for 12 hours.",
    ),
    ("resume-auto", "If there: resume without asking."),
    ("resume-never", "If there: start no agent."),
    (
        "resume-all-until",
        "For which restore \"resume all\" was chosen, and until when.",
    ),
    (
        "autosave-off",
        "If there: nothing is saved, or brought back, by itself.",
    ),
    (
        "journal-off",
        "If there: nothing is written into the journal.",
    ),
    ("self-path", "Where a person starts kittymux."),
    (
        "shell/",
        "Start-up files for the bash, zsh and fish of restored windows.",
    ),
    ("kitty/kittymux.conf", "What kitty.conf includes."),
    (
        "kitty/kittymux_capture.py",
        "How kitty is asked for a save.",
    ),
    ("kitty/kittymux_watcher.py", "What kitty does as it goes."),
    (
        "log/new-kitty.log",
        "What the kitty said that the last restore started.",
    ),
    (
        "FILE.bak",
        "Beside a file of yours that sessions rewrite changed, and kitty.conf: the old one.",
    ),
    (
        "~/.config/kittymux/resume.json",
        "Agents of your own, in place of the shipped definitions of that name.",
    ),
    ("~/.config/kittymux/config.json", "Settings of your own."),
    (
        "FILE.before-kittymux",
        "Beside the settings of an agent that hold our hook: the file as it was.",
    ),
];
