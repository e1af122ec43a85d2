//! What a hook costs the agent that runs it, with a full journal beside it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kittymux::sys::clock;

use super::child::{self, Run};
use super::desk::Programs;
use super::report::{Row, left_out, median, row};

/// How often.
const TIMES: usize = 300;

/// The records of a full journal.
const RECORDS: usize = 300;

const WHAT: &str = "hook, a journal of 300 records: own CPU";

/// Measures a hook below a program with an agent's name: its time is what that program takes more
/// than it does for an empty one, and what the empty one takes.
///
/// # Errors
/// When something does not start, or the hook wrote nothing.
pub fn measure(programs: &Programs, empty: Option<&Path>) -> io::Result<Row> {
    let Some(empty) = empty else {
        return Ok(left_out(WHAT, "musl-gcc is not installed here"));
    };
    let top = std::env::temp_dir().join(format!("kmxb-{:x}-hook", clock::wall_ns()));
    let done = measure_in(&top, programs, empty);
    fs::remove_dir_all(&top)?;
    done
}

fn measure_in(top: &Path, programs: &Programs, empty: &Path) -> io::Result<Row> {
    let home = top.join("home");
    let state = home.join(".local/state/kittymux");
    fs::create_dir_all(&state)?;
    let records: Vec<String> = (0..RECORDS).map(journal_record).collect();
    let journal = format!("{{\"v\":1,\"sessions\":[\n{}\n]}}\n", records.join(",\n"));
    fs::write(state.join("agent-sessions.json"), journal)?;
    let agent = top.join("claude");
    fs::copy("/bin/sh", &agent)?;
    let payload = top.join("payload");
    fs::write(
        &payload,
        r#"{"session_id":"0b1c2d3e-1111-4222-8333-444455556666","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":"hello"}"#,
    )?;
    let script = top.join("script");
    fs::write(&script, "\"$P\" hook claude <\"$PAYLOAD\"\n:\n")?;
    let below = |program: &Path| {
        let mut command = Command::new(&agent);
        command
            .arg(&script)
            .env_clear()
            .env("HOME", &home)
            .env("P", program)
            .env("PAYLOAD", &payload);
        command
    };
    let mut alone = Command::new(empty);
    let (mut with, mut without, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        with.push(cpu(child::run_on_terminal(below(&programs.kittymux))?)?);
        without.push(cpu(child::run_on_terminal(below(empty))?)?);
        bare.push(cpu(child::run(&mut alone)?)?);
    }
    let written = fs::read_dir(state.join("hooks")).map_or(0, Iterator::count);
    if written < TIMES {
        return Err(io::Error::other(format!(
            "{written} of {TIMES} hooks wrote what they were told"
        )));
    }
    let figure = median(&with) - median(&without) + median(&bare);
    Ok(row(WHAT, figure, Some(1.0), "ms"))
}

fn cpu(run: Run) -> io::Result<Duration> {
    if run.ok {
        Ok(run.cpu)
    } else {
        Err(io::Error::other("a measured program failed"))
    }
}

/// One record as the journal has it.
fn journal_record(n: usize) -> String {
    let at = clock::rfc3339(clock::wall_ns());
    let dir = format!("/home/user/code/project-{n}");
    format!(
        "{{\"agent\":\"claude\",\"sid\":\"df05dad0-4a0c-482c-8fd8-{n:012}\",\"cwd\":\"{dir}\",\"tab\":\"work\",\
         \"argv\":[\"claude\",\"--model\",\"opus\"],\"env\":[],\"exe\":\"/usr/bin/claude\",\"first\":\"{at}\",\
         \"last\":\"{at}\",\"state\":\"done\",\"waiting_for\":\"\",\"runs\":3,\"work_ms\":90000,\"open\":false,\
         \"kitty\":{{\"pid\":2,\"start\":3,\"boot\":\"00000000\",\"host\":\"00000000\"}},\"window\":{n},\
         \"process\":{{\"pid\":0,\"start\":0}},\"counted\":[]}}"
    )
}
