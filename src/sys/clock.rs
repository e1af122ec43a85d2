//! Clocks: the boot clock (steps, sleep and reboots do no harm) and wall time for people.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since boot, sleep included.
#[must_use]
pub fn boot_ns() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = ClockId::Monotonic; // counts sleep on macOS
    shifted(read(clock), "KITTYMUX_BOOT_SHIFT")
}

fn read(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    u64::try_from(t.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(t.tv_nsec).unwrap_or(0)
}

/// A debug build can be made to think it later (or, by wall time, earlier) than it is: seconds.
#[cfg(debug_assertions)]
fn shifted(now: u64, variable: &str) -> u64 {
    let seconds = std::env::var(variable)
        .ok()
        .and_then(|v| v.parse::<i64>().ok());
    now.saturating_add_signed(seconds.unwrap_or(0).saturating_mul(1_000_000_000))
}

#[cfg(not(debug_assertions))]
fn shifted(now: u64, _variable: &str) -> u64 {
    now
}

/// Nanoseconds since the Unix epoch by the wall clock.
#[must_use]
pub fn wall_ns() -> u64 {
    shifted(read(ClockId::Realtime), "KITTYMUX_WALL_SHIFT")
}

/// A moment until which something is waited for, on the boot clock.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(u64);

impl Deadline {
    /// `wait` from now.
    #[must_use]
    pub fn after(wait: Duration) -> Self {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        Self(boot_ns().saturating_add(wait))
    }

    /// How long it is to it; zero once it is over.
    #[must_use]
    pub fn left(self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(boot_ns()))
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

/// The steps of the wall clock that are known: from when on the boot clock, and by how much wall time
/// was ahead of it from then on; oldest first, nanoseconds.
static STEPS: std::sync::OnceLock<Vec<(u64, u64)>> = std::sync::OnceLock::new();

/// Makes the steps of the wall clock known, once in a process.
pub fn know_steps(steps: Vec<(u64, u64)>) {
    let _ = STEPS.set(steps);
}

/// By how much wall time was ahead of the boot clock at `boot` on that clock: what was written then
/// carries that wall time, whatever the clock was set to since.
#[must_use]
pub fn offset_at(boot: u64) -> u64 {
    let known = STEPS.get().map_or(&[][..], Vec::as_slice);
    let then = known.iter().rev().find(|(since, _)| *since <= boot);
    then.or(known.first()).map_or_else(
        || wall_ns().saturating_sub(boot_ns()),
        |(_, offset)| *offset,
    )
}

/// Identity of this boot: 32 hexadecimal digits, or empty where it cannot be read.
#[must_use]
pub fn boot_id() -> String {
    // It outlives no process.
    static ID: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let read = || {
        #[cfg(target_os = "macos")]
        let text = super::proc::macos_boot_session();
        #[cfg(not(target_os = "macos"))]
        let text = boot_file().unwrap_or_default();
        let digits = text.chars().filter(char::is_ascii_hexdigit);
        digits.map(|c| c.to_ascii_lowercase()).collect()
    };
    ID.get_or_init(read).clone()
}

/// What the kernel says of this boot, in one read: each of our starts asks for it.
#[cfg(not(target_os = "macos"))]
fn boot_file() -> Option<String> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let fd = open("/proc/sys/kernel/random/boot_id", flags, Mode::empty()).ok()?;
    let mut text = [0; 64];
    let n = rustix::io::read(&fd, &mut text).ok()?;
    std::str::from_utf8(&text[..n]).ok().map(str::to_owned)
}

/// The first eight digits of [`boot_id`]; `00000000` where it cannot be read.
#[must_use]
pub fn boot8() -> String {
    let mut id = boot_id();
    id.truncate(8);
    while id.len() < 8 {
        id.push('0');
    }
    id
}

/// Eight digits that tell this machine from others that share the home directory.
#[must_use]
pub fn host8() -> String {
    let id = std::fs::read_to_string("/etc/machine-id")
        .ok()
        .filter(|t| t.trim().len() >= 8);
    let text = id.unwrap_or_else(|| {
        rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned()
    });
    format!(
        "{:08x}",
        (super::token::fingerprint(text.trim().as_bytes()) >> 32) as u32
    )
}

/// RFC 3339 in UTC, whole seconds: `2026-11-30T08:00:00Z`.
#[must_use]
pub fn rfc3339(wall_ns: u64) -> String {
    let secs = wall_ns / 1_000_000_000;
    let (days, rest) = (secs / 86_400, secs % 86_400);
    let (y, m, d) = civil(i64::try_from(days).unwrap_or(0));
    format!(
        "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Wall nanoseconds of an RFC 3339 UTC time (fractions allowed), if it is one.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let b = text.as_bytes();
    let num = |r: std::ops::Range<usize>| text.get(r)?.parse::<i64>().ok();
    if b.len() < 20
        || b[4] != b'-'
        || b[7] != b'-'
        || b[10] != b'T'
        || b[13] != b':'
        || b[16] != b':'
    {
        return None;
    }
    let tail = text.get(19..)?.strip_suffix('Z')?;
    let fraction = match tail.strip_prefix('.') {
        None if tail.is_empty() => 0,
        Some(f) if !f.is_empty() && f.len() <= 9 && f.bytes().all(|c| c.is_ascii_digit()) => {
            format!("{f:0<9}").parse::<u64>().ok()?
        }
        _ => return None,
    };
    let (y, m, d) = (num(0..4)?, num(5..7)?, num(8..10)?);
    let (hh, mm, ss) = (num(11..13)?, num(14..16)?, num(17..19)?);
    if !(1..=12).contains(&m) || !(1..=31).contains(&d) || hh > 23 || mm > 59 || ss > 60 {
        return None;
    }
    let secs = days_from_civil(y, m, d) * 86_400 + hh * 3600 + mm * 60 + ss;
    u64::try_from(secs)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction)
}

/// Days since 1970-01-01 → year, month, day (proleptic Gregorian).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (d, m) = (
        doy - (153 * mp + 2) / 5 + 1,
        if mp < 10 { mp + 3 } else { mp - 9 },
    );
    (yoe + era * 400 + i64::from(m <= 2), m, d)
}

fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = y - i64::from(m <= 2);
    let (era, yoe) = (y.div_euclid(400), y.rem_euclid(400));
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// RFC 3339 in UTC with milliseconds: `2026-11-30T08:00:00.250Z`.
#[must_use]
pub fn rfc3339_ms(wall_ns: u64) -> String {
    let whole = rfc3339(wall_ns);
    format!(
        "{}.{:03}Z",
        whole.trim_end_matches('Z'),
        wall_ns / 1_000_000 % 1000
    )
}

/// The seconds of a span as people write it: `90s`, `90m`, `12h`, `7d`, `2w`.
#[must_use]
pub fn parse_span(text: &str) -> Option<u64> {
    let unit = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let secs = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=100 * 366 * 86_400).contains(&secs).then_some(secs)
}

/// A span for people, in two units where that says more: `45s`, `12m`, `1h20m`, `2d3h`.
#[must_use]
pub fn long_span(secs: u64) -> String {
    let two = |big: u64, small: u64, rest: u64, names: [&str; 2]| {
        if rest / small == 0 {
            format!("{}{}", secs / big, names[0])
        } else {
            format!("{}{}{}{}", secs / big, names[0], rest / small, names[1])
        }
    };
    match secs {
        0..3600 => span(secs),
        3600..86_400 => two(3600, 60, secs % 3600, ["h", "m"]),
        _ => two(86_400, 3600, secs % 86_400, ["d", "h"]),
    }
}

/// A span for people: `12s`, `5m`, `3h`, `2d`.
#[must_use]
pub fn span(secs: u64) -> String {
    match secs {
        0..60 => format!("{secs}s"),
        60..3600 => format!("{}m", secs / 60),
        3600..172_800 => format!("{}h", secs / 3600),
        _ => format!("{}d", secs / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        for (secs, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_796_000_000, "2026-11-30T00:53:20Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(secs * 1_000_000_000), text);
            assert_eq!(parse_rfc3339(text), Some(secs * 1_000_000_000));
        }
        assert_eq!(
            parse_rfc3339("2026-11-30T00:53:20.579Z"),
            Some(1_796_000_000_579_000_000)
        );
        for bad in [
            "",
            "2026",
            "2026-13-30T00:53:20Z",
            "2026-11-30T00:53:20",
            "2026-11-30T00:53:20.Z",
            "x026-11-30T00:53:20Z",
            "2026-11-30T00:53:2\u{e9}Z",
            "9999-11-30T00:53:20Z",
        ] {
            assert_eq!(parse_rfc3339(bad), None, "{bad}");
        }
        let ms = 1_796_000_000_579_000_000;
        assert_eq!(rfc3339_ms(ms), "2026-11-30T00:53:20.579Z");
        assert_eq!(parse_rfc3339(&rfc3339_ms(ms)), Some(ms));
    }

    #[test]
    fn spans_are_read_and_shown() {
        let day = 86_400;
        for (text, secs) in [
            ("90s", Some(90)),
            ("90m", Some(5400)),
            ("12h", Some(12 * 3600)),
            ("7d", Some(7 * day)),
            ("2w", Some(14 * day)),
            ("", None),
            ("7", None),
            ("d", None),
            ("0d", None),
            ("-1d", None),
            ("1.5h", None),
            ("7 d", None),
            ("7y", None),
            ("99999999999999999999d", None),
            ("999999999999999d", None),
            ("7\u{e9}", None),
        ] {
            assert_eq!(parse_span(text), secs, "{text}");
        }
        let shown = [0, 59, 60, 3599, 3600, 4800, day, 2 * day + 3 * 3600 + 5].map(long_span);
        assert_eq!(
            shown,
            ["0s", "59s", "1m", "59m", "1h", "1h20m", "1d", "2d3h"]
        );
    }

    #[test]
    fn the_boot_clock_runs_and_the_boot_has_a_name() {
        let a = boot_ns();
        assert!(a > 0 && boot_ns() >= a);
        assert_eq!(boot8().len(), 8);
        assert_eq!(host8().len(), 8);
    }
}
