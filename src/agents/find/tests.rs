//! Stores of agents made by hand, and what is found in them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;
use crate::agents::definitions::Definitions;
use crate::sys::proc;

pub const SID: &str = "0b6f2f4e-1c2d-4e5f-8a9b-0123456789ab";
pub const OTHER: &str = "11111111-2222-4333-8444-555555555555";
/// Made 2025-01-01T00:00:00.000Z.
pub const V7: &str = "01941f29-7c00-7abc-8def-0123456789ab";

/// A home directory with a project directory in it.
pub struct Home {
    top: tempfile::TempDir,
    pub def: Definition,
}

impl Home {
    pub fn of(agent: &str) -> Self {
        Self {
            top: tempfile::tempdir().expect("a temporary directory"),
            def: Definitions::shipped().get(agent).expect("shipped").clone(),
        }
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.top.path().canonicalize().expect("there").join(below)
    }

    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("a parent")).expect("mkdir");
        fs::write(&path, text).expect("write");
        path
    }

    pub fn project(&self) -> String {
        let path = self.path("code/api");
        fs::create_dir_all(&path).expect("mkdir");
        from_os(path.as_os_str())
    }

    pub fn subject<'a>(&'a self, process: ProcId, cwd: Option<&'a str>) -> Subject<'a> {
        Subject {
            def: &self.def,
            process,
            inner: &[],
            cwd,
            env: &[],
            home: self.top.path(),
        }
    }

    fn live(&self) -> Look<Live> {
        live(&self.subject(proc::me(), None))
    }

    pub fn transcript(&self, sid: &str) -> Look<Transcript> {
        transcript(&self.def, &[], self.top.path(), sid, None)
    }

    pub fn conversations(&self, cwd: &str, since_ns: u64) -> Look<Vec<Conversation>> {
        conversations(&self.subject(proc::me(), Some(cwd)), since_ns)
    }
}

pub fn sids(look: Look<Vec<Conversation>>) -> Vec<String> {
    look.found()
        .expect("found")
        .into_iter()
        .map(|c| c.sid)
        .collect()
}

pub fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    let file = File::options().append(true).open(path).expect("open");
    file.set_modified(then).expect("touch");
}

pub fn ns_ago(seconds: u64) -> u64 {
    crate::sys::clock::wall_ns() - seconds * 1_000_000_000
}

/// The name of our own entry in the registry, and an entry with these further members.
fn registry(home: &Home, members: &str) -> PathBuf {
    let me = proc::me();
    let text = format!(
        "{{\"pid\":{},\"sessionId\":\"{SID}\",\"cwd\":\"/p\"{members}}}",
        me.pid
    );
    home.write(&format!(".claude/sessions/{}.json", me.pid), &text)
}

#[test]
fn the_registry_entry_of_this_very_process_is_believed() {
    let start = proc::me().start;
    for members in [
        format!(",\"procStart\":\"{start}\",\"status\":\"idle\",\"kind\":\"interactive\""),
        format!(",\"procStart\":{start},\"status\":\"busy\""),
        // Without a start time the entry's own age decides: it was written after we began.
        ",\"status\":\"waiting\"".to_owned(),
    ] {
        let home = Home::of("claude");
        registry(&home, &members);
        let found = home.live().found().expect("found");
        assert_eq!((found.sid.as_str(), found.resumable), (SID, false));
        assert_eq!(
            (found.cwd.as_deref(), found.source),
            (Some("/p"), "registry")
        );
        home.write(&format!(".claude/projects/-elsewhere/{SID}.jsonl"), "");
        assert!(
            !home.live().found().expect("found").resumable,
            "an empty transcript"
        );
        home.write(&format!(".claude/projects/-elsewhere/{SID}.jsonl"), "{}\n");
        assert!(
            home.live().found().expect("found").resumable,
            "in any project"
        );
    }
}

#[test]
fn entries_of_others_pickers_and_background_runs_are_not() {
    let start = proc::me().start;
    for members in [
        format!(",\"procStart\":\"{}\",\"status\":\"idle\"", start + 1),
        format!(",\"procStart\":{},\"status\":\"idle\"", start - 1),
        format!(",\"procStart\":\"{start}\""),
        format!(",\"procStart\":\"{start}\",\"status\":\"idle\",\"kind\":\"bg\""),
        format!(",\"procStart\":\"{start}\",\"status\":\"idle\",\"pid\":1"),
        format!(",\"procStart\":\"{start}\",\"status\":\"idle\",\"sessionId\":\"../x\""),
        format!(",\"procStart\":\"{start}\",\"status\":\"idle\",\"sessionId\":5"),
    ] {
        let home = Home::of("claude");
        registry(&home, &members);
        assert_eq!(home.live(), Look::Nothing, "{members}");
    }
    let home = Home::of("claude");
    assert_eq!(home.live(), Look::Nothing);
    let path = registry(&home, ",\"status\":\"idle\"");
    age(&path, 10 * 365 * 86400);
    assert_eq!(home.live(), Look::Nothing, "older than the process");
}

#[test]
fn an_entry_that_cannot_be_read_is_not_taken_for_none() {
    let home = Home::of("claude");
    let path = registry(&home, "");
    for text in ["{\"pid\":", "", &"[".repeat(100_000), &"x".repeat(70_000)] {
        fs::write(&path, text).expect("write");
        assert!(matches!(home.live(), Look::Unknown(_)), "{}", text.len());
    }
    fs::remove_file(&path).expect("remove");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).expect("mkfifo");
    assert_eq!(home.live(), Look::Nothing, "a pipe is never opened");
}

