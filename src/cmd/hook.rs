//! `hook AGENT`: what an agent's hook runs, with its payload on standard input.
//!
//! It stands in the agent's way, so it appends one line and ends: it prints nothing, waits for
//! nobody, and whatever goes wrong is no fault of the agent's.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::exit::Exit;
use super::setting;
use super::table::Args;
use crate::agents::argv::fresh;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::hooks::{Event, Told};
use crate::agents::window::run_above;
use crate::keep::hook_records;
use crate::keep::state::State;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json;
use crate::sys::out;
use crate::sys::proc::{self, Process};
use crate::sys::tty::wait_readable;

/// The largest payload.
const LIMIT: usize = 1 << 20;

/// How long a payload is waited for.
const WAIT: Duration = Duration::from_secs(1);

/// Writes down one event of an agent.
///
/// # Errors
/// Never; only a name that is no agent's is said.
pub fn run(args: &Args) -> Outcome<Exit> {
    let Some(name) = args.words.first() else {
        out::message("it needs the name of an agent: kittymux hook claude");
        return Ok(Exit::UsedWrongly);
    };
    let (defs, _) = setting::quiet_definitions();
    let Some(def) = defs.get(name) else {
        out::message(&format!(
            "there is no agent \"{}\": kittymux sessions check lists them",
            out::clip(&out::visible(name), 40)
        ));
        return Ok(Exit::UsedWrongly);
    };
    let _ = note(&defs, def);
    Ok(Exit::Done)
}

/// What stands in the way is nobody's business here.
fn note(defs: &Definitions, def: &Definition) -> Option<()> {
    let hooks = def.hooks.as_ref()?;
    let payload = payload(WAIT)?;
    let told = hooks.read(&json::parse(&payload, LIMIT).ok()?, &def.id)?;
    let above: Vec<Process> = proc::ancestors(proc::me().pid)
        .iter()
        .filter_map(|s| proc::look(s.id.pid).filter(|p| p.stat.id == s.id))
        .collect();
    let (process, call) = run_above(defs, &def.name, &above)?;
    append(def, &told, process, &call.words).ok()
}

fn append(def: &Definition, told: &Told, process: &Process, words: &[String]) -> Outcome<()> {
    let argv = match told.event {
        Event::Start => fresh(def, words)
            .map_err(Fault::refused)
            .map(|rewritten| rewritten.words)
            .unwrap_or_default(),
        _ => Vec::new(),
    };
    let (id, tty) = (process.stat.id, process.stat.tty);
    hook_records::append(&State::open()?, &def.name, id, tty, told, &argv)
}

/// Reads standard input until it ends, the document on it is whole, or `wait` is over; `None` when
/// there is nothing that can be used.
fn payload(wait: Duration) -> Option<Vec<u8>> {
    let end = Instant::now() + wait;
    let stdin = rustix::stdio::stdin();
    let mut bytes = Vec::new();
    let mut room = [0; 16 << 10];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let [ready] = wait_readable([stdin.as_fd()], Some(left));
        if !ready {
            break;
        }
        match rustix::io::retry_on_intr(|| rustix::io::read(stdin, &mut room[..])) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&room[..n]),
        }
        if bytes.len() > LIMIT {
            return None;
        }
        // Some leave their end open: a whole document is enough.
        let ends = bytes.trim_ascii_end().last() == Some(&b'}');
        if ends && json::guard(&bytes, LIMIT).is_ok() {
            break;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}
