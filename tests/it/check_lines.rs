//! `sessions check` over all agents that there are.

use std::process::{Output, Stdio};

use crate::rig::Rig;
use kittymux::sys::json::{self, JsonValue};

/// Where the programs are.
const PLACE: &str = "a/place/with/quite/a/long/name/for/a/directory/bin";

fn run(rig: &Rig, words: &[&str]) -> Output {
    let mut command = rig.command(&rig.dir("tools").join("kittymux"));
    let path = format!("{}:/usr/bin:/bin", rig.home().join(PLACE).display());
    command.env("PATH", path).args(["sessions", "check"]);
    command.args(words).stdin(Stdio::null());
    command.output().expect("kittymux runs")
}

/// Every stand-in on PATH, under every name: all fit, and each is one line that a terminal shows.
#[test]
fn every_agent_is_one_line_of_eighty_columns() {
    let rig = Rig::new("/bin/bash", true);
    let defs = kittymux::agents::definitions::Definitions::shipped();
    let program = rig.home().join("bin/claude").canonicalize();
    let program = program.expect("the stand-in");
    let dir = rig.dir(PLACE);
    for def in defs.iter() {
        std::os::unix::fs::symlink(&program, dir.join(&def.names[0])).expect("linked");
    }
    let output = run(&rig, &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), defs.iter().count());
    for (line, def) in lines.iter().zip(defs.iter()) {
        assert!(line.starts_with(&format!("{} ", def.name)), "{line}");
        assert!(kittymux::sys::out::width(line) <= 80, "{line}");
        assert!(line.contains(&format!("/bin/{}  ", def.names[0])), "{line}");
        let can = match (def.exact.is_empty(), def.latest.is_empty()) {
            (false, false) => "  ok  exact, latest; id from ",
            (false, true) => "  ok  exact; id from ",
            _ => "  ok  latest",
        };
        assert!(line.contains(can), "{line}");
    }
    let output = run(&rig, &["--json"]);
    let JsonValue::Object(map) = json::parse(&output.stdout, 1 << 20).expect("JSON") else {
        panic!("no object");
    };
    let Some(JsonValue::Array(agents)) = map.get("agents") else {
        panic!("no agents");
    };
    for (agent, def) in agents.iter().zip(defs.iter()) {
        assert_eq!(json::text_at(agent, "agent"), Some(def.name.as_str()));
        assert_eq!(json::text_at(agent, "verdict"), Some("ok"));
        assert_eq!(json::text_at(agent, "seen_version"), def.version.as_deref());
    }
}
