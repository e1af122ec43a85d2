//! Windows as process tables, and what is judged of them.
//!
//! A table has one process a line: `pid parent state group | words @ file`. The window's process is
//! 100, the group in front is that of the line marked `*`. Session 100 and terminal 1 unless the
//! line says `s=N` or `t=N`.

mod shells;

use expect_test::{Expect, expect};

use super::argv_cases::{line, words};
use super::definitions::Definitions;
use super::window::{State, judge};
use crate::sys::look::Look;
use crate::sys::proc::{ProcId, Process, Stat};

fn table(text: &str) -> Vec<Process> {
    let mut front = -1;
    let mut found = Vec::new();
    for row in text.lines().filter(|l| !l.trim().is_empty()) {
        let (facts, command) = row.split_once('|').expect("facts | words");
        let (argv, exe) = command.split_once('@').unwrap_or((command, ""));
        let fields: Vec<&str> = facts.split_whitespace().collect();
        let number = |n: usize| fields[n].parse::<i32>().expect("a number");
        let tagged = |tag: &str, default: i32| {
            let field = fields.iter().find_map(|f| f.strip_prefix(tag));
            field.map_or(default, |v| v.parse().expect("a number"))
        };
        if fields.contains(&"*") {
            front = number(3);
        }
        let argv = words(argv);
        found.push(Process {
            stat: Stat {
                id: ProcId {
                    pid: number(0),
                    start: 1000 + u64::try_from(number(0)).expect("a pid"),
                },
                comm: "comm".to_owned(),
                state: fields[2].chars().next().expect("a state"),
                parent: number(1),
                group: number(3),
                session: tagged("s=", 100),
                tty: tagged("t=", 1),
                foreground: -1,
            },
            argv: if argv.is_empty() {
                Look::Nothing
            } else {
                Look::Found(argv)
            },
            exe: match exe.trim() {
                "" => Look::Unknown("denied".to_owned()),
                exe => Look::Found(exe.to_owned()),
            },
            cwd: Look::Found("/p".to_owned()),
        });
    }
    for process in &mut found {
        process.stat.foreground = front;
    }
    found
}

fn check(text: &str, expected: Expect) {
    let mut processes = table(text);
    let mut shown = Vec::new();
    // The order in which the processes are read must not matter.
    for _ in 0..2 {
        let judged = judge(&Definitions::shipped(), 100, None, &processes);
        let mut out = String::new();
        if let Some(run) = &judged.agent {
            let state = match run.state {
                State::Foreground => "in front",
                State::Stopped => "stopped",
            };
            out.push_str(&format!(
                "{} {state}: {}",
                run.process.pid,
                line(&run.words)
            ));
            for id in &run.inner {
                out.push_str(&format!(", inner {}", id.pid));
            }
            if run.is_window_process {
                out.push_str(", the window's process");
            }
            if let Some(inside) = &run.inside {
                out.push_str(&format!(", inside {inside}"));
            }
            if let Some(shell) = &run.shell_above {
                out.push_str(&format!(", below {shell}"));
            }
        } else {
            out.push_str("no agent");
        }
        for (agent, id) in &judged.others {
            out.push_str(&format!("; also {agent} {}", id.pid));
        }
        if let Some(shell) = &judged.shell {
            let how = if shell.interactive { "shell" } else { "script" };
            let login = if shell.login { " login" } else { "" };
            out.push_str(&format!("; {how} {:?}{login}", shell.kind));
        }
        shown.push(out);
        processes.reverse();
    }
    assert_eq!(shown[0], shown[1]);
    expected.assert_eq(&shown[0]);
}

#[test]
fn an_agent_in_front_of_a_shell() {
    check(
        "
        100 1 S 100 | -zsh @ /bin/zsh
        200 100 S 200 * | claude --model opus @ /opt/claude.exe
    ",
        expect!["200 in front: claude --model opus, below /bin/zsh; shell Zsh login"],
    );
}

#[test]
fn an_agent_that_is_the_window() {
    check(
        "100 1 S 100 * | claude -c @ /opt/claude.exe",
        expect!["100 in front: claude -c, the window's process"],
    );
}

