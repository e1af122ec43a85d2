//! Real shells in windows: what is reported, saved and run at the start.

use crate::support::{Client, Person, data, eventually, installed};
use fake_kitty::{Config, FakeKitty};

/// A shell of the captures: its name there, its program, whether the integration is on.
const SHELLS: [(&str, &str, bool); 5] = [
    ("bash-login", "/bin/bash -l", true),
    ("zsh", "/usr/bin/zsh", true),
    ("fish", "/usr/bin/fish", true),
    ("bash-integration-disabled", "/bin/bash", false),
    ("dash", "/bin/dash", true),
];

/// What was typed for each capture, in the order it was typed there: a window's history matters.
const TYPED: [(&str, &str); 5] = [
    ("quotes", r#"agent.sh 'x y' "$HOME" '$HOME' 'it'\''s' é"#),
    ("claude-process-title", "claude --resume abc"),
    ("leading-space", " agent.sh leadspace"),
    ("pipeline", "sleep 300 | agent.sh"),
    ("multiline", "agent.sh 'l1\rl2'"),
];

fn config(person: &Person, shell: &str, integration: bool) -> Config {
    person
        .config()
        .shell(shell)
        .shell_integration(if integration { "enabled" } else { "disabled" })
}

fn program(shell: &str) -> &str {
    shell.split(' ').next().unwrap()
}

/// The shell waits for a line: by its mark, or for shells without marks by being in front.
fn idle(kitty: &FakeKitty, marks: bool) -> bool {
    kitty.window(1).is_some_and(|w| {
        let alone = w.foreground.len() == 1 && w.foreground[0].0 == w.pid;
        alone && (w.at_prompt || (!marks && w.text.trim_end().ends_with('$')))
    })
}

#[test]
fn typed_commands_are_saved_as_kitty_saved_them() {
    for (name, shell, integration) in SHELLS {
        if !installed(program(shell)) || !installed("/usr/bin/node") {
            continue;
        }
        let person = Person::new(&format!("typed-{name}"));
        let marks = integration && name != "dash";
        let kitty = FakeKitty::start(config(&person, shell, integration).env("PS1", "$ ")).unwrap();
        let mut c = Client::connect(kitty.socket().unwrap());
        for (case, line) in TYPED {
            eventually(&format!("{name}: a prompt before {case}"), || {
                idle(&kitty, marks)
            });
            kitty.type_text(1, &format!("{line}\r")).unwrap();
            let word = if case == "claude-process-title" {
                "claude"
            } else {
                "agent.sh"
            };
            eventually(&format!("{name}: {case}"), || {
                kitty.window(1).is_some_and(|w| match w.foreground.last() {
                    // The report of the start is on its way yet.
                    _ if w.at_prompt => false,
                    Some((pid, argv)) if case == "claude-process-title" => {
                        *pid != w.pid && argv == &[word]
                    }
                    Some((pid, argv)) => *pid != w.pid && argv.iter().any(|a| a.ends_with(word)),
                    None => false,
                })
            });
            let want = data(&format!("save-shell-{name}-{case}.kitty-session"));
            assert_eq!(want, person.save(&mut c, ""), "{name}: {case}");
            kitty.type_text(1, "\u{3}").unwrap();
        }
    }
}

/// A session file with one window whose shell runs a command at its start.
fn session(person: &Person, data: &str, rest: &str) -> std::path::PathBuf {
    let quoted = fake_kitty::words::quote(&format!("kitty-unserialize-data={data}"));
    person.dir.write(
        "home/user/sessions/s.kitty-session",
        format!("cd {}\nlaunch {quoted} {rest}\n", person.home()),
    )
}

#[test]
fn a_command_at_the_start_runs_as_in_kitty() {
    for (name, shell, integration) in SHELLS {
        if !installed(program(shell)) {
            continue;
        }
        let person = Person::new(&format!("start-{name}"));
        let log = person.dir.path("home/user/ran");
        person.dir.script(
            "home/user/bin/note.sh",
            "#!/bin/bash\nprintf '%s|' \"$FOO\" \"${KITTY_SI_RUN_COMMAND_AT_STARTUP-gone}\" \"$@\" >~/ran\n",
        );
        let file = session(
            &person,
            r#"{"id": 1, "cmd_at_shell_startup": ["note.sh", "a b", "", "it's", "$HOME", "l1\nl2"]}"#,
            "",
        );
        let kitty = FakeKitty::start(config(&person, shell, integration).session(&file)).unwrap();
        // bash and zsh run it after the rc files, fish before config.fish; another shell through kitten
        // (which loses no empty word); without integration nothing runs.
        let want = match name {
            "bash-login" | "zsh" => Some("1|gone|a b|it's|$HOME|l1\nl2|"),
            "fish" => Some("|gone|a b|it's|$HOME|l1\nl2|"),
            "dash" => Some("|gone|a b||it's|$HOME|l1\nl2|"),
            _ => None,
        };
        match want {
            Some(want) => {
                eventually(&format!("{name}: the command"), || {
                    log.exists() && std::fs::read(&log).unwrap().ends_with(b"|")
                });
                assert_eq!(std::fs::read_to_string(&log).unwrap(), want, "{name}");
            }
            None => {
                eventually("a prompt", || {
                    kitty
                        .window(1)
                        .is_some_and(|w| w.text.trim_end().ends_with('$'))
                });
                std::thread::sleep(std::time::Duration::from_millis(300));
                assert!(!log.exists(), "{name}");
            }
        }
        // The shell is there afterwards and nothing was reported.
        if integration && name != "dash" {
            eventually(&format!("{name}: the prompt"), || {
                kitty.window(1).is_some_and(|w| w.at_prompt)
            });
        }
        assert_eq!(kitty.window(1).unwrap().last_command, "");
    }
}

#[test]
fn a_line_at_the_start_is_run_by_the_shell_and_saved_as_the_last_process() {
    for (name, shell) in [
        ("bash", "/bin/bash"),
        ("zsh", "/usr/bin/zsh"),
        ("fish", "/usr/bin/fish"),
    ] {
        if !installed(shell) {
            continue;
        }
        let person = Person::new(&format!("line-{name}"));
        let file = session(
            &person,
            r#"{"id": 1, "cmd_at_shell_startup": "agent.sh 'x y' '$HOME'"}"#,
            "--var=kittymux_id=w2",
        );
        let kitty = FakeKitty::start(config(&person, shell, true).session(&file)).unwrap();
        let mut c = Client::connect(kitty.socket().unwrap());
        eventually("agent", || {
            kitty.window(1).is_some_and(|w| {
                w.foreground
                    .last()
                    .is_some_and(|(_, a)| a.iter().any(|a| a.ends_with("agent.sh")))
            })
        });
        let w = kitty.window(1).unwrap();
        // bash and fish have no job control yet: the shell is in the same group and comes first.
        assert_eq!(
            w.foreground.len(),
            if name == "zsh" { 1 } else { 2 },
            "{name}: {:?}",
            w.foreground
        );
        assert!(!w.at_prompt);
        let saved = person.save(&mut c, "");
        // The second generation: the argv of the process, as kitty wrote it for the same window.
        let recorded = data(&format!("save-gen2-after-restore-{name}.kitty-session"));
        let line = recorded
            .lines()
            .find(|l| l.contains("kittymux_id=w2"))
            .unwrap();
        assert!(
            saved.contains(&line.replace("\"id\": 2", "\"id\": 1")),
            "{name}: {saved}"
        );
    }
}

#[test]
fn shells_with_files_of_their_own_still_read_them() {
    let person = Person::new("own-files");
    let rc = person
        .dir
        .write("rc/own.bash", ". ~/.bashrc\nexport OWN=bash\n");
    person.dir.write(
        "rc/zsh/.zshenv",
        "export OWN=zsh\nunset ZDOTDIR\n[[ -r ~/.zshenv ]] && . ~/.zshenv\n",
    );
    let rcfile = format!("--rcfile {}", rc.display());
    let zdotdir = format!("--env=ZDOTDIR={}", person.dir.path("rc/zsh").display());
    for integration in [true, false] {
        for (shell, options, args) in [
            ("/bin/bash", "", rcfile.as_str()),
            ("/usr/bin/zsh", zdotdir.as_str(), ""),
            ("/usr/bin/fish", "", "-C 'set -gx OWN fish'"),
        ] {
            if !installed(shell) {
                continue;
            }
            let file = session(
                &person,
                r#"{"id": 1}"#,
                &format!("{options} {shell} {args}"),
            );
            // kitty's own shell is another one, so the line keeps its program.
            let kitty =
                FakeKitty::start(config(&person, "/bin/dash", integration).session(&file)).unwrap();
            let out = person.dir.path("home/user/own");
            let _ = std::fs::remove_file(&out);
            eventually(shell, || {
                kitty.window(1).is_some_and(|w| !w.text.trim().is_empty())
            });
            if integration {
                eventually("prompt", || kitty.window(1).is_some_and(|w| w.at_prompt));
            }
            kitty
                .type_text(1, "echo $FOO-$OWN >~/own.new; mv ~/own.new ~/own\r")
                .unwrap();
            eventually("the file", || out.exists());
            let name = shell.rsplit('/').next().unwrap();
            assert_eq!(
                std::fs::read_to_string(&out).unwrap(),
                format!("1-{name}\n"),
                "{shell} {integration}"
            );
            eventually("the report", || {
                kitty.window(1).unwrap().last_command.is_empty() != integration
            });
            let argv = &kitty.window(1).unwrap().foreground[0].1;
            if name == "bash" && integration {
                assert_eq!(argv, &["/bin/bash", "--posix"]);
            }
        }
    }
}

#[test]
fn a_stopped_job_leaves_the_shell_at_its_prompt() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"] {
        if !installed(shell) {
            continue;
        }
        let person = Person::new("stopped");
        let kitty = FakeKitty::start(config(&person, shell, true)).unwrap();
        let mut c = Client::connect(kitty.socket().unwrap());
        eventually("prompt", || idle(&kitty, true));
        kitty.type_text(1, "sleep 1000\r").unwrap();
        eventually("sleep", || {
            kitty.window(1).is_some_and(|w| {
                // The report of the start may still be on its way.
                !w.at_prompt
                    && w.foreground
                        .last()
                        .is_some_and(|(_, a)| a[..] == ["sleep", "1000"])
            })
        });
        kitty.type_text(1, "\u{1a}").unwrap();
        eventually("prompt again", || idle(&kitty, true));
        let w = &c.windows()[0];
        assert_eq!(w["at_prompt"], true);
        assert_eq!(w["last_reported_cmdline"], "sleep 1000");
        assert!(!person.save(&mut c, "").contains("cmd_at_shell_startup"));
        kitty.type_text(1, "fg\r").unwrap();
        eventually("sleep again", || {
            kitty.window(1).is_some_and(|w| {
                !w.at_prompt
                    && w.foreground
                        .last()
                        .is_some_and(|(_, a)| a[..] == ["sleep", "1000"])
            })
        });
        assert!(
            person
                .save(&mut c, "")
                .contains(r#""cmd_at_shell_startup": "fg""#),
            "{shell}"
        );
    }
}

