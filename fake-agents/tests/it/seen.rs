//! kittymux looks at the stand-ins: the shapes through its own eyes.

use std::path::Path;

use kittymux::agents::definitions::{Definition, Definitions};
use kittymux::agents::find::{Live, Subject, conversations, live, transcript};
use kittymux::agents::session::processes;
use kittymux::agents::window::{AgentRun, State, judge};
use kittymux::sys::look::Look;

use crate::desk::{Desk, Window, until};

fn agent_of(window: &Window) -> Option<AgentRun> {
    let pid = i32::try_from(window.pid()).expect("a pid");
    judge(&Definitions::shipped(), pid, None, &processes(pid)).agent
}

fn subject<'a>(def: &'a Definition, run: &'a AgentRun, home: &'a Path) -> Subject<'a> {
    Subject {
        def,
        process: run.process,
        inner: &run.inner,
        cwd: match &run.cwd {
            Look::Found(cwd) => Some(cwd),
            _ => None,
        },
        env: &[],
        home,
    }
}

fn live_of(desk: &Desk, run: &AgentRun) -> Look<Live> {
    let all = Definitions::shipped();
    let def = all.get(&run.agent).expect("shipped");
    live(&subject(def, run, &desk.path("home")))
}

#[test]
fn every_shape_is_the_same_agent_with_the_same_words() {
    let desk = Desk::new();
    let (claude, node) = (desk.program("claude"), desk.program("node"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/claude");
    let shapes: [&[&str]; 5] = [
        &[&claude, "--model", "opus"],
        &[&node, "--expose-gc", &claude, "--model", "opus"],
        &[script, "--model", "opus"],
        &[
            "bash",
            "--norc",
            "-c",
            &format!("{claude} --model opus; true"),
        ],
        &["env", "A=b", &claude, "--model", "opus"],
    ];
    for shape in shapes {
        let mut window = desk.start(shape);
        window.conversation();
        let run = agent_of(&window).expect("an agent");
        assert_eq!(
            (run.agent.as_str(), run.state),
            ("claude", State::Foreground)
        );
        assert_eq!(run.words[1..], ["--model", "opus"], "{shape:?}");
        assert_eq!(
            run.cwd,
            Look::Found(desk.path("project").display().to_string())
        );
        assert_eq!(run.is_window_process, !shape.contains(&"-c"), "{shape:?}");
    }
}

#[test]
fn a_stopped_agent_is_found_and_its_shell_known() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&["bash", "--norc", "--noprofile", "-i"]);
    window.send(&format!("{claude} --verbose\r"));
    let (id, _) = window.conversation();
    assert_eq!(
        agent_of(&window).expect("an agent").state,
        State::Foreground
    );
    window.send("\x1a");
    until("stopped", || {
        agent_of(&window).is_some_and(|r| r.state == State::Stopped)
    });
    let run = agent_of(&window).expect("an agent");
    assert!(!run.is_window_process && run.inside.is_none());
    assert!(run.shell_above.is_some_and(|s| s.ends_with("/bash")));
    let run = agent_of(&window).expect("an agent");
    assert_eq!(live_of(&desk, &run).found().expect("live").sid, id);
    window.send("bash --norc --noprofile\r");
    window.send(&format!("{claude} --bare\r"));
    window.conversation();
    let run = agent_of(&window).expect("an agent");
    assert_eq!(run.words[1], "--bare");
    assert_eq!(run.inside.as_deref(), Some("bash"));
}

#[test]
fn claude_is_followed_through_its_registry() {
    let desk = Desk::new();
    let mut window = desk.start(&[&desk.program("claude")]);
    let (first, _) = window.conversation();
    let run = agent_of(&window).expect("an agent");
    let found = live_of(&desk, &run).found().expect("live");
    assert_eq!(
        (found.sid.as_str(), found.resumable),
        (first.as_str(), false)
    );
    window.send("hello\r");
    window.wait("heard hello");
    assert!(live_of(&desk, &run).found().expect("live").resumable);
    window.send("/clear\r");
    let (second, _) = window.conversation();
    assert_eq!(live_of(&desk, &run).found().expect("live").sid, second);
    let all = Definitions::shipped();
    let (def, home) = (all.get("claude").expect("shipped"), desk.path("home"));
    let here = conversations(&subject(def, &run, &home), 0)
        .found()
        .expect("looked");
    assert_eq!(here.len(), 1);
    assert_eq!(here[0].sid, first);
    let there = transcript(def, &[], &home, &first, None)
        .found()
        .expect("there");
    assert_eq!(
        there.owner,
        Some(desk.path("project").display().to_string())
    );
    assert_eq!(transcript(def, &[], &home, &second, None), Look::Nothing);
    // A picker has an entry, but nothing that could be resumed.
    let picker = desk.start(&[&desk.program("claude"), "--resume"]);
    let mut picker = picker;
    picker.conversation();
    let run = agent_of(&picker).expect("an agent");
    assert_eq!(live_of(&desk, &run), Look::Nothing);
}

#[test]
fn codex_is_known_by_what_it_holds_also_behind_its_wrapper() {
    let desk = Desk::new();
    let (node, codex) = (desk.program("node"), desk.program("codex"));
    desk.switch("FAKE_AGENT_SHAPE", "wrapper");
    let mut window = desk.start(&[&node, &codex, "--no-daemon"]);
    let (id, _) = window.conversation();
    let run = agent_of(&window).expect("an agent");
    assert_eq!(run.words, ["codex", "--no-daemon"]);
    assert_eq!(run.inner.len(), 1);
    let found = live_of(&desk, &run).found().expect("live");
    assert_eq!((found.sid.as_str(), found.resumable), (id.as_str(), false));
    window.send("hello\r");
    window.wait("heard hello");
    let found = live_of(&desk, &run).found().expect("live");
    assert_eq!((found.sid.as_str(), found.resumable), (id.as_str(), true));
    // With a daemon the process holds nothing; the directory has both, each with its moment.
    let mut other = desk.start(&[&node, &codex]);
    let (second, _) = other.conversation();
    other.send("hello\r");
    other.wait("heard hello");
    let run = agent_of(&other).expect("an agent");
    assert_eq!(live_of(&desk, &run), Look::Nothing);
    let all = Definitions::shipped();
    let home = desk.path("home");
    let here = conversations(&subject(all.get("codex").expect("shipped"), &run, &home), 0);
    let here = here.found().expect("looked");
    assert_eq!(here.len(), 2);
    let began = kittymux::sys::proc::started_wall_ns(run.process).expect("a moment");
    let own = here.iter().find(|c| c.sid == second).expect("its own");
    let made = own.made_ns.expect("a moment");
    assert!(made + 100_000_000 > began && made < began + 10_000_000_000);
}

#[test]
fn helpers_and_titles() {
    let desk = Desk::new();
    let claude = desk.program("claude");
    let mut window = desk.start(&[&claude, "mcp", "serve"]);
    window.wait("serving");
    assert_eq!(agent_of(&window), None);
    desk.switch("FAKE_AGENT_TITLE", "1");
    let mut window = desk.start(&[&claude, "--model", "opus"]);
    let (id, _) = window.conversation();
    let run = agent_of(&window).expect("an agent");
    assert_eq!(run.words, ["claude"], "what it was given is gone");
    assert_eq!(live_of(&desk, &run).found().expect("live").sid, id);
}
