//! The desks that were saved by themselves: which there are, how each stands, which one is *last*.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::names::ENDING;
use super::publish::{Header, LIMIT};
use super::state::State;
use super::taken::{Mark, Marks};
use crate::kitty::session_file::{Origin, SessionFile};
use crate::sys::bytes::from_bytes;
use crate::sys::clock;
use crate::sys::fault::Outcome;
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::{self, ProcId};

/// How every such save's name begins.
pub const PREFIX: &str = "autosave-";

/// The file that a `startup_session` line of kitty.conf names.
pub const STARTUP: &str = "startup.kitty-session";

/// What that file says while there is nothing to offer.
pub const NOTHING: &str = "# kittymux keeps this file: after a crash or a quit it holds the desk that was open last.\n\
     # There is nothing to bring back now, so kitty opens as it does without it.\n";

/// Earlier sets of a kitty that are kept.
const EARLIER: usize = 4;

/// Kitties that are gone whose save is kept.
const GONE: usize = 5;

/// A save of one kitty, taken by itself or at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Autosave {
    /// Its name, without the ending.
    pub name: String,
    /// Its first line.
    pub header: Header,
    /// Whether its kitty still runs (or may: it is another machine's).
    pub runs: bool,
    /// How it stands.
    pub mark: Mark,
}

impl Autosave {
    /// Whether it can be offered: its kitty is gone, and nobody has it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        !self.runs && self.mark == Mark::Free
    }
}

/// The name of a kitty's save.
#[must_use]
pub fn name(boot: &str, kitty: ProcId) -> String {
    format!("{PREFIX}{boot}-{}-{}", kitty.pid, kitty.start)
}

/// Whether a kitty of this boot has a save of its own.
#[must_use]
pub fn is_there(state: &State, kitty: ProcId) -> bool {
    let name = name(&clock::boot8(), kitty);
    let path = state.dir.join("sessions").join(format!("{name}{ENDING}"));
    path.exists()
}

/// Makes the file that kitty.conf names, where there is none yet.
///
/// # Errors
/// When it cannot be written.
pub fn begin_startup(sessions: &PrivateDir) -> Outcome<()> {
    match sessions.written_ns(STARTUP) {
        Some(_) => Ok(()),
        None => sessions.write(STARTUP, NOTHING.as_bytes()),
    }
}

/// Whether a name is that of such a save, and not one that a person gave to a copy.
#[must_use]
pub fn is_name(name: &str) -> bool {
    kitty_of(name).is_some()
}

fn kitty_of(name: &str) -> Option<(String, ProcId)> {
    boot_and_kitty(name.strip_prefix(PREFIX)?)
}

/// Reads `<boot>-<pid>-<start>`, by which files of one kitty are named.
#[must_use]
pub fn boot_and_kitty(text: &str) -> Option<(String, ProcId)> {
    let mut parts = text.split('-');
    let (boot, pid, start) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = boot.len() == 8 && boot.bytes().all(|b| b.is_ascii_hexdigit());
    if !plain || parts.next().is_some() {
        return None;
    }
    let kitty = ProcId {
        pid: pid.parse().ok()?,
        start: start.parse().ok()?,
    };
    Some((boot.to_owned(), kitty))
}

/// All of them, newest first.
///
/// # Errors
/// When the directory is not ours.
pub fn all(state: &State) -> Outcome<Vec<Autosave>> {
    let sessions = state.sessions()?;
    let marks = Marks::of(state);
    let (boot, host) = (clock::boot8(), clock::host8());
    let mut found: Vec<Autosave> = sessions
        .names()?
        .into_iter()
        .filter_map(|file| {
            let name = file.strip_suffix(ENDING)?;
            kitty_of(name)?;
            let header = read_header(&sessions, &file)?;
            let runs =
                header.host != host || (header.boot == boot && proc::is_running(header.kitty));
            Some(Autosave {
                name: name.to_owned(),
                mark: marks.get(&header.save),
                header,
                runs,
            })
        })
        .collect();
    newest_first(&mut found, &boot);
    Ok(found)
}

/// The first line of a save.
#[must_use]
pub fn read_header(sessions: &PrivateDir, file: &str) -> Option<Header> {
    let bytes = sessions.read_head(file, 4096).ok()??;
    Header::read(&from_bytes(&bytes))
}

