//! The last plan of each kitty: what ran in its windows, and which conversation each agent had. It
//! is what is left to decide by once the processes are gone.

#![allow(clippy::question_mark)] // in what the derive of DeJson writes

use nanoserde::DeJson;

use super::plan::{Choice, Source};
use super::record::Mode;
use super::window::{AgentSeen, Runs, Seen};
use crate::agents::shell::{Shell, ShellKind};
use crate::sys::json::{self, Object, Wrong};
use crate::sys::proc::ProcId;

/// The largest document we read.
pub const LIMIT: usize = 32 << 20;

/// One window of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWindow {
    /// Its id.
    pub window: u64,
    /// Its own process; `None` where that could not be looked at.
    pub child: Option<ProcId>,
    /// The agent's process, and whether it was stopped.
    pub agent: Option<(ProcId, bool)>,
    /// The conversation the agent itself says it has, also one in which nothing was said yet.
    pub open: Option<String>,
    /// What was seen and decided.
    pub seen: Seen,
}

/// The plan of one kitty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastPlan {
    /// The kitty.
    pub kitty: ProcId,
    /// When it was made, on the boot clock.
    pub up: u64,
    /// Its windows.
    pub windows: Vec<LastWindow>,
}

/// The document of all plans of this boot.
#[must_use]
pub fn text(boot: &str, plans: &[LastPlan]) -> String {
    let plans = plans.iter().map(|plan| {
        Object::new()
            .number("pid", number(plan.kitty.pid))
            .number("start", plan.kitty.start)
            .number("up", plan.up)
            .raw("windows", &json::list(plan.windows.iter().map(window)))
            .finish()
    });
    Object::new()
        .number("v", 1)
        .text("boot", boot)
        .raw("kitties", &json::list(plans))
        .finish()
}

fn number(pid: i32) -> u64 {
    u64::try_from(pid).unwrap_or(0)
}

fn window(w: &LastWindow) -> String {
    let mut out = Object::new().number("window", w.window);
    if let Some(child) = w.child {
        out = out
            .number("pid", number(child.pid))
            .number("start", child.start);
    }
    if let Some((process, stopped)) = w.agent {
        out = out
            .number("agent_pid", number(process.pid))
            .number("agent_start", process.start)
            .flag("stopped", stopped);
    }
    out = out.maybe("open", w.open.as_deref());
    out = match &w.seen.runs {
        Runs::Other => out.text("runs", "other"),
        Runs::Waiting {
            record,
            is_window_process,
        } => out
            .text("runs", "waiting")
            .text("record", record)
            .flag("is_window_process", *is_window_process),
        Runs::Agent(a) => out
            .text("runs", "agent")
            .text("agent", &a.agent)
            .flag("is_window_process", a.is_window_process)
            .text("exe", &a.exe)
            .text("cwd", &a.cwd)
            .texts("fresh", &a.fresh)
            .texts("resume", &a.resume)
            .texts("lost", &a.lost)
            .texts("env", &a.env)
            .text("mode", a.choice.mode.word())
            .text("sid", &a.choice.sid)
            .text("source", source_word(a.choice.source))
            .text("why", &a.choice.why)
            .maybe("owner", a.choice.cwd.as_deref()),
    };
    if let Some(shell) = &w.seen.shell {
        let kind = match &shell.kind {
            ShellKind::Bash => "bash",
            ShellKind::Zsh => "zsh",
            ShellKind::Fish => "fish",
            ShellKind::Other(name) => name,
        };
        let shell = Object::new()
            .text("kind", kind)
            .maybe("exe", shell.exe.as_deref())
            .texts("argv", &shell.argv)
            .flag("interactive", shell.interactive)
            .flag("login", shell.login);
        out = out.raw("shell", &shell.finish());
    }
    if let Some(dir) = &w.seen.zdotdir {
        out = out.text("zdotdir", dir);
    }
    // What an agent was called with may hold secrets; its own words stand above, without them.
    if let (Runs::Other, Some(words)) = (&w.seen.runs, &w.seen.foreground) {
        out = out.texts("foreground", words);
    }
    out.finish()
}

const SOURCES: [(Source, &str); 6] = [
    (Source::Live, "live"),
    (Source::Argv, "argv"),
    (Source::StartTime, "start time"),
    (Source::Directory, "directory"),
    (Source::Latest, "latest"),
    (Source::None, "none"),
];

