//! The look at all kitties, the same for every verb: found, asked together, read.

use std::time::Duration;

use crate::keep::state::State;
use crate::kitty::client::{Connection, Exchange, Silence, drive};
use crate::kitty::commands;
use crate::kitty::discover::{self, Found, Surroundings};
use crate::kitty::tree::{self, OsWindow};
use crate::kitty::wire::Reply;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::proc::ProcId;

/// How long all kitties together are waited for.
const WAIT: Duration = Duration::from_millis(1000);

/// How much longer the one is waited for that is meant: it may be busy, but nothing goes without it.
const WAIT_OURS: Duration = Duration::from_secs(3);

/// A kitty and its windows.
#[derive(Debug)]
pub struct SeenKitty {
    /// The connection.
    pub connection: Connection,
    /// Its process.
    pub process: ProcId,
    /// What it shows.
    pub tree: Vec<OsWindow>,
}

/// All kitties that answered.
#[derive(Debug)]
pub struct Kitties {
    /// Ours first, if there is one.
    pub seen: Vec<SeenKitty>,
    /// Whether the first is the one we were started from.
    pub first_is_ours: bool,
    /// Why the one we were started from gave no answer though it runs.
    pub ours_silent: Option<String>,
    /// Why others were not seen, one line each.
    pub unseen: Vec<String>,
    /// Sockets that were named and where nobody listens.
    pub dead: Vec<String>,
    /// Kittys that run without a socket we could use.
    pub deaf: Vec<i32>,
    /// The kitty we were started from, when it is one of those.
    pub deaf_parent: Option<i32>,
    /// What our environment says.
    pub surroundings: Surroundings,
}

/// Looks at all kitties.
///
/// # Errors
/// When `KITTYMUX_TARGET` names one that does not answer.
pub fn look(state: Option<&State>) -> Outcome<Kitties> {
    let surroundings = Surroundings::read();
    let Found {
        kitties,
        first_is_ours,
        deaf,
        deaf_parent,
        silent,
    } = discover::find(&surroundings, state.map(|s| &s.dir))?;
    let mut unseen: Vec<String> = silent
        .iter()
        .filter(|(_, why)| !matches!(why, Silence::Dead(_)))
        .map(|(address, why)| format!("{address}: {why}"))
        .collect();
    let dead = silent
        .iter()
        .filter(|(_, why)| matches!(why, Silence::Dead(_)))
        .map(|(address, _)| address.clone())
        .collect();
    let (mut connections, processes): (Vec<Connection>, Vec<ProcId>) = kitties
        .into_iter()
        .map(|k| (k.connection, k.process))
        .unzip();
    let ask = [commands::ls(surroundings.window)];
    let mut exchanges: Vec<Exchange<'_>> = connections
        .iter_mut()
        .map(|c| Exchange::new(c, &ask))
        .collect();
    drive(&mut exchanges, WAIT);
    if first_is_ours {
        drive(&mut exchanges[..1], WAIT_OURS);
    }
    let answers: Vec<Result<Vec<Reply>, Silence>> =
        exchanges.into_iter().map(Exchange::result).collect();
    let mut seen = Vec::new();
    let mut ours_lost = false;
    let mut ours_silent = None;
    for (n, ((connection, process), answer)) in connections
        .into_iter()
        .zip(processes)
        .zip(answers)
        .enumerate()
    {
        let tree = answer
            .map_err(|why| why.to_string())
            .and_then(|mut replies| {
                replies
                    .pop()
                    .map_or_else(|| Ok(String::new()), Reply::into_data)
            })
            .and_then(|text| tree::read(&text));
        match tree {
            Ok(tree) => seen.push(SeenKitty {
                connection,
                process,
                tree,
            }),
            // One that ended while it was asked is no news.
            Err(_) if !crate::sys::proc::is_same(process) => {
                ours_lost |= n == 0 && first_is_ours;
            }
            Err(why) => {
                if let Some(target) = surroundings.target.as_ref().filter(|_| n == 0) {
                    return Err(discover::bad_target(target, &why));
                }
                let said = format!("kitty {} ({}): {why}", process.pid, connection.address());
                if n == 0 && first_is_ours {
                    ours_lost = true;
                    ours_silent = Some(said.clone());
                }
                unseen.push(said);
            }
        }
    }
    Ok(Kitties {
        seen,
        first_is_ours: first_is_ours && !ours_lost,
        ours_silent,
        unseen,
        dead,
        deaf,
        deaf_parent,
        surroundings,
    })
}