/// Newest first. Within a boot its clock decides; this boot is the newest, and of the others the one
/// whose latest save says so by wall time, which is all there is.
fn newest_first(saves: &mut [Autosave], boot: &str) {
    let mut latest: BTreeMap<String, String> = BTreeMap::new();
    for save in saves.iter() {
        let at = latest.entry(save.header.boot.clone()).or_default();
        if save.header.captured > *at {
            at.clone_from(&save.header.captured);
        }
    }
    saves.sort_by_cached_key(|s| {
        let of_boot = latest.get(&s.header.boot).cloned().unwrap_or_default();
        Reverse((
            s.header.boot == boot,
            of_boot,
            s.header.boot.clone(),
            s.header.up,
            s.name.clone(),
        ))
    });
}

/// The desks that can be opened and that nobody has, newest first: *last* is the first, *previous*
/// the second. One that would not load hides no other.
#[must_use]
pub fn free<'a>(saves: &'a [Autosave], loads: &dyn Fn(&str) -> bool) -> Vec<&'a Autosave> {
    let free = saves.iter().filter(|s| s.is_free());
    free.filter(|s| loads(&s.name)).collect()
}

/// How often a desk is offered to kitties that then die before they have a save of their own.
const TRIES: u64 = 3;

/// The desk a kitty that starts now is to offer: the newest that is free and would load, whose kitty
/// ended after any other desk was taken. So each is offered once, and one that kills its kitty is
/// not offered for ever.
#[must_use]
pub fn for_start<'a>(
    saves: &'a [Autosave],
    marks: &Marks,
    loads: &dyn Fn(&str) -> bool,
) -> Option<&'a Autosave> {
    saves.iter().filter(|s| s.is_free()).find(|s| {
        let save = &s.header.save;
        marks.tries(save) < TRIES && marks.ended_after_all(save) && loads(&s.name)
    })
}

/// Whether kitty would load a save, and find a window in it.
#[must_use]
pub fn loads(sessions: &PrivateDir, name: &str) -> bool {
    let bytes = sessions.read(&format!("{name}{ENDING}"), LIMIT);
    bytes.ok().flatten().is_some_and(|bytes| {
        let file = SessionFile::read(&from_bytes(&bytes), Origin::Person, &[]);
        file.refusal().is_none() && file.has_windows()
    })
}

/// What is not kept any longer: of kitties that are gone all but the newest five.
#[must_use]
pub fn outdated(saves: &[Autosave]) -> Vec<&str> {
    let gone = saves.iter().filter(|s| !s.runs);
    gone.skip(GONE).map(|s| s.name.as_str()).collect()
}

/// Puts the save that stands under `name` aside as an earlier set of its kitty, if its windows are
/// others than those of `new`, the text that is to take its place.
///
/// # Errors
/// When it is there and cannot be kept.
pub fn put_aside(sessions: &PrivateDir, name: &str, new: &str) -> Outcome<()> {
    let file = format!("{name}{ENDING}");
    let Some(old) = sessions.read(&file, LIMIT).ok().flatten() else {
        return Ok(());
    };
    let old = from_bytes(&old);
    let Some(header) = Header::read(&old).filter(|_| windows(&old) != windows(new)) else {
        return Ok(());
    };
    let history = sessions.sub(".history")?;
    sessions.link_into(
        &file,
        &history,
        &format!("{name}-{:020}{ENDING}", header.up),
    )
}

/// The ids of the windows of a text, in its order.
fn windows(text: &str) -> Vec<Option<u64>> {
    let file = SessionFile::read(text, Origin::Person, &[]);
    file.launches()
        .map(crate::kitty::launch_line::LaunchLine::id)
        .collect()
}

