use expect_test::{Expect, expect};

use super::*;
use crate::agents::definitions::Definitions;
use crate::kitty::session_file::Origin;
use crate::resume::record::{Mode, Rules};
use crate::resume::rewrite::{Form, Setting, Shell, put};

const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

fn words(line: &str) -> Vec<String> {
    line.split(' ')
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

fn record() -> Record {
    Record {
        agent: "claude".into(),
        mode: Mode::Exact,
        sid: SID.into(),
        orig: words("claude --model opus"),
        resume: words(&format!("claude --model opus --resume {SID}")),
        exe: "/opt/bin/claude".into(),
        cwd: "/p".into(),
        tab: String::new(),
        save: "s".into(),
        at: String::new(),
        was: Vec::new(),
        env: Vec::new(),
        lost: Vec::new(),
        direct: false,
    }
}

/// The line of a window that asks by this record.
fn asking(record: &Record, form: &Form) -> String {
    let mut launch = LaunchLine::new(Some(7));
    let setting = Setting {
        kittymux: "/km/kittymux",
        state: "/s",
        save: "S",
        fish: "FISH",
    };
    put(&mut launch, &record.text(), form, setting);
    launch.set_pair("--var", "kittymux_save", Some("S"));
    launch.set_pair("--var", "kittymux_agent", Some("claude"));
    launch.set_pair("--var", "mine", Some("stays"));
    launch.text()
}

fn plain(text: &str, integrates: bool) -> (String, Done) {
    let defs = Definitions::shipped();
    let record = |text: &str| {
        let record = Record::read(text).ok()?;
        let def = defs.get(&record.agent)?;
        let rules = Rules {
            names: &def.names,
            is_id: &|id| def.id.accept(id).is_some(),
            env: &def.env,
        };
        record.check(rules).ok().map(|()| record)
    };
    let mut file = SessionFile::read(text, Origin::Person, &[]);
    assert_eq!(file.refusal(), None, "{text}");
    let ground = Ground {
        record: &record,
        kitty_shell: "/bin/bash",
        integrates,
        state: "/s",
    };
    let done = make_plain(&mut file, ground);
    let new = file.text();
    let proof = SessionFile::read(&new, Origin::Person, &[]);
    assert_eq!(proof.refusal(), None, "{new}");
    assert_eq!(proof.launches().count(), file.launches().count());
    assert!(
        !new.contains("kittymux") && !new.contains("KITTYMUX"),
        "{new}"
    );
    (new, done)
}

fn form(shell: &str) -> Form {
    let path = format!("/bin/{shell}");
    Form::Shell(match shell {
        "bash" => Shell::Bash { path, login: false },
        "zsh" => Shell::Zsh {
            path,
            zdotdir: Some("/z".into()),
            is_kittys: false,
        },
        "fish" => Shell::Fish { path },
        _ => Shell::Other { path },
    })
}

fn check(record: &Record, expected: Expect) {
    let mut said = String::new();
    let forms = [
        ("program", Form::Program),
        ("bash", form("bash")),
        ("zsh", form("zsh")),
        ("fish", form("fish")),
        ("nu", form("nu")),
    ];
    for (name, form) in forms {
        let text = format!("cd /p\n{}\n", asking(record, &form));
        for (word, integrates) in [("on", true), ("off", false)] {
            let (new, done) = plain(&text, integrates);
            let counted = format!("{}/{}", done.agents, done.shells);
            said.push_str(&format!(
                "{name} {word} {counted}:\n{}\n",
                new.replace("cd /p\n", "").trim()
            ));
        }
    }
    expected.assert_eq(&said);
}

#[test]
fn each_window_starts_its_agent_by_the_plain_command() {
    check(
        &record(),
        expect![[r#"
            program on 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            program off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            bash on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays
            bash off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/bash /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            zsh on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays /bin/zsh
            zsh off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/zsh /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            fish on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["/opt/bin/claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays /bin/fish
            fish off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/fish /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            nu on 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/nu /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
            nu off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/nu /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
        "#]],
    );
}

#[test]
fn a_configuration_directory_goes_along_and_a_new_conversation_is_new() {
    let new = Record {
        mode: Mode::New,
        sid: String::new(),
        resume: Vec::new(),
        env: vec!["CLAUDE_CONFIG_DIR=/h/my $x".into()],
        ..record()
    };
    check(
        &new,
        expect![[r#"
            program on 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            program off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            bash on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["env","CLAUDE_CONFIG_DIR=/h/my \u0024x","claude","--model","opus"]}' --var=mine=stays
            bash off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/bash env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            zsh on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["env","CLAUDE_CONFIG_DIR=/h/my \u0024x","claude","--model","opus"]}' --var=mine=stays /bin/zsh
            zsh off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/zsh env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            fish on 1/0:
            launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["env","CLAUDE_CONFIG_DIR=/h/my \u0024x","/opt/bin/claude","--model","opus"]}' --var=mine=stays /bin/fish
            fish off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/fish env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            nu on 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/nu env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
            nu off 1/0:
            launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays kitten run-shell --shell=/bin/nu env 'CLAUDE_CONFIG_DIR=/h/my $x' /opt/bin/claude --model opus
        "#]],
    );
}

#[test]
fn what_a_launch_line_cannot_hold_goes_where_it_can_or_the_shell_alone_comes_back() {
    let mut odd = record();
    odd.resume.push("a\nb".into());
    odd.orig.push("a\nb".into());
    check(
        &odd,
        expect![[r#"
        program on 1/0:
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["/opt/bin/claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001","a\u000ab"]}' --var=mine=stays
        program off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        bash on 1/0:
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001","a\u000ab"]}' --var=mine=stays
        bash off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        zsh on 1/0:
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001","a\u000ab"]}' --var=mine=stays /bin/zsh
        zsh off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/zsh
        fish on 1/0:
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["/opt/bin/claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001","a\u000ab"]}' --var=mine=stays /bin/fish
        fish off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/fish
        nu on 1/0:
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["/opt/bin/claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001","a\u000ab"]}' --var=mine=stays /bin/nu
        nu off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/nu
    "#]],
    );
    let mut empty = record();
    empty.resume.push(String::new());
    let (new, _) = plain(&asking(&empty, &form("bash")), true);
    expect![[r#"launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays --cwd=/p kitten run-shell --shell=/bin/bash claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001 ''"#]].assert_eq(&new);
    // A directory that kitty would expand, and one that nothing can carry.
    let place = Record {
        cwd: "/p/$HOME".into(),
        ..record()
    };
    let (new, _) = plain(&asking(&place, &form("bash")), true);
    expect![[r#"launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["sh","-c","cd -- \"\u00241\" && shift && exec \"\u0024@\"","sh","/p/\u0024HOME","claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays '--cwd=/p/$$HOME'"#]].assert_eq(&new);
    let raw = Record {
        cwd: crate::sys::bytes::from_bytes(b"/p/\xff"),
        ..record()
    };
    let (new, done) = plain(&asking(&raw, &form("bash")), true);
    assert_eq!((done.agents, done.shells), (0, 1), "{new}");
}

#[test]
fn a_record_that_may_not_be_run_leaves_the_shell_alone() {
    let mut evil = record();
    evil.resume[0] = "/evil/rm".into();
    evil.orig[0] = "/evil/rm".into();
    check(
        &evil,
        expect![[r#"
        program on 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        program off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        bash on 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        bash off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays
        zsh on 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/zsh
        zsh off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/zsh
        fish on 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/fish
        fish off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/fish
        nu on 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/nu
        nu off 0/1:
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays /bin/nu
    "#]],
    );
}

#[test]
fn the_shell_is_the_one_that_was_there() {
    let login = Form::Shell(Shell::Bash {
        path: "/opt/bash".into(),
        login: true,
    });
    let started = Form::Shell(Shell::Started {
        words: words("/bin/bash --norc"),
    });
    let kittys = Form::Shell(Shell::Zsh {
        path: "/bin/zsh".into(),
        zdotdir: None,
        is_kittys: true,
    });
    let was = Record {
        was: words("/bin/zsh -l"),
        ..record()
    };
    let lines = [
        asking(&record(), &login),
        asking(&record(), &started),
        asking(&record(), &kittys),
        asking(&was, &form("zsh")),
        "launch 'kitty-unserialize-data={\"id\": 1}' --var=kittymux_save=S  /bin/zsh".into(),
        "launch --type=background x".into(),
    ];
    let (new, done) = plain(&(lines.join("\n") + "\n"), true);
    expect![[r#"
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays --cwd=/p /opt/bash -l
        launch 'kitty-unserialize-data={"id": 7}' --var=mine=stays --cwd=/p kitten run-shell '--shell=/bin/bash --norc' /opt/bin/claude --model opus --resume 0a1b2c3d-0000-4000-8000-000000000001
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays --cwd=/p
        launch 'kitty-unserialize-data={"id": 7, "cmd_at_shell_startup": ["claude","--model","opus","--resume","0a1b2c3d-0000-4000-8000-000000000001"]}' --var=mine=stays --cwd=/p /bin/zsh -l
        launch 'kitty-unserialize-data={"id": 1}'  /bin/zsh
        launch --type=background x
    "#]].assert_eq(&new);
    assert_eq!((done.agents, done.shells, done.as_saved), (4, 0, 1));
}