#[test]
fn a_stopped_agent_is_still_the_windows() {
    check(
        "
        100 1 S 100 * | zsh @ /bin/zsh
        200 100 T 200 | claude @ /opt/claude.exe
    ",
        expect!["200 stopped: claude, below /bin/zsh; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | bash @ /bin/bash
        200 100 T 200 | claude @ /opt/claude.exe
        300 100 S 300 * | less x @ /bin/less
    ",
        expect!["200 stopped: claude, below /bin/bash; shell Bash"],
    );
}

#[test]
fn of_several_the_one_in_front_and_of_stopped_ones_the_newest() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 T 200 | claude --a @ /opt/claude.exe
        300 100 S 300 * | codex @ /opt/codex
        400 100 T 400 | claude --b @ /opt/claude.exe
    ",
        expect!["300 in front: codex, below /bin/zsh; also claude 200; also claude 400; shell Zsh"],
    );
    check(
        "
        100 1 S 100 * | zsh @ /bin/zsh
        200 100 T 200 | claude --a @ /opt/claude.exe
        400 100 T 400 | codex @ /opt/codex
    ",
        expect!["400 stopped: codex, below /bin/zsh; also claude 200; shell Zsh"],
    );
}

#[test]
fn a_running_one_in_the_background_is_not() {
    check(
        "
        100 1 S 100 * | zsh @ /bin/zsh
        200 100 S 200 | claude @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
}

#[test]
fn one_that_lent_the_terminal_to_its_editor_is() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 | claude @ /opt/claude.exe
        300 200 S 300 * | vim x @ /bin/vim
    ",
        expect!["200 in front: claude, below /bin/zsh; shell Zsh"],
    );
}

#[test]
fn helpers_in_the_group_are_passed_over() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | claude @ /opt/claude.exe
        201 200 S 200 | node mcp-server.js @ /bin/node
        202 200 S 200 | rg x @ /bin/rg
        203 200 S 200 | claude mcp serve @ /opt/claude.exe
        204 200 S 200 | codex exec x @ /opt/codex
        205 200 S 200 | claude --model x @ /opt/claude.exe
    ",
        expect!["200 in front: claude, below /bin/zsh; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | claude mcp serve @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | claude -p x @ /opt/claude.exe
        201 200 S 200 | claude @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
}

#[test]
fn wrapper_and_child_are_one_run() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | node /n/bin/codex -m o3 @ /bin/node
        201 200 S 200 | /n/node_modules/@openai/codex/vendor/codex -m o3 @ /n/vendor/codex
    ",
        expect!["200 in front: codex -m o3, inner 201, below /bin/zsh; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | /bin/bash /h/bin/claude --x @ /bin/bash
        201 200 S 200 | claude --x --model y @ /opt/claude.exe
        202 201 S 200 | claude --other @ /opt/claude.exe
    ",
        expect!["200 in front: claude --x, inner 201, below /bin/zsh; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | node /n/bin/claude @ /bin/node
        201 200 S 200 | /abs/node --max-old-space-size=9 /n/bin/claude @ /bin/node
        202 201 S 200 | /abs/node --expose-gc /n/bin/claude @ /bin/node
    ",
        expect!["200 in front: claude, inner 201, inner 202, below /bin/zsh; shell Zsh"],
    );
}