/// Removes earlier sets beyond the newest four of each kitty, and those of kitties without a save.
pub fn sweep_history(sessions: &PrivateDir, saves: &[Autosave]) {
    let Ok(Some(history)) = PrivateDir::existing(&sessions.join(".history")) else {
        return;
    };
    let mut of_kitty: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    let names = history.names().unwrap_or_default();
    for file in names.iter().filter(|f| f.starts_with(PREFIX)) {
        let stem = file.strip_suffix(ENDING).unwrap_or(file);
        let kitty = stem.rsplit_once('-').map_or(stem, |(kitty, _)| kitty);
        of_kitty.entry(kitty).or_default().push(file);
    }
    for (kitty, files) in of_kitty {
        let keep = if saves.iter().any(|s| s.name == kitty) {
            EARLIER
        } else {
            0
        };
        for file in files.iter().rev().skip(keep) {
            let _ = history.remove(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(name: &str, boot: &str, up: u64, captured: &str, runs: bool, mark: Mark) -> Autosave {
        Autosave {
            name: name.into(),
            header: Header {
                captured: captured.into(),
                boot: boot.into(),
                up,
                kitty: ProcId { pid: 1, start: 1 },
                save: name.into(),
                host: "h".into(),
            },
            runs,
            mark,
        }
    }

    fn names(saves: &[&Autosave]) -> Vec<String> {
        saves.iter().map(|s| s.name.clone()).collect()
    }

    #[test]
    fn the_newest_is_told_by_the_boot_clock_whatever_the_wall_clock_says() {
        let mut saves = vec![
            save(
                "old boot",
                "aaaa",
                900,
                "2026-11-29T10:00:00Z",
                false,
                Mark::Free,
            ),
            // The wall clock was set back a day in this boot.
            save("a", "bbbb", 10, "2026-11-30T10:00:00Z", false, Mark::Free),
            save("b", "bbbb", 20, "2026-11-29T09:00:00Z", false, Mark::Free),
            save(
                "older boot",
                "cccc",
                5,
                "2026-11-28T10:00:00Z",
                false,
                Mark::Free,
            ),
            save(
                "its sister",
                "aaaa",
                7,
                "2026-11-28T09:00:00Z",
                false,
                Mark::Free,
            ),
        ];
        newest_first(&mut saves, "bbbb");
        assert_eq!(
            names(&saves.iter().collect::<Vec<_>>()),
            ["b", "a", "old boot", "its sister", "older boot"]
        );
    }

    #[test]
    fn last_is_the_newest_of_a_kitty_that_is_gone_and_that_nobody_has() {
        let taken = Mark::Taken(ProcId { pid: 9, start: 9 });
        let at = "2026-11-30T10:00:00Z";
        let saves = vec![
            save("runs", "b", 9, at, true, Mark::Free),
            save("restored", "b", 8, at, false, Mark::Restored),
            save("taken", "b", 7, at, false, taken),
            save("one", "b", 6, at, false, Mark::Free),
            save("two", "b", 5, at, false, Mark::Free),
        ];
        assert_eq!(names(&free(&saves, &|_| true)), ["one", "two"]);
        assert_eq!(names(&free(&saves, &|n| n != "one")), ["two"]);
        let top = tempfile::tempdir().expect("a temporary directory");
        let state = State {
            dir: PrivateDir::open(&top.path().join("s")).expect("open"),
        };
        let offered = |saves: &[Autosave], loads: &dyn Fn(&str) -> bool| {
            for_start(saves, &Marks::of(&state), loads).map(|s| s.name.clone())
        };
        assert_eq!(offered(&saves, &|_| true), Some("one".to_owned()));
        assert_eq!(
            offered(&saves, &|name| name != "one"),
            Some("two".to_owned())
        );
        // What was taken after its kitty ended means that it was there to be taken.
        crate::keep::taken::ended(&state, "one").expect("noted");
        crate::keep::taken::ended(&state, "two").expect("noted");
        let dead = ProcId { pid: 1, start: 77 };
        crate::keep::taken::take(&state, "two", dead, "w", 1).expect("taken");
        assert_eq!(offered(&saves, &|_| true), Some("two".to_owned()));
        for _ in 0..2 {
            crate::keep::taken::take(&state, "two", dead, "w", 1).expect("taken");
        }
        assert_eq!(
            offered(&saves, &|_| true),
            None,
            "it kills whoever opens it"
        );
    }

    #[test]
    fn five_of_the_gone_are_kept_however_many_run() {
        let at = "2026-11-30T10:00:00Z";
        let saves: Vec<Autosave> = (0..14)
            .map(|n| save(&format!("s{n}"), "b", 100 - n, at, n < 6, Mark::Free))
            .collect();
        assert_eq!(outdated(&saves), ["s11", "s12", "s13"]);
    }
}
