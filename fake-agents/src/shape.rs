//! The shapes a process can take: a wrapper with a child, a title over the arguments.
#![allow(unsafe_code)]

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode};

use crate::Agent;

/// Starts itself again as the agent's native program, in the same process group, and waits for it.
pub fn wrap(agent: Agent, args: &[String]) -> ExitCode {
    let Ok(exe) = std::env::current_exe() else {
        return ExitCode::FAILURE;
    };
    // ^C is the child's to answer, as with the real wrappers.
    let ignored =
        signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default());
    let status = Command::new(exe)
        .arg0(format!("/vendor/native/bin/{}", agent.name()))
        .args(args)
        .env("FAKE_AGENT_NAME", agent.name())
        .env("FAKE_AGENT_SHAPE", "")
        .status();
    drop(ignored);
    match status {
        Ok(status) => {
            let code = status
                .code()
                .or(status.signal().map(|s| 128 + s))
                .unwrap_or(1);
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
        Err(e) => {
            eprintln!("fake-agent: could not start the child: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Writes `name` over the process's own arguments, as programs do that set a process title: what is
/// left in the process table is the name and a tail of empty words.
pub fn write_title(name: &str) {
    let Some((start, end)) = arguments_span() else {
        eprintln!("fake-agent: the arguments cannot be found in memory");
        return;
    };
    let room = end - start;
    if room <= name.len() {
        return;
    }
    // SAFETY: the kernel says that the arguments lie in [start, end); they are this process's own
    // writable stack, and nobody else reads them by reference: `std::env` copies, and that copying
    // was done before by the caller on this only thread. The last byte stays a NUL.
    unsafe {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(start);
        std::ptr::write_bytes(place, 0, room);
        std::ptr::copy_nonoverlapping(name.as_ptr(), place, name.len());
    }
    let _ = std::fs::write("/proc/self/comm", name);
}

/// Where the arguments lie: fields 48 and 49 of the stat line.
fn arguments_span() -> Option<(usize, usize)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let start = fields.get(45)?.trim().parse().ok()?;
    let end = fields.get(46)?.trim().parse().ok()?;
    (start > 0 && end > start).then_some((start, end))
}
