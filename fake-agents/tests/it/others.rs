//! The ids of the other agents, through kittymux's own eyes: each stand-in keeps what its agent keeps.

use kittymux::agents::argv::{Selector, argv_id, resume};
use kittymux::agents::definitions::{Definition, Definitions};
use kittymux::agents::find::{
    Conversation, Live, Subject, conversations, live, record_file, transcript,
};
use kittymux::agents::session::processes;
use kittymux::agents::window::{AgentRun, judge};
use kittymux::sys::look::Look;
use kittymux::sys::proc;

use crate::desk::{Desk, Window, until};

struct Scene {
    desk: Desk,
    defs: Definitions,
}

impl Scene {
    fn new() -> Self {
        Self {
            desk: Desk::new(),
            defs: Definitions::shipped(),
        }
    }

    fn run(&self, window: &Window) -> AgentRun {
        let pid = i32::try_from(window.pid()).expect("a pid");
        let judged = judge(&self.defs, pid, None, &processes(pid));
        assert!(judged.others.is_empty(), "{judged:?}");
        judged.agent.expect("an agent")
    }

    fn def(&self, agent: &str) -> &Definition {
        self.defs.get(agent).expect("shipped")
    }

    fn live(&self, run: &AgentRun) -> Look<Live> {
        let home = self.desk.path("home");
        let cwd = run.cwd.as_ref().found().map(String::as_str);
        live(&Subject {
            def: self.def(&run.agent),
            process: run.process,
            inner: &run.inner,
            cwd,
            env: &[],
            home: &home,
        })
    }

    fn found(&self, run: &AgentRun) -> Live {
        self.live(run).found().expect("a live record")
    }

    fn here(&self, run: &AgentRun) -> Vec<Conversation> {
        let home = self.desk.path("home");
        let cwd = run.cwd.as_ref().found().map(String::as_str);
        conversations(
            &Subject {
                def: self.def(&run.agent),
                process: run.process,
                inner: &run.inner,
                cwd,
                env: &[],
                home: &home,
            },
            0,
        )
        .found()
        .expect("looked")
    }

    fn project(&self) -> String {
        self.desk.path("project").display().to_string()
    }
}

/// What a tick sees of a file or directory.
fn stamp(path: &std::path::Path) -> (Option<std::time::SystemTime>, u64) {
    let meta = std::fs::metadata(path).ok();
    (
        meta.as_ref().and_then(|m| m.modified().ok()),
        meta.map_or(0, |m| m.len()),
    )
}

/// A record of the process from the start on, which follows `/clear`.
fn follows(agent: &str, source: &str) {
    let scene = Scene::new();
    let mut window = scene.desk.start(&[&scene.desk.program(agent)]);
    let (first, _) = window.conversation();
    let run = scene.run(&window);
    let found = scene.found(&run);
    assert_eq!(
        (found.sid.as_str(), found.source),
        (&*first, source),
        "{agent}"
    );
    let has_store = !matches!(
        transcript(
            scene.def(agent),
            &[],
            &scene.desk.path("home"),
            &first,
            None
        ),
        Look::Unknown(_)
    );
    assert_eq!(found.resumable, !has_store, "{agent}: nothing was said yet");
    let watched = record_file(scene.def(agent), &[], &scene.desk.path("home"), run.process);
    let before = watched.as_deref().map(stamp);
    window.send("hello\r");
    window.wait("heard hello");
    assert!(scene.found(&run).resumable, "{agent}");
    window.send("/clear\r");
    let (second, _) = window.conversation();
    assert_ne!(first, second);
    assert_eq!(scene.found(&run).sid, second, "{agent}");
    assert_eq!(watched.is_some(), source != "held file", "{agent}");
    if let (Some(path), Some(before)) = (&watched, before) {
        assert_ne!(stamp(path), before, "{agent}: a tick sees it");
    }
    window.send("/exit\r");
    window.end();
    // The process is gone: what it left is nobody's.
    assert_eq!(scene.live(&run), Look::Nothing, "{agent}");
}

#[test]
fn qwens_entry_follows() {
    follows("qwen", "registry");
}

#[test]
fn omps_terminal_mark_follows() {
    follows("omp", "terminal mark");
}

/// While a picker is on the screen the mark of the terminal is that of the one before.
#[test]
fn a_mark_of_an_earlier_omp_on_this_terminal_is_not_believed() {
    let scene = Scene::new();
    let mut window = scene.desk.start(&[&scene.desk.program("omp")]);
    window.conversation();
    let run = scene.run(&window);
    let home = scene.desk.path("home");
    let mark = record_file(scene.def("omp"), &[], &home, run.process).expect("a mark");
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options().append(true).open(mark);
    file.and_then(|f| f.set_modified(then)).expect("older");
    assert_eq!(scene.live(&run), Look::Nothing);
}

#[test]
fn devins_helper_holds_a_lock() {
    follows("devin", "held file");
}

#[test]
fn vibes_helper_holds_a_lock() {
    follows("vibe", "held file");
}

#[test]
fn qodercli_holds_a_log() {
    follows("qodercli", "held file");
}

#[test]
fn qwen_behind_node_is_known_by_its_innermost_process() {
    let scene = Scene::new();
    scene.desk.switch("FAKE_AGENT_SHAPE", "wrapper");
    let (node, qwen) = (scene.desk.program("node"), scene.desk.program("qwen"));
    let mut window = scene.desk.start(&[&node, "--expose-gc", &qwen, "-y"]);
    let (id, _) = window.conversation();
    let run = scene.run(&window);
    assert_eq!(
        (run.words.join(" ").as_str(), run.inner.len()),
        ("qwen -y", 1)
    );
    assert_eq!(scene.found(&run).sid, id);
}

