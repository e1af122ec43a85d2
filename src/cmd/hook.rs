//! `hook AGENT`: what an agent's hook runs, with its payload on standard input.
//!
//! It stands in the agent's way, so it appends one line and ends: it prints only what the agent wants
//! to read, waits for nobody, and whatever goes wrong is no fault of the agent's.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use super::exit::Exit;
use super::setting;
use super::table::Args;
use crate::agents::argv::fresh;
use crate::agents::definitions::{Definition, Definitions};
use crate::agents::hooks::notify::THEN;
use crate::agents::hooks::{Event, Told};
use crate::agents::window::run_above;
use crate::keep::hook_records;
use crate::keep::state::State;
use crate::sys::bytes::{to_bytes, to_os};
use crate::sys::fault::{Fault, Outcome};
use crate::sys::json;
use crate::sys::look::Look;
use crate::sys::out;
use crate::sys::proc::{self, Process};
use crate::sys::tty::wait_readable;

/// The largest payload.
const LIMIT: usize = 1 << 20;

/// How long a payload is waited for.
const WAIT: Duration = Duration::from_secs(1);

/// What stands behind the agent's name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Call {
    /// The event, where the payload does not name it.
    event: Option<String>,
    /// The payload, where it does not come on standard input.
    payload: Option<String>,
    /// The program that was told before us, with its arguments.
    then: Vec<String>,
}

impl Call {
    fn read(words: &[String]) -> Self {
        let mut call = Self::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == THEN {
                call.then = rest.cloned().collect();
                call.payload = call.then.last().filter(|w| w.starts_with('{')).cloned();
                break;
            } else if word.starts_with('{') {
                call.payload = Some(word.clone());
            } else {
                call.event = Some(word.clone());
            }
        }
        call
    }
}

/// Writes down one event of an agent. The words are taken as they are: behind the agent's name come
/// its own.
pub fn run_words(words: &[String]) -> Exit {
    let (Some(name), call) = (
        words.first(),
        Call::read(words.get(1..).unwrap_or_default()),
    ) else {
        out::message("it needs the name of an agent: kittymux hook claude");
        return Exit::UsedWrongly;
    };
    let defs = setting::quiet_definitions().0;
    // The agent waits, and this program ends at once: nothing is given back piece by piece.
    let defs = std::mem::ManuallyDrop::new(defs);
    let def = defs.get(name);
    if let Some(def) = def {
        let _ = note(&defs, def, &call);
        let says = def.hooks.as_ref().map_or("", |h| &h.says);
        if !says.is_empty() {
            let _ = std::io::stdout().write_all(format!("{says}\n").as_bytes());
        }
    }
    if let [program, arguments @ ..] = &call.then[..] {
        // It takes our place; where it cannot be started nobody is left to be told.
        let _ = Command::new(to_os(program))
            .args(arguments.iter().map(|a| to_os(a)))
            .exec();
        return Exit::Done;
    }
    if def.is_some() {
        return Exit::Done;
    }
    out::message(&format!(
        "there is no agent \"{}\": kittymux sessions check lists them",
        out::clip(&out::visible(name), 40)
    ));
    Exit::UsedWrongly
}

/// As [`run_words`], for a call that is wrong or asks for help.
///
/// # Errors
/// Never.
pub fn run(args: &Args) -> Outcome<Exit> {
    Ok(run_words(&args.words))
}

/// What stands in the way is nobody's business here.
fn note(defs: &Definitions, def: &Definition, call: &Call) -> Option<()> {
    let payload = match &call.payload {
        Some(payload) => to_bytes(payload),
        None => payload(WAIT)?,
    };
    let hooks = def.hooks.as_ref()?;
    let payload = json::parse(&payload, LIMIT).ok()?;
    let mut told = hooks.read(&payload, call.event.as_deref(), &def.id)?;
    let mut above = proc::above();
    above.retain(|p| !is_worker(p, &hooks.worker));
    let (process, call) = run_above(defs, &def.name, &above)?;
    if told.cwd.is_empty() {
        told.cwd = process.cwd.clone().found().unwrap_or_default();
    }
    append(def, &told, process, &call.words).ok()
}

/// Whether a process is the agent's own between it and its hooks.
fn is_worker(process: &Process, worker: &[String]) -> bool {
    let Look::Found(argv) = &process.argv else {
        return false;
    };
    !worker.is_empty() && argv.windows(worker.len()).any(|w| w == worker)
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
    let mut too_large = false;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        // Some leave their end open: a whole document is enough, once nothing more stands there.
        let may_be_whole = !too_large && bytes.trim_ascii_end().last() == Some(&b'}');
        let patience = if may_be_whole { Duration::ZERO } else { left };
        let [ready] = wait_readable([stdin.as_fd()], Some(patience));
        if !ready {
            if !may_be_whole || json::guard(&bytes, LIMIT).is_ok() {
                break;
            }
            let [more] = wait_readable([stdin.as_fd()], Some(left));
            if !more {
                break;
            }
        }
        match rustix::io::retry_on_intr(|| rustix::io::read(stdin, &mut room[..])) {
            Ok(0) | Err(_) => break,
            // What is too large is read to its end, or the agent would write to nobody.
            Ok(_) if too_large => {}
            Ok(n) => bytes.extend_from_slice(&room[..n]),
        }
        too_large |= bytes.len() > LIMIT;
    }
    (!bytes.is_empty() && !too_large).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_the_agent_are_told_apart() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            let Call {
                event,
                payload,
                then,
            } = Call::read(&words);
            format!("{event:?} {payload:?} {then:?}")
        };
        expect_test::expect![[r#"
            None None []
            Some("agentStop") None []
            None Some("{}") []
            None Some("{\"a\":1}") ["/bin/say", "-x", "--then", "{\"a\":1}"]
            None None ["say", "words"]
            None None []"#]]
        .assert_eq(
            &[
                read(&[]),
                read(&["agentStop"]),
                read(&["{}"]),
                read(&["--then", "/bin/say", "-x", "--then", "{\"a\":1}"]),
                read(&["--then", "say", "words"]),
                read(&["--then"]),
            ]
            .join("\n"),
        );
    }
}
