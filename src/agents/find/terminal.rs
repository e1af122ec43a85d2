//! A mark per terminal: omp's `terminal-sessions/pts-3` holds the directory in its first line and
//! the conversation's file in its second.

use std::path::PathBuf;

use super::{Live, Place, Subject, bounded, is_before, live_of};
use crate::sys::bytes::from_bytes;
use crate::sys::look::Look;
use crate::sys::proc::{self, ProcId};

/// The largest mark that is read, in bytes.
const LIMIT: usize = 16 << 10;

pub fn live(subject: &Subject<'_>, place: &Place<'_>, at: &str) -> Look<Live> {
    if !proc::is_same(subject.process) {
        return Look::Nothing;
    }
    let Some(path) = file(place, at, subject.process) else {
        return Look::Unknown("the name of its terminal is not known".to_owned());
    };
    let written_ns = match bounded::facts(&path) {
        Look::Found(facts) => facts.touched_ns,
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    // Another process had this terminal before.
    if is_before(written_ns, proc::started_wall_ns(subject.process)) {
        return Look::Nothing;
    }
    let text = match bounded::head(&path, LIMIT) {
        Look::Found(bytes) => from_bytes(&bytes),
        Look::Nothing => return Look::Nothing,
        Look::Unknown(why) => return Look::Unknown(why),
    };
    let mut lines = text.lines();
    let cwd = lines.next().filter(|c| c.starts_with('/'));
    let Some(sid) = lines.next().and_then(id_of) else {
        return Look::Nothing;
    };
    live_of(
        subject,
        subject.process,
        sid,
        cwd.map(str::to_owned),
        "terminal mark",
    )
}

/// The id in `…/<time>_<id>.jsonl`.
fn id_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?.strip_suffix(".jsonl")?;
    name.split_once('_').map(|(_, id)| id)
}

/// The mark of a process's terminal; `None` when that has no name that we know.
pub fn file(place: &Place<'_>, at: &str, process: ProcId) -> Option<PathBuf> {
    let stat = proc::stat(process.pid).filter(|s| s.id == process)?;
    let tty = tty_name(stat.tty)?;
    Some(place.root.join(at.replace("{tty}", &tty)))
}

/// `pts-3` of a terminal's device number; only Linux counts them so.
fn tty_name(tty: i32) -> Option<String> {
    let tty = u32::try_from(tty)
        .ok()
        .filter(|_| cfg!(target_os = "linux"))?;
    let major = (tty >> 8) & 0xfff;
    let minor = (tty & 0xff) | ((tty >> 12) & 0xfff00);
    (major == 136).then(|| format!("pts-{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_terminals() {
        if cfg!(target_os = "linux") {
            assert_eq!(tty_name(0x8803).as_deref(), Some("pts-3"));
            assert_eq!(tty_name(0x0010_8801).as_deref(), Some("pts-257"));
            assert_eq!(tty_name(0x0401), None);
        }
        assert_eq!(tty_name(0), None);
        assert_eq!(tty_name(-1), None);
        assert_eq!(id_of("/s/-p/2026-01-01T00-00_x.jsonl"), Some("x"));
        assert_eq!(id_of("/s/-p/x.jsonl"), None);
    }
}
