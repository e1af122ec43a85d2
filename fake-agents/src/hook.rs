//! Hooks: a command that is run on each event, as the real agents run theirs.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::record::{json, switch};

/// Runs the hook of an event and waits for it. `more`: members of the payload beside the usual ones,
/// each with a comma before it.
pub fn tell(event: &str, id: &str, cwd: &str, more: &str) {
    let Some(command) = switch("FAKE_AGENT_HOOK") else {
        return;
    };
    let payload = format!(
        "{{\"session_id\":{},\"transcript_path\":\"/t/{id}.jsonl\",\"cwd\":{},\"hook_event_name\":{}{more}}}",
        json(id),
        json(cwd),
        json(event)
    );
    let child = Command::new("/bin/sh")
        .args(["-c", &command])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(payload.as_bytes());
    }
    let _ = child.wait();
}
