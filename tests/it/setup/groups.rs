//! Agents' settings and completions: written by `setup`, said no to by themselves, given back.

use std::path::Path;

use super::{doctor, files};
use crate::pty::Pty;
use crate::rig::Rig;

const CLAUDE: &str = "{\n  \"model\": \"opus\", // mine\n}\n";

/// A home with claude and codex on PATH, and settings of claude's.
fn home() -> Rig {
    let rig = Rig::new("/bin/bash", true);
    for name in ["claude", "codex"] {
        std::fs::hard_link(rig.home().join("bin").join(name), rig.tool(name)).expect("on PATH");
    }
    rig.file(".claude/settings.json", CLAUDE);
    rig.file(".config/kitty/kitty.conf", "font_size 11\n");
    for file in [".zshrc", ".config/fish/config.fish"] {
        std::fs::remove_file(rig.home().join(file)).expect("of bash alone");
    }
    rig
}

fn read(rig: &Rig, name: &str) -> String {
    std::fs::read_to_string(rig.home().join(name)).unwrap_or_default()
}

const BASH: &str = ".local/share/bash-completion/completions/kittymux";

#[test]
fn one_yes_sets_up_hooks_and_completions_and_remove_gives_all_back() {
    let rig = home();
    let before = files(&rig.home());
    let shown = rig.kittymux_ok(None, &["setup", "--print"]);
    for part in [
        "~/.claude/settings.json (claude)",
        "~/.codex/config.toml (codex)",
        "~/.local/share/bash-completion/completions/kittymux",
        "FILE.before-kittymux",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(files(&rig.home()), before);
    let said = rig.kittymux_ok(None, &["setup", "--yes"]);
    assert!(
        said.contains("claude: put into ~/.claude/settings.json"),
        "{said}"
    );
    let claude = read(&rig, ".claude/settings.json");
    assert!(
        claude.contains("hook claude") && claude.contains("// mine"),
        "{claude}"
    );
    // codex is told by notify alone: its hooks would have to be reviewed.
    let codex = read(&rig, ".codex/config.toml");
    assert!(
        codex.starts_with("notify = [") && codex.contains("\"codex\""),
        "{codex}"
    );
    assert!(!rig.home().join(".codex/hooks.json").exists());
    assert_eq!(
        read(&rig, BASH),
        include_str!("../../../assets/completions/kittymux.bash")
    );
    let (_, healthy) = doctor(&rig, None);
    for part in ["hooks: told by claude, codex", "completions: bash"] {
        assert!(healthy.contains(part), "{part}: {healthy}");
    }
    let after = files(&rig.home());
    let again = rig.kittymux_ok(None, &["setup", "--yes"]);
    assert!(again.contains("Nothing is left to do"), "{again}");
    assert_eq!(files(&rig.home()), after, "twice changes nothing");
    let (_, status) = (0, rig.kittymux_ok(None, &["hooks", "status", "claude"]));
    assert!(status.contains("installed"), "{status}");
    let shown = rig.kittymux_ok(None, &["setup", "--remove", "--print"]);
    assert!(
        shown.contains("our hook in ~/.claude/settings.json (claude)"),
        "{shown}"
    );
    assert_eq!(files(&rig.home()), after);
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    let mut left = files(&rig.home());
    left.retain(|path, _| !path.starts_with(rig.state()));
    assert_eq!(left, before, "given back to the byte");
    assert!(!rig.home().join(".local/share/bash-completion").exists());
    assert_eq!(
        rig.kittymux_ok(None, &["setup", "--remove"]),
        "nothing is set up\n"
    );
}

#[test]
fn on_a_terminal_each_group_has_a_yes_of_its_own() {
    let answered = |answers: &[(&str, &str)]| {
        let rig = home();
        let mut command = rig.command(Path::new(&rig.tool("kittymux")));
        command.arg("setup");
        let mut pty = Pty::start(command, b"");
        for (question, answer) in answers {
            pty.shows(question);
            pty.send(answer.as_bytes());
        }
        let status = pty.end().code();
        let is_in = |name: &str, what: &str| read(&rig, name).contains(what);
        (
            status,
            is_in(BASH, "complete -F"),
            is_in(".config/kitty/kitty.conf", "include "),
            is_in(".claude/settings.json", "hook claude"),
            rig.home().join(".codex/config.toml").exists(),
        )
    };
    let all = "Write all of this? [y]es, [N]o, [e]ach asked for: ";
    let own = "kittymux's own files, timer and completions? [y/N]";
    let conf = "the line in kitty.conf? [y/N]";
    let agents = "the hooks in the agents' settings? [y/N]";
    let yes = |questions: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        questions.iter().map(|q| (*q, "y\r")).collect()
    };
    assert_eq!(answered(&yes(&[all])), (Some(0), true, true, true, true));
    assert_eq!(
        answered(&[(all, "\r")]),
        (Some(1), false, false, false, false)
    );
    let mut only_kitty = vec![(all, "e\r")];
    only_kitty.extend(yes(&[own, conf]));
    only_kitty.push((agents, "n\r"));
    assert_eq!(answered(&only_kitty), (Some(0), true, true, false, false));
    let only_agents = [(all, "e\r"), (own, "y\r"), (conf, "n\r"), (agents, "y\r")];
    assert_eq!(answered(&only_agents), (Some(0), true, false, true, true));
    // Without files of ours there is nothing that kitty.conf or an agent could name.
    let none = [(all, "e\r"), (own, "n\r")];
    assert_eq!(answered(&none), (Some(1), false, false, false, false));
}