impl Kitties {
    /// The kitty a verb acts on: ours, else the only one, else the one with the focused window.
    ///
    /// # Errors
    /// What stands in the way, and what to do next.
    pub fn meant(&mut self) -> Outcome<&mut SeenKitty> {
        if self.seen.is_empty() {
            return Err(Fault::refused(self.why_none()));
        }
        // Another kitty is not what was meant in this one.
        if let Some(why) = &self.ours_silent {
            return Err(Fault::refused(no_answer(why)));
        }
        if let Some(pid) = self.deaf_parent.filter(|_| !self.first_is_ours) {
            return Err(Fault::refused(no_socket(pid)));
        }
        if self.first_is_ours || self.seen.len() == 1 {
            return Ok(&mut self.seen[0]);
        }
        let focused = |k: &SeenKitty| k.tree.iter().any(|o| o.is_focused);
        let at = self.seen.iter().position(focused).or_else(|| {
            // Without focus anywhere, the window that had it last: the newest moment counts.
            let last = |k: &SeenKitty| k.tree.iter().any(|o| o.last_focused);
            (self.seen.iter().filter(|k| last(k)).count() == 1)
                .then(|| self.seen.iter().position(last))
                .flatten()
        });
        match at {
            Some(at) => Ok(&mut self.seen[at]),
            None => Err(Fault::refused(format!(
                "{} kitties run and none has the focus: name one with KITTYMUX_TARGET={} (or run this inside it)",
                self.seen.len(),
                self.seen[0].connection.address()
            ))),
        }
    }

    /// Why there is no kitty to act on, and what to do next.
    #[must_use]
    pub fn why_none(&self) -> String {
        if let Some(refused) = self.unseen.iter().find(|u| u.contains("Remote control is")) {
            return format!("{refused}\n{}", conf_lines());
        }
        if let Some(busy) = self
            .unseen
            .iter()
            .find(|u| u.ends_with(": it does not answer"))
        {
            return no_answer(busy);
        }
        if !self.deaf.is_empty() {
            return no_socket(self.deaf_parent.unwrap_or(self.deaf[0]));
        }
        match (self.unseen.first(), self.dead.first()) {
            (Some(why), _) => no_answer(why),
            (None, Some(at)) => format!(
                "no kitty is running (nobody listens at {at} any more): start one, or run this inside it"
            ),
            (None, None) if crate::kitty::conf::read().listens() => {
                "no kitty is running: start one, or run this inside it".to_owned()
            }
            (None, None) => format!("no kitty is running\n{}", conf_lines()),
        }
    }
}

fn no_answer(why: &str) -> String {
    format!("no answer from {why}; look whether its window is frozen, then try again")
}

fn no_socket(pid: i32) -> String {
    format!(
        "kitty (pid {pid}) has no socket that kittymux can use\n{}",
        conf_lines()
    )
}

/// What kitty.conf lacks, and how to put it there.
#[must_use]
pub fn conf_lines() -> String {
    let conf = crate::kitty::conf::read();
    if conf.listens() {
        return "kitty.conf has what is needed: restart kitty, it reads that only at its start"
            .to_owned();
    }
    let mut missing = Vec::new();
    if !matches!(
        conf.allow_remote_control.as_deref(),
        Some("yes" | "y" | "true" | "socket" | "socket-only")
    ) {
        missing.push("allow_remote_control socket-only");
    }
    if conf.listen_on.as_deref().is_none_or(|l| l == "none") {
        missing.push("listen_on unix:kittymux-{kitty_pid}");
    }
    let lines = missing.join("\n  ");
    let written = State::open().ok().and_then(|state| {
        let own = super::setting::own_path(&state).ok();
        crate::keep::assets::write_kitty_files(&state, own.as_deref()).ok()
    });
    match written {
        // What the person sets themselves further down wins, so the include stands at the top.
        Some(files) if conf.allow_remote_control.is_none() => format!(
            "kittymux setup mends that, after showing what it writes. Or by hand: put this\nline at the top of kitty.conf, then restart kitty:\n  include {}\n(or only what it needs most:\n  {lines})",
            crate::sys::out::visible(&files.conf)
        ),
        _ => format!("put into kitty.conf, then restart kitty:\n  {lines}"),
    }
}
