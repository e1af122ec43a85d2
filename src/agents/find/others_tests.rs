//! Stores of the agents beside claude and codex, made by hand.

use std::fs::{self, File};
use std::io::Write;

use super::tests::{Home, OTHER, SID, age, ns_ago, sids};
use super::*;

/// Our own process began before everything that a test writes.
fn me() -> ProcId {
    proc::me()
}

fn live_in(home: &Home, cwd: Option<&str>) -> Look<Live> {
    live(&home.subject(me(), cwd))
}

/// Writes a chat or transcript below the project's directory and returns its path.
fn transcript_at(home: &Home, below: &str, cwd: &str) -> PathBuf {
    home.write(
        below,
        &format!("{{\"type\":\"x\"}}\n{{\"cwd\":\"{cwd}\"}}\n"),
    )
}

#[test]
fn transcripts_of_every_agent_that_has_a_directory_per_project() {
    for (agent, path) in [
        ("droid", ".factory/sessions/{dashed}/{id}.jsonl"),
        ("qwen", ".qwen/projects/{letters}/chats/{id}.jsonl"),
        ("qodercli", ".qoder/projects/{dashed}/{id}.jsonl"),
        ("codebuddy", ".codebuddy/projects/{short}/{id}.jsonl"),
        (
            "pi",
            ".pi/agent/sessions/--{bare}--/2026-11-30T08-00-00_{id}.jsonl",
        ),
        (
            "omp",
            ".omp/agent/sessions/-code-api/2026-11-30T08-00-00_{id}.jsonl",
        ),
    ] {
        let home = Home::of(agent);
        let cwd = home.project();
        let dashed = cwd.replace('/', "-");
        let at = |sid: &str| {
            path.replace("{dashed}", &dashed)
                .replace("{letters}", &paths::project_name(&cwd))
                .replace("{bare}", &dashed[1..])
                .replace("{short}", &dashed[1..])
                .replace("{id}", sid)
        };
        assert_eq!(
            sids_of(&home, &cwd, 0),
            [] as [&str; 0],
            "{agent}: nothing there"
        );
        assert_eq!(home.transcript(SID), Look::Nothing, "{agent}");
        transcript_at(&home, &at(SID), &cwd);
        let older = transcript_at(&home, &at(OTHER), &cwd);
        age(&older, 100);
        assert_eq!(sids_of(&home, &cwd, 0), [SID, OTHER], "{agent}");
        assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [SID], "{agent}");
        assert_eq!(sids_of(&home, "/elsewhere", 0), [] as [&str; 0], "{agent}");
        let owner = home.transcript(SID).found().expect("found").owner;
        assert_eq!(owner.as_deref(), Some(cwd.as_str()), "{agent}");
        // Another directory with the same name in the store.
        transcript_at(&home, &at(SID), "/quite/another");
        assert_eq!(sids_of(&home, &cwd, 0), [OTHER], "{agent}");
        fs::write(home.path(&at(SID)), "").expect("write");
        assert_eq!(home.transcript(SID), Look::Nothing, "{agent}: empty");
    }
}

/// The ids, or none where the directory cannot be told.
fn sids_of(home: &Home, cwd: &str, since: u64) -> Vec<String> {
    match home.conversations(cwd, since) {
        Look::Found(list) => sids(Look::Found(list)),
        _ => Vec::new(),
    }
}

#[test]
fn omp_finds_a_project_of_home_by_a_link_from_outside() {
    let home = Home::of("omp");
    let nothing = home.conversations("/srv/x", 0);
    assert_eq!(nothing, Look::Found(Vec::new()));
    let cwd = home.project();
    home.write(
        &format!(".omp/agent/sessions/-code-api/2026-11-30T08-00-00_{SID}.jsonl"),
        "{\"type\":\"title\"}\n",
    );
    let outside = tempfile::tempdir().expect("a directory");
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(&cwd, &link).expect("symlink");
    assert_eq!(sids_of(&home, &from_os(link.as_os_str()), 0), [SID]);
}