#[test]
fn the_agents_own_configuration_directory_is_the_only_one() {
    let home = Home::of("claude");
    home.write(&format!("work/projects/-p/{SID}.jsonl"), "{}\n");
    home.write(&format!(".claude/projects/-p/{OTHER}.jsonl"), "{}\n");
    let work = from_os(home.path("work").as_os_str());
    let env = [("CLAUDE_CONFIG_DIR".to_owned(), work)];
    let top = home.path("");
    let look = |env: &[(String, String)], sid| transcript(&home.def, env, &top, sid, None);
    assert!(matches!(look(&env, SID), Look::Found(_)));
    assert_eq!(look(&env, OTHER), Look::Nothing);
    assert_eq!(look(&[], SID), Look::Nothing);
    let relative = [("CLAUDE_CONFIG_DIR".to_owned(), "work".to_owned())];
    assert!(matches!(look(&relative, OTHER), Look::Unknown(_)));
    let empty = [("CLAUDE_CONFIG_DIR".to_owned(), String::new())];
    assert!(matches!(look(&empty, OTHER), Look::Found(_)));
}

#[test]
fn the_owner_of_a_transcript_is_the_directory_it_lies_under() {
    let home = Home::of("claude");
    let lines = "{\"type\":\"summary\"}\nnot json\n{\"cwd\":\"/p/src\"}\n{\"cwd\":\"/p\"}\n";
    let path = home.write(&format!(".claude/projects/-p/{SID}.jsonl"), lines);
    let owner = |home: &Home| home.transcript(SID).found().expect("found").owner;
    assert_eq!(owner(&home).as_deref(), Some("/p"));
    fs::write(&path, "{\"cwd\":\"/elsewhere\"}\n").expect("write");
    assert_eq!(owner(&home), None);
    fs::write(&path, "").expect("write");
    assert_eq!(home.transcript(SID), Look::Nothing, "empty");
    assert_eq!(home.transcript("../../x"), Look::Nothing);
}

#[test]
fn conversations_of_a_directory_by_both_spellings() {
    let home = Home::of("claude");
    let real = home.project();
    let link = home.path("link");
    std::os::unix::fs::symlink(&real, &link).expect("symlink");
    let link = from_os(link.as_os_str());
    let at = |dir: &str, sid: &str, cwd: &str| {
        let name = paths::project_name(dir);
        home.write(
            &format!(".claude/projects/{name}/{sid}.jsonl"),
            &format!("{{\"cwd\":\"{cwd}\"}}\n"),
        )
    };
    at(&real, SID, &real);
    let older = at(&link, OTHER, &link);
    age(&older, 100);
    at(&real, "agent-12345", &real);
    home.write(
        &format!(".claude/projects/{}/{V7}.jsonl", paths::project_name(&real)),
        "",
    );
    assert_eq!(sids(home.conversations(&link, 0)), [SID, OTHER]);
    assert_eq!(sids(home.conversations(&link, ns_ago(50))), [SID]);
    // From the real path the link is not known; a transcript under it is not looked for.
    assert_eq!(sids(home.conversations(&real, 0)), [SID]);
    // Another directory with the same name: `code/api` and `code-api`.
    let clash = real.replace("code/api", "code-api");
    assert_eq!(sids(home.conversations(&clash, 0)), [] as [String; 0]);
}

#[test]
fn an_agent_without_a_store_that_we_read_is_not_known() {
    let home = Home::of("opencode");
    assert_eq!(home.live(), Look::Nothing);
    assert!(matches!(home.conversations("/p", 0), Look::Unknown(_)));
    assert!(matches!(
        home.transcript("ses_0123456789abABCDEFGHIJKLMN"),
        Look::Unknown(_)
    ));
}

#[test]
fn hostile_stores_do_no_harm() {
    let home = Home::of("claude");
    let cwd = home.project();
    let dir = home.path(&format!(".claude/projects/{}", paths::project_name(&cwd)));
    fs::create_dir_all(&dir).expect("mkdir");
    let file = |name: &str| dir.join(name);
    std::os::unix::fs::symlink(file("b"), file("a")).expect("symlink");
    std::os::unix::fs::symlink(file("a"), file("b")).expect("symlink");
    std::os::unix::fs::symlink(file("a"), file(&format!("{SID}.jsonl"))).expect("symlink");
    let pipe = file(&format!("{OTHER}.jsonl"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("mkfifo");
    fs::create_dir(file(&format!("{V7}.jsonl"))).expect("mkdir");
    std::os::unix::fs::symlink(
        "/dev/zero",
        file("22222222-2222-4333-8444-555555555555.jsonl"),
    )
    .expect("symlink");
    std::os::unix::fs::symlink("..", file("up")).expect("symlink");
    assert_eq!(sids(home.conversations(&cwd, 0)), [] as [String; 0]);
    for sid in [SID, OTHER, V7] {
        assert_eq!(home.transcript(sid), Look::Nothing, "{sid}");
    }
    // A line of any size, without an end.
    let huge = format!("{{\"cwd\":\"{cwd}\",\"x\":\"{}", "y".repeat(1 << 20));
    fs::remove_file(&pipe).expect("remove");
    fs::write(&pipe, huge).expect("write");
    assert_eq!(sids(home.conversations(&cwd, 0)), [OTHER]);
}