#[test]
fn copilot_marks_only_what_was_said_in() {
    let scene = Scene::new();
    let copilot = scene.desk.program("copilot");
    let mut window = scene.desk.start(&[&copilot]);
    let (id, _) = window.conversation();
    let run = scene.run(&window);
    assert_eq!(
        scene.live(&run),
        Look::Nothing,
        "no mark before the first message"
    );
    window.send("hello\r");
    window.wait("heard hello");
    let found = scene.found(&run);
    assert_eq!((found.sid.as_str(), found.resumable), (&*id, true));
    assert_eq!(found.cwd, Some(scene.project()));
    assert_eq!(scene.here(&run)[0].sid, id);
    // Resumed elsewhere: no mark, but the command line says it.
    let mut again = scene.desk.start(&[&copilot, &format!("--resume={id}")]);
    assert_eq!(again.conversation(), (id.clone(), "resumed".to_owned()));
    let run = scene.run(&again);
    assert_eq!(scene.live(&run), Look::Nothing);
    assert_eq!(argv_id(scene.def("copilot"), &run.words), Some(id));
}

#[test]
fn droids_own_child_is_no_second_agent() {
    let scene = Scene::new();
    let droid = scene.desk.program("droid");
    let mut window = scene.desk.start(&[&droid, "--use-spec"]);
    let (id, _) = window.conversation();
    let run = scene.run(&window);
    assert!(run.inner.is_empty() && run.words[1..] == ["--use-spec"]);
    assert_eq!(
        proc::children(run.process.pid).len(),
        1,
        "the helper is there"
    );
    assert_eq!(scene.live(&run), Look::Nothing);
    window.send("hello\r");
    window.wait("heard hello");
    let here = scene.here(&run);
    assert_eq!((here.len(), here[0].sid.as_str()), (1, &*id));
    assert_eq!(here[0].cwd, scene.project());
}

#[test]
fn pis_options_are_gone_and_its_conversation_is_found() {
    let scene = Scene::new();
    let pi = scene.desk.program("pi");
    let mut window = scene.desk.start(&[&pi, "--model=x", "--no-mcp"]);
    let (id, _) = window.conversation();
    let run = scene.run(&window);
    assert_eq!(run.words, ["pi"]);
    assert!(run.options_are_gone());
    assert!(
        scene.here(&run).is_empty(),
        "its file comes with the first answer"
    );
    window.send("hello\r");
    window.wait("heard hello");
    let here = scene.here(&run);
    assert_eq!((here.len(), here[0].sid.as_str()), (1, &*id));
    // What would be started again has no option that was never seen.
    let again = resume(scene.def("pi"), &run.words, Selector::Exact(&id)).expect("a command");
    assert_eq!(again.words, ["pi", "--session", &id]);
    let mut again = scene.desk.start(&[&pi, "--session", &id]);
    assert_eq!(again.conversation(), (id, "resumed".to_owned()));
}

#[test]
fn geminis_chat_is_found_by_its_project() {
    let scene = Scene::new();
    let (node, gemini) = (scene.desk.program("node"), scene.desk.program("gemini"));
    let mut window = scene
        .desk
        .start(&[&node, "--max-old-space-size=99", &gemini]);
    let (id, _) = window.conversation();
    let run = scene.run(&window);
    assert_eq!(run.words, ["gemini"]);
    assert!(
        scene.here(&run).is_empty(),
        "there is a file, and nothing in it"
    );
    window.send("hello\r");
    window.wait("heard hello");
    let here = scene.here(&run);
    assert_eq!((here.len(), here[0].sid.as_str()), (1, &*id));
    let home = scene.desk.path("home");
    let kept = transcript(scene.def("gemini"), &[], &home, &id, None);
    assert_eq!(kept.found().expect("there").owner, Some(scene.project()));
}

/// Every stand-in: its conversation is resumed by the command that kittymux makes.
#[test]
fn what_is_resumed_is_the_same_conversation() {
    let scene = Scene::new();
    for def in scene.defs.iter() {
        if def.exact.is_empty() || ["claude", "codex", "opencode"].contains(&def.name.as_str()) {
            continue;
        }
        let program = scene.desk.program(&def.names[0]);
        let mut words = vec![program];
        words.extend(def.under.iter().cloned());
        let shown: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut window = scene.desk.start(&shown);
        let (id, _) = window.conversation();
        assert_eq!(def.id.accept(&id).as_deref(), Some(&*id), "{}", def.name);
        window.send("hello\r");
        window.wait("heard hello");
        window.send("/exit\r");
        window.end();
        let again = resume(def, &words, Selector::Exact(&id)).expect("a command");
        let shown: Vec<&str> = again.words.iter().map(String::as_str).collect();
        let mut window = scene.desk.start(&shown);
        assert_eq!(
            window.conversation(),
            (id.clone(), "resumed".to_owned()),
            "{}",
            def.name
        );
        let pid = i32::try_from(window.pid()).expect("a pid");
        until("judged", || {
            judge(&scene.defs, pid, None, &processes(pid))
                .agent
                .is_some()
        });
        let run = scene.run(&window);
        assert_eq!(run.agent, def.name);
        let lost = run.options_are_gone();
        let named = argv_id(def, &run.words);
        assert_eq!(
            named.as_deref(),
            Some(&*id).filter(|_| !lost),
            "{}",
            def.name
        );
    }
}