#[test]
fn wrappers_that_are_no_agents() {
    check(
        "
        100 1 S 100 | bash @ /bin/bash
        200 100 S 200 * | timeout 9 claude @ /bin/timeout
        201 200 S 200 | claude @ /opt/claude.exe
    ",
        expect!["201 in front: claude, below /bin/bash; shell Bash"],
    );
    check(
        "
        100 1 S 100 * | sh -c 'claude; exec bash' @ /bin/dash
        200 100 S 100 | claude @ /opt/claude.exe
    ",
        expect![[r#"200 in front: claude; script Other("dash")"#]],
    );
    check(
        "
        100 1 S 100 | bash @ /bin/bash
        200 100 S 200 * | claude @ /opt/claude.exe
        201 100 S 200 | cat @ /bin/cat
    ",
        expect!["200 in front: claude, below /bin/bash; shell Bash"],
    );
}

#[test]
fn a_second_shell_is_named() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        150 100 S 150 | bash @ /bin/bash
        200 150 S 200 * | claude @ /opt/claude.exe
    ",
        expect!["200 in front: claude, inside bash; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        150 100 S 150 | bash --rcfile /tmp/nix-shell-12-0/rc @ /nix/store/x/bin/bash
        200 150 S 200 * | claude @ /opt/claude.exe
    ",
        expect!["200 in front: claude, inside nix-shell; shell Zsh"],
    );
}

#[test]
fn the_shell_is_what_the_process_is_now() {
    check(
        "
        100 1 S 100 | bash --posix @ /usr/bin/fish
        200 100 S 200 * | claude @ /opt/claude.exe
    ",
        expect!["200 in front: claude, below /usr/bin/fish; shell Fish"],
    );
    check(
        "
        100 1 S 100 * | bash --rcfile /s/kittymux.bash @ /bin/bash
    ",
        expect!["no agent; shell Bash"],
    );
    check(
        "100 1 S 100 * | fish -C 'claude' @ /bin/fish",
        expect!["no agent; shell Fish"],
    );
    check(
        "100 1 S 100 * | bash -l -i -c x @ /bin/bash",
        expect!["no agent; shell Bash login"],
    );
    check("100 1 S 100 * | vim @ /bin/vim", expect!["no agent"]);
}

#[test]
fn what_is_not_of_this_window_is_not_claimed() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        150 100 S 150 * | script -qc claude x @ /bin/script
        200 150 S 200 s=200 t=2 | claude @ /opt/claude.exe
        300 1 S 300 s=300 t=3 | claude @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        150 100 S 150 * | sudo -u bob claude
        200 150 S 150 | claude
    ",
        expect!["no agent; shell Zsh"],
    );
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        150 100 S 150 * | ssh host claude @ /bin/ssh
    ",
        expect!["no agent; shell Zsh"],
    );
    check(
        "
        100 1 S 100 * | zsh @ /bin/zsh
        200 100 Z 200 | claude
        300 100 S 300 t=0 | claude @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
}

#[test]
fn unreadable_arguments_are_no_agent_and_no_panic() {
    check(
        "
        100 1 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | @ /opt/claude.exe
    ",
        expect!["no agent; shell Zsh"],
    );
    check(
        "200 100 S 200 * | claude @ /opt/claude.exe",
        expect!["200 in front: claude"],
    );
    check(
        "
        100 200 S 100 | zsh @ /bin/zsh
        200 100 S 200 * | less @ /bin/less
    ",
        expect!["no agent; shell Zsh"],
    );
}

#[test]
fn the_outermost_of_several_processes_is_the_agent() {
    check(
        "
        100 1 S 100 | bash
        110 100 S 110 * | node /n/bin/qwen -y
        111 110 S 110 | /n/node --expose-gc /n/bin/qwen -y
        112 111 S 110 | /n/node --expose-gc /n/bin/qwen -y
    ",
        expect!["110 in front: qwen -y, inner 111, inner 112, below bash; shell Bash"],
    );
    check(
        "
        100 1 S 100 | bash
        110 100 S 110 * | droid --auto high
        111 110 S 110 | /opt/droid exec --input-format stream-jsonrpc --output-format stream-jsonrpc
    ",
        expect!["110 in front: droid --auto high, below bash; shell Bash"],
    );
    check(
        "
        100 1 S 100 | bash
        110 100 S 110 * | devin -r
        109 110 S 110 | /opt/devin acp
    ",
        expect!["110 in front: devin -r, below bash; shell Bash"],
    );
    check(
        "
        100 1 S 100 * | node /n/bin/copilot --banner
        111 100 S 100 | /n/native/copilot --banner
    ",
        expect!["100 in front: copilot --banner, inner 111, the window's process"],
    );
    check(
        "
        100 1 S 100 | bash
        110 100 S 110 * | /h/lib/python3.12/site-packages/vibe/_bin/vibe-rs --trust
        111 110 S 111 | vibe-app-server '' ''
    ",
        expect!["110 in front: vibe --trust, below bash; shell Bash"],
    );
}