#[test]
fn a_variable_that_moves_pis_sessions_ends_the_look() {
    let home = Home::of("pi");
    let cwd = home.project();
    let env = [(
        "PI_CODING_AGENT_SESSION_DIR".to_owned(),
        "/elsewhere".to_owned(),
    )];
    let subject = Subject {
        env: &env,
        ..home.subject(me(), Some(&cwd))
    };
    assert!(matches!(conversations(&subject, 0), Look::Unknown(_)));
    let look = transcript(&home.def, &env, &home.path(""), SID, None);
    assert!(matches!(look, Look::Unknown(_)));
    let moved = [("PI_CODING_AGENT_DIR".to_owned(), "/work-pi".to_owned())];
    assert_eq!(
        config_dir(&home.def, &moved, &home.path("")),
        Some(PathBuf::from("/work-pi"))
    );
    assert_eq!(
        config_dir(&home.def, &env, &home.path("")),
        Some(home.path(".pi/agent"))
    );
}

#[test]
fn vibes_conversations_name_their_directory() {
    let home = Home::of("vibe");
    let cwd = home.project();
    let meta = |sid: &str, dir: &str| {
        home.write(
            &format!(".vibe/logs/session/unified/{sid}/meta.json"),
            &format!(
                "{{\"session_id\":\"{sid}\",\"environment\":{{\"working_directory\":\"{dir}\"}}}}"
            ),
        )
    };
    age(&meta(SID, &cwd), 100);
    meta(OTHER, "/p");
    assert_eq!(sids_of(&home, &cwd, 0), [SID]);
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [] as [&str; 0]);
    // A journal beside it that was just written: it goes on.
    home.write(&format!(".vibe/logs/session/unified/{SID}/journal/1"), "x");
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [SID]);
    let owner = home.transcript(SID).found().expect("found").owner;
    assert_eq!(owner.as_deref(), Some(&*cwd));
    assert_eq!(home.transcript("../../etc"), Look::Nothing);
}

fn gemini(home: &Home, slug: &str, cwd: &str) {
    home.write(
        ".gemini/projects.json",
        &format!("{{\"projects\":{{\"{cwd}\":\"{slug}\",\"/x\":\"../../up\"}}}}"),
    );
    home.write(&format!(".gemini/tmp/{slug}/.project_root"), cwd);
}

#[test]
fn geminis_chats_are_found_by_the_list_of_projects() {
    let home = Home::of("gemini");
    let cwd = home.project();
    assert_eq!(home.conversations(&cwd, 0), Look::Nothing);
    gemini(&home, "api", &cwd);
    let chat = |time: &str, sid: &str| {
        home.write(
            &format!(".gemini/tmp/api/chats/session-{time}-{}.jsonl", &sid[..8]),
            &format!("{{\"sessionId\":\"{sid}\",\"projectHash\":\"00\"}}\n{{\"type\":\"user\"}}\n"),
        )
    };
    let old = chat("2026-11-30T08-00", SID);
    chat("2026-11-30T09-00", OTHER);
    age(&old, 100);
    assert_eq!(sids_of(&home, &cwd, 0), [OTHER, SID]);
    // Resumed: a second file of the same conversation. It is one, and touched now.
    chat("2026-11-30T10-00", SID);
    let found = home.conversations(&cwd, ns_ago(50)).found().expect("found");
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|c| c.cwd == cwd));
    let owner = home.transcript(SID).found().expect("found").owner;
    assert_eq!(owner.as_deref(), Some(&*cwd));
    // Begun, and nothing said yet; and one whose message came with a set of others.
    let third = "33333333-2222-4333-8444-555555555555";
    let name = ".gemini/tmp/api/chats/session-2026-11-30T12-00-33333333.jsonl";
    let head = format!("{{\"sessionId\":\"{third}\",\"projectHash\":\"00\"}}\n");
    home.write(name, &head);
    assert_eq!(home.transcript(third), Look::Nothing);
    assert_eq!(home.conversations(&cwd, 0).found().expect("found").len(), 2);
    let set = "{\"$set\":{\"messages\":[{\"type\":\"info\"},{\"type\":\"gemini\"}]}}\n";
    let path = home.write(name, &format!("{head}{set}"));
    assert!(matches!(home.transcript(third), Look::Found(_)));
    fs::remove_file(path).expect("remove");
    // A chat that says another id than its name is none.
    home.write(
        ".gemini/tmp/api/chats/session-2026-11-30T11-00-22222222.jsonl",
        &format!("{{\"sessionId\":\"{SID}\"}}\n"),
    );
    assert_eq!(home.conversations(&cwd, 0).found().expect("found").len(), 2);
    // The short name was given to another directory.
    home.write(".gemini/tmp/api/.project_root", "/another");
    assert_eq!(sids_of(&home, &cwd, 0), [] as [&str; 0]);
    home.write(".gemini/projects.json", "{\"projects\":");
    assert!(matches!(home.conversations(&cwd, 0), Look::Unknown(_)));
}