fn source_word(source: Source) -> &'static str {
    SOURCES
        .iter()
        .find(|(s, _)| *s == source)
        .map_or("none", |(_, word)| word)
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct Document {
    v: u64,
    boot: String,
    kitties: Vec<PlanEntry>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct PlanEntry {
    pid: i32,
    start: u64,
    up: u64,
    windows: Vec<WindowEntry>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct WindowEntry {
    window: u64,
    pid: Option<i32>,
    start: u64,
    agent_pid: Option<i32>,
    agent_start: u64,
    stopped: bool,
    open: Option<String>,
    runs: String,
    record: String,
    is_window_process: bool,
    agent: String,
    exe: String,
    cwd: String,
    fresh: Vec<String>,
    resume: Vec<String>,
    lost: Vec<String>,
    env: Vec<String>,
    mode: String,
    sid: String,
    source: String,
    why: String,
    owner: Option<String>,
    shell: Option<ShellEntry>,
    zdotdir: Option<String>,
    foreground: Option<Vec<String>>,
}

#[derive(DeJson, Default)]
#[nserde(default)]
struct ShellEntry {
    kind: String,
    exe: Option<String>,
    argv: Vec<String>,
    interactive: bool,
    login: bool,
}

/// Reads the document; that of another boot holds no plan.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8], boot: &str) -> Result<Vec<LastPlan>, Wrong> {
    let document: Document = json::decode(bytes, LIMIT)?;
    if document.boot != boot || document.v == 0 {
        return Ok(Vec::new());
    }
    let plans = document.kitties.into_iter().map(|plan| LastPlan {
        kitty: ProcId {
            pid: plan.pid,
            start: plan.start,
        },
        up: plan.up,
        windows: plan.windows.into_iter().map(WindowEntry::read).collect(),
    });
    Ok(plans.collect())
}

impl WindowEntry {
    fn read(self) -> LastWindow {
        let process = |pid: Option<i32>, start| pid.map(|pid| ProcId { pid, start });
        let mode = Mode::from_word(&self.mode).unwrap_or(Mode::New);
        let source = SOURCES.iter().find(|(_, word)| *word == self.source);
        let runs = match self.runs.as_str() {
            "waiting" => Runs::Waiting {
                record: self.record,
                is_window_process: self.is_window_process,
            },
            "agent" => Runs::Agent(Box::new(AgentSeen {
                agent: self.agent,
                is_window_process: self.is_window_process,
                exe: self.exe,
                cwd: self.cwd,
                fresh: self.fresh,
                resume: self.resume,
                lost: self.lost,
                env: self.env,
                choice: Choice {
                    mode,
                    sid: self.sid,
                    source: source.map_or(Source::None, |(s, _)| *s),
                    why: self.why,
                    cwd: self.owner,
                },
            })),
            _ => Runs::Other,
        };
        LastWindow {
            window: self.window,
            child: process(self.pid, self.start),
            agent: process(self.agent_pid, self.agent_start).map(|p| (p, self.stopped)),
            open: self.open,
            seen: Seen {
                runs,
                shell: self.shell.map(|s| Shell {
                    kind: match s.kind.as_str() {
                        "bash" => ShellKind::Bash,
                        "zsh" => ShellKind::Zsh,
                        "fish" => ShellKind::Fish,
                        _ => ShellKind::Other(s.kind),
                    },
                    exe: s.exe,
                    argv: s.argv,
                    interactive: s.interactive,
                    login: s.login,
                }),
                zdotdir: self.zdotdir,
                foreground: self.foreground,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans() -> Vec<LastPlan> {
        let words = |w: &[&str]| w.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let agent = AgentSeen {
            agent: "claude".into(),
            is_window_process: false,
            exe: "/opt/claude".into(),
            cwd: "/p/\u{2028}é".into(),
            fresh: words(&["claude", "--model", "opus"]),
            resume: words(&["claude", "--model", "opus", "--resume", "A"]),
            lost: words(&["--api-key"]),
            env: words(&["CLAUDE_CONFIG_DIR=/w"]),
            choice: Choice {
                mode: Mode::Exact,
                sid: "A".into(),
                source: Source::StartTime,
                why: "made as it started".into(),
                cwd: Some("/q".into()),
            },
        };
        let shell = Shell {
            kind: ShellKind::Other("nu".into()),
            exe: Some("/usr/bin/nu".into()),
            argv: words(&["nu", "-l"]),
            interactive: true,
            login: true,
        };
        let seen = |runs| Seen {
            runs,
            shell: Some(shell.clone()),
            zdotdir: None,
            foreground: None,
        };
        let of = |window, agent, runs| LastWindow {
            open: Some("B".into()),
            window,
            child: Some(ProcId { pid: 5, start: 6 }),
            agent,
            seen: seen(runs),
        };
        let process = ProcId { pid: 7, start: 8 };
        vec![LastPlan {
            kitty: ProcId { pid: 42, start: 9 },
            up: 1_234_567_890_123_456_789,
            windows: vec![
                of(1, Some((process, true)), Runs::Agent(Box::new(agent))),
                of(
                    2,
                    None,
                    Runs::Waiting {
                        record: "{\"v\":1}".into(),
                        is_window_process: true,
                    },
                ),
                LastWindow {
                    window: 3,
                    child: None,
                    agent: None,
                    open: None,
                    seen: Seen {
                        runs: Runs::Other,
                        shell: None,
                        zdotdir: Some("/z".into()),
                        foreground: Some(words(&["less", ""])),
                    },
                },
            ],
        }]
    }

    #[test]
    fn plans_come_back_as_they_were() {
        let document = text("0011aabb", &plans());
        assert!(document.is_ascii());
        // What an agent was called with may hold a secret: it is not written down.
        let mut called = plans();
        called[0].windows[0].seen.foreground = Some(vec!["--api-key".into(), "sk-1".into()]);
        assert_eq!(text("0011aabb", &called), document);
        assert_eq!(read(document.as_bytes(), "0011aabb"), Ok(plans()));
        assert_eq!(read(document.as_bytes(), "ffffffff"), Ok(vec![]));
        for bad in [
            "",
            "{",
            "[1]",
            "{\"v\":1,\"boot\":\"0011aabb\",\"kitties\":[3]}",
        ] {
            assert!(read(bad.as_bytes(), "0011aabb").is_err(), "{bad}");
        }
    }
}