#[test]
fn scripts_can_leave_the_agents_alone_and_a_broken_file_is_left() {
    let rig = home();
    let said = rig.kittymux_ok(None, &["setup", "--yes", "--keep-agents"]);
    assert!(said.contains("left alone: --keep-agents"), "{said}");
    assert_eq!(read(&rig, ".claude/settings.json"), CLAUDE);
    let (_, said) = doctor(&rig, None);
    assert!(
        said.contains("no hooks, their own files are looked at: claude, codex"),
        "{said}"
    );
    // What cannot be read as settings is named and stays; the others are done.
    rig.file(".claude/settings.json", "{ \"hooks\": ");
    let done = rig.kittymux(None, &["setup", "--yes"]);
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        wrong.contains("~/.claude/settings.json is left alone"),
        "{wrong}"
    );
    assert_eq!(read(&rig, ".claude/settings.json"), "{ \"hooks\": ");
    assert!(rig.home().join(".codex/config.toml").exists());
    for wrong in [
        &["--remove", "--keep-agents"][..],
        &["--plain-saves"],
        &["--print", "--yes"],
    ] {
        let words: Vec<&str> = ["setup"].iter().chain(wrong).copied().collect();
        assert_eq!(
            rig.kittymux(None, &words).status.code(),
            Some(2),
            "{wrong:?}"
        );
    }
}

#[test]
fn completions_go_where_each_shell_of_the_person_looks() {
    let rig = home();
    rig.file(".zshrc", "autoload -U compinit && compinit\n");
    rig.file(".config/fish/config.fish", "");
    for shell in ["zsh", "fish"] {
        let program = rig.file(&format!("../tools/{shell}"), "#!/bin/sh\n");
        std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a mode");
    }
    let zsh = ".local/share/zsh/site-functions/_kittymux";
    let fish = ".config/fish/completions/kittymux.fish";
    let said = rig.kittymux_ok(None, &["setup", "--yes"]);
    let line = "fpath=(~/.local/share/zsh/site-functions $fpath)";
    assert!(said.contains(line), "{said}");
    assert!(
        read(&rig, zsh).starts_with("#compdef kittymux\n")
            && read(&rig, fish).contains("complete -c kittymux")
    );
    assert!(doctor(&rig, None).1.contains(line));
    // The line is there: nobody says more of it.
    rig.file(
        ".zshrc",
        &format!("{line}\nautoload -U compinit && compinit\n"),
    );
    assert!(!rig.kittymux_ok(None, &["setup"]).contains("fpath"));
    assert!(!doctor(&rig, None).1.contains("fpath"));
    // One of an older version is brought up to date; one of the person's own stays.
    let old = read(&rig, BASH) + "# older\n";
    rig.file(BASH, &old);
    rig.file(fish, "# mine\n");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    assert_ne!(read(&rig, BASH), old);
    assert_eq!(read(&rig, fish), "# mine\n");
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert_eq!(
        (read(&rig, BASH), read(&rig, zsh)),
        (String::new(), String::new())
    );
    assert_eq!(read(&rig, fish), "# mine\n");
    // What a package installed is enough.
    let packaged = rig.file("data/bash-completion/completions/kittymux", "# theirs\n");
    let data = rig.home().join("data").display().to_string();
    let done = rig.kittymux_with(None, &["setup", "--yes"], &[("XDG_DATA_DIRS", &data)]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(read(&rig, BASH), "");
    assert!(packaged.exists() && !read(&rig, zsh).is_empty());
}

#[test]
fn the_doctor_is_coloured_on_a_terminal_alone() {
    let rig = home();
    let on_a_terminal = |plain: bool| {
        let mut command = rig.command(Path::new(&rig.tool("kittymux")));
        command.arg("doctor");
        if !plain {
            command.env_remove("NO_COLOR");
        }
        let mut pty = Pty::start(command, b"");
        pty.shows("completions");
        pty.end();
        String::from_utf8_lossy(pty.bytes(std::time::Duration::ZERO)).contains("\x1b[33mwarning")
    };
    assert!(on_a_terminal(false) && !on_a_terminal(true));
    let done = rig.kittymux_with(None, &["doctor"], &[("NO_COLOR", "")]);
    assert!(!String::from_utf8_lossy(&done.stdout).contains('\x1b'));
}