#[test]
fn cursors_chats_lie_under_the_sum_of_the_directory() {
    let home = Home::of("cursor-agent");
    let cwd = home.project();
    assert_eq!(sids_of(&home, &cwd, 0), [] as [&str; 0]);
    let sum = md5::md5_hex(cwd.as_bytes());
    let store = home.write(&format!(".config/cursor/chats/{sum}/{SID}/store.db"), "x");
    home.write(
        &format!(".config/cursor/chats/{sum}/not-an-id/store.db"),
        "x",
    );
    age(&store, 100);
    assert_eq!(sids_of(&home, &cwd, 0), [SID]);
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [] as [&str; 0]);
    home.write(
        &format!(".config/cursor/chats/{sum}/{SID}/store.db-wal"),
        "x",
    );
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [SID]);
    assert_eq!(sids_of(&home, "/p", 0), [] as [&str; 0]);
    assert!(matches!(home.transcript(SID), Look::Found(_)));
    assert_eq!(home.transcript(OTHER), Look::Nothing);
    // By both spellings of a directory.
    let link = home.path("link");
    std::os::unix::fs::symlink(&cwd, &link).expect("symlink");
    assert_eq!(sids_of(&home, &from_os(link.as_os_str()), 0), [SID]);
}

#[test]
fn agys_list_names_the_last_one_of_a_directory() {
    let home = Home::of("agy");
    let cwd = home.project();
    assert!(
        matches!(home.conversations(&cwd, 0), Look::Unknown(_)),
        "no list"
    );
    let list = |id: &str| {
        home.write(
            ".gemini/antigravity-cli/cache/last_conversations.json",
            &format!("{{\"{cwd}\":\"{id}\",\"/p\":5}}"),
        )
    };
    list("not an id");
    assert_eq!(sids_of(&home, &cwd, 0), [] as [&str; 0]);
    list(SID);
    assert_eq!(sids_of(&home, &cwd, 0), [] as [&str; 0], "no database");
    let db = home.write(
        &format!(".gemini/antigravity-cli/conversations/{SID}.db"),
        "x",
    );
    age(&db, 100);
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [] as [&str; 0], "older");
    home.write(
        &format!(".gemini/antigravity-cli/conversations/{SID}.db-wal"),
        "x",
    );
    assert_eq!(sids_of(&home, &cwd, ns_ago(50)), [SID]);
    assert_eq!(sids_of(&home, "/nowhere", 0), [] as [&str; 0]);
    let owner = home.transcript(SID).found().expect("found").owner;
    assert_eq!(owner.as_deref(), Some(&*cwd));
}

#[test]
fn databases_are_not_looked_into() {
    for agent in [
        "opencode", "hermes", "kilo", "cline", "amp", "auggie", "aider",
    ] {
        let home = Home::of(agent);
        assert_eq!(live_in(&home, Some("/p")), Look::Nothing, "{agent}");
        assert!(
            matches!(home.conversations("/p", 0), Look::Unknown(_)),
            "{agent}"
        );
    }
}

#[test]
fn hostile_stores_of_the_others_do_no_harm() {
    let home = Home::of("qwen");
    let cwd = home.project();
    let dir = home.path(&format!(
        ".qwen/projects/{}/chats",
        paths::project_name(&cwd)
    ));
    fs::create_dir_all(&dir).expect("mkdir");
    let pipe = dir.join(format!("{SID}.runtime.json"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("mkfifo");
    std::os::unix::fs::symlink("/dev/zero", dir.join(format!("{SID}.jsonl"))).expect("symlink");
    assert_eq!(live_in(&home, Some(&cwd)), Look::Nothing);
    assert_eq!(sids_of(&home, &cwd, 0), [] as [&str; 0]);
    let gemini = Home::of("gemini");
    let huge = gemini.write(".gemini/projects.json", "");
    let mut file = File::options().append(true).open(&huge).expect("open");
    file.write_all(&vec![b'['; 5 << 20]).expect("write");
    assert!(matches!(gemini.conversations("/p", 0), Look::Unknown(_)));
    let copilot = Home::of("copilot");
    let yaml = copilot.write(&format!(".copilot/session-state/{SID}/events.jsonl"), "x");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        yaml.with_file_name("workspace.yaml"),
        rustix::fs::Mode::RUSR,
    )
    .expect("mkfifo");
    assert_eq!(sids_of(&copilot, "/p", 0), [] as [&str; 0]);
}