#[test]
fn kitten_run_shell_runs_a_program_and_becomes_the_shell() {
    for (shell, integration) in [
        ("/bin/bash", true),
        ("/usr/bin/zsh", true),
        ("/usr/bin/fish", true),
        ("/bin/bash", false),
    ] {
        if !installed(shell) {
            continue;
        }
        let person = Person::new("run-shell");
        person.dir.script(
            "home/user/bin/args.sh",
            "#!/bin/bash\nprintf '<%s>' \"$@\"\nread -r _\nexit 3\n",
        );
        let file = session(
            &person,
            r#"{"id": 1}"#,
            &format!("kitten run-shell --shell={shell} -- args.sh 'x y' ''"),
        );
        let kitty =
            FakeKitty::start(config(&person, "/bin/bash", integration).session(&file)).unwrap();
        let mut c = Client::connect(kitty.socket().unwrap());
        eventually("the program", || {
            kitty.window(1).is_some_and(|w| w.text.contains("<x y><>"))
        });
        let w = &c.windows()[0];
        assert_eq!(w["cmdline"][0], "/usr/bin/kitten");
        assert_eq!(w["cmdline"][1], "run-shell");
        let group = w["foreground_processes"].as_array().unwrap();
        assert_eq!(group.len(), 2, "{group:?}");
        assert_eq!(group[0]["pid"], w["pid"]);
        let line = "launch 'kitty-unserialize-data={\"id\": 1}' /usr/bin/kitten run-shell --shell=";
        assert!(person.save(&mut c, "").contains(line));
        kitty.type_text(1, "\r").unwrap();
        let pid = w["pid"].clone();
        eventually("the shell", || {
            let w = &c.windows()[0];
            assert_eq!(w["pid"], pid);
            w["cmdline"][0] == shell && (w["at_prompt"] == true || !integration)
        });
        eventually("the message", || {
            let text = kitty.window(1).unwrap().text;
            text.contains("args.sh failed with error")
        });
        assert!(
            person.save(&mut c, "").contains(line),
            "the creation line stays"
        );
    }
}
