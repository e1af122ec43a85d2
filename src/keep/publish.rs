//! How a save becomes current: whole, dated, and never in place of a newer one.

use crate::sys::clock;
use crate::sys::fault::{Fault, Outcome};
use crate::sys::private_file::PrivateDir;
use crate::sys::proc::ProcId;

/// The version of the first line.
const VERSION: &str = "# kittymux 1 ";

/// The largest session file we read.
pub const LIMIT: usize = 32 << 20;

/// The first line of a save: when, where and of which kitty it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Wall time of the capture, RFC 3339.
    pub captured: String,
    /// First eight digits of the boot id.
    pub boot: String,
    /// Boot clock of the capture, nanoseconds.
    pub up: u64,
    /// The kitty.
    pub kitty: ProcId,
    /// The save's id.
    pub save: String,
    /// The machine.
    pub host: String,
}

impl Header {
    /// The header of a capture taken now.
    #[must_use]
    pub fn now(kitty: ProcId, save: &str) -> Self {
        Self {
            captured: clock::rfc3339(clock::wall_ns()),
            boot: clock::boot8(),
            up: clock::boot_ns(),
            kitty,
            save: save.to_owned(),
            host: clock::host8(),
        }
    }

    /// The line, with its end.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "{VERSION}captured={} boot={} up={} kitty={}-{} save={} host={}\n",
            self.captured,
            self.boot,
            self.up,
            self.kitty.pid,
            self.kitty.start,
            self.save,
            self.host
        )
    }

    /// Reads the first line of a file; `None` when it is none of ours. Words it does not know are
    /// left aside.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let line = text.lines().next()?;
        let rest = line.strip_prefix("# kittymux ")?;
        let (version, rest) = rest.split_once(' ')?;
        version.parse::<u32>().ok()?;
        let word = |name: &str| {
            rest.split(' ')
                .find_map(|w| w.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
        };
        let (pid, start) = word("kitty")?
            .split_once('-')
            .map(|(p, s)| (p.parse().ok(), s.parse().ok()))?;
        Some(Self {
            captured: word("captured")?,
            boot: word("boot")?,
            up: word("up")?.parse().ok()?,
            kitty: ProcId {
                pid: pid?,
                start: start?,
            },
            save: word("save").filter(|s| crate::sys::token::is_token(s))?,
            host: word("host")?,
        })
    }

    /// What stands behind the first line of a file.
    #[must_use]
    pub fn body(text: &str) -> &str {
        match text.split_once('\n') {
            Some((first, rest)) if first.starts_with("# kittymux ") => rest,
            _ => text,
        }
    }

    /// Whether a file with this header may take the place of one with `old`: an older capture of the
    /// same boot never does. Over a boot the clocks cannot be compared, and the later writer wins.
    #[must_use]
    pub fn may_replace(&self, old: &Self) -> bool {
        self.host != old.host || self.boot != old.boot || self.up >= old.up
    }
}

/// Publishes `text` (without a header) as `name`; what it replaces is kept in `.previous/`.
///
/// # Errors
/// When a newer capture stands there, or the file cannot be written; then the old one stands.
pub fn publish(sessions: &PrivateDir, file: &str, header: &Header, text: &str) -> Outcome<()> {
    let previous = sessions.sub(".previous")?;
    replace(sessions, file, header, text, Some(&previous))
}

/// As [`publish`]; what it replaces is not kept.
///
/// # Errors
/// As [`publish`].
pub fn publish_over(sessions: &PrivateDir, file: &str, header: &Header, text: &str) -> Outcome<()> {
    replace(sessions, file, header, text, None)
}

fn replace(
    sessions: &PrivateDir,
    file: &str,
    header: &Header,
    text: &str,
    previous: Option<&PrivateDir>,
) -> Outcome<()> {
    if let Ok(Some(old)) = sessions.read(file, LIMIT)
        && let Some(old) = Header::read(&crate::sys::bytes::from_bytes(&old))
        && !header.may_replace(&old)
    {
        return Err(Fault::refused(format!(
            "{file}: a newer save stands there already; it was kept"
        )));
    }
    let whole = header.line()
        + text.trim_start_matches('\n')
        + if text.ends_with('\n') { "" } else { "\n" };
    sessions.replace(file, &crate::sys::bytes::to_bytes(&whole), previous)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(up: u64) -> Header {
        Header {
            captured: "2026-11-30T08:04:09Z".into(),
            boot: "0011aabb".into(),
            up,
            kitty: ProcId {
                pid: 42,
                start: 9001,
            },
            save: "5f2c00aa11bb".into(),
            host: "cafe0001".into(),
        }
    }

    #[test]
    fn the_first_line_is_frozen_and_reads_back() {
        let line = header(7).line();
        expect_test::expect![[r#"
            # kittymux 1 captured=2026-11-30T08:04:09Z boot=0011aabb up=7 kitty=42-9001 save=5f2c00aa11bb host=cafe0001
        "#]].assert_eq(&line);
        assert_eq!(Header::read(&line), Some(header(7)));
        let later = line.replace("kittymux 1 ", "kittymux 2 more=1 ");
        assert_eq!(Header::read(&later), Some(header(7)));
        for bad in [
            "",
            "# kittymux",
            "# kittymux 1 captured=x",
            "launch",
            "# kittymux x captured=1 boot=1 up=1 kitty=1-1 save=a host=1",
            "# kittymux 1 captured=1 boot=1 up=-4 kitty=1-1 save=a host=1",
            "# kittymux 1 captured=1 boot=1 up=4 kitty=true save=a host=1",
        ] {
            assert_eq!(Header::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_older_capture_never_replaces_a_newer_one() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = PrivateDir::open(&top.path().join("sessions")).expect("open");
        let text = || {
            crate::sys::bytes::from_bytes(
                &dir.read("w.kitty-session", LIMIT)
                    .expect("read")
                    .expect("there"),
            )
        };
        publish(
            &dir,
            "w.kitty-session",
            &header(10),
            "\n\nlaunch\nfocus_tab 0",
        )
        .expect("published");
        assert_eq!(text(), header(10).line() + "launch\nfocus_tab 0\n");
        assert!(publish(&dir, "w.kitty-session", &header(9), "launch old").is_err());
        publish(&dir, "w.kitty-session", &header(11), "launch new").expect("published");
        assert!(text().ends_with("launch new\n"));
        let kept = dir
            .sub(".previous")
            .expect("sub")
            .read("w.kitty-session", LIMIT)
            .expect("read")
            .expect("kept");
        assert!(kept.ends_with(b"launch\nfocus_tab 0\n"));
        let other_boot = Header {
            boot: "ffffffff".into(),
            up: 1,
            ..header(1)
        };
        publish(&dir, "w.kitty-session", &other_boot, "launch after reboot").expect("published");
        std::fs::write(dir.join("w.kitty-session"), "damaged").expect("write");
        publish(&dir, "w.kitty-session", &header(1), "launch").expect("a damaged file is replaced");
    }
}
