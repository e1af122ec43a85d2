//! What starts us every ten seconds: user units of systemd, an agent of launchd. Path in, text out.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::sys::fault::{Fault, Outcome};

/// The name of the file of [`service`].
pub const SERVICE: &str = "kittymux.service";
/// The name of the file of [`timer`].
pub const TIMER: &str = "kittymux.timer";
/// The label of [`launch_agent`]; its file has this name and `.plist` behind it.
pub const LAUNCH_AGENT: &str = "io.github.kittymux.tick";

/// Where the path goes in the three texts.
const MARK: &str = "@KITTYMUX@";

/// The service for systemd's user manager, one `--tick` of `kittymux` (an absolute path).
#[must_use]
pub fn service(kittymux: &Path) -> String {
    let path = kittymux.as_os_str().as_bytes();
    // systemd refuses a program with these in its name and expands `$` in it for the program alone;
    // in a word behind the program everything can stand.
    let plain = std::str::from_utf8(path).is_ok_and(|p| !p.contains(odd_in_a_program));
    let program = if plain {
        unit_word(path)
    } else {
        format!(
            "/bin/sh -c {} {}",
            unit_word(b"exec \"$0\" \"$@\""),
            unit_word(path)
        )
    };
    include_str!("../../assets/systemd/kittymux.service").replace(MARK, &program)
}

/// The timer that starts [`service`], at login and every ten seconds.
#[must_use]
pub fn timer() -> &'static str {
    include_str!("../../assets/systemd/kittymux.timer")
}

/// The agent for launchd, which does what [`timer`] and [`service`] do together.
///
/// # Errors
/// When the path cannot be written in XML: not UTF-8, or with control characters in it.
pub fn launch_agent(kittymux: &Path) -> Outcome<String> {
    let path = kittymux
        .to_str()
        .filter(|p| p.chars().all(stands_in_xml))
        .ok_or_else(|| {
            Fault::refused(format!(
                "launchd cannot start {}: give kittymux a plainer path",
                crate::sys::out::visible(&crate::sys::bytes::from_os(kittymux.as_os_str()))
            ))
        })?;
    let text = include_str!("../../assets/launchd/io.github.kittymux.tick.plist");
    Ok(text.replace(MARK, &xml_text(path)))
}

fn odd_in_a_program(c: char) -> bool {
    c.is_control() || matches!(c, '"' | '\'' | '\\' | '$')
}

/// `bytes` as one word of systemd's command lines: quoted, with C's escapes, and with what stands
/// for other things (`%`, `$`) doubled.
fn unit_word(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'%' | b'$' => out.extend([char::from(byte); 2]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

/// Whether XML 1.0 has this character, and a reader gives it back as it is.
fn stands_in_xml(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn exec(path: &[u8]) -> String {
        service(Path::new(OsStr::from_bytes(path)))
            .lines()
            .find_map(|l| l.strip_prefix("ExecStart="))
            .expect("a line that starts us")
            .to_owned()
    }

    #[test]
    fn a_path_is_one_word_of_systemd() {
        for (path, line) in [
            ("/usr/bin/kittymux", r#""/usr/bin/kittymux" --tick"#),
            ("/my tools/kittymux", r#""/my tools/kittymux" --tick"#),
            ("/100%/kittymux", r#""/100%%/kittymux" --tick"#),
            ("/a;b #c/kittymux", r#""/a;b #c/kittymux" --tick"#),
            ("/é/kittymux", r#""/\xc3\xa9/kittymux" --tick"#),
        ] {
            assert_eq!(exec(path.as_bytes()), line);
        }
    }

    #[test]
    fn what_systemd_takes_in_no_program_stands_behind_a_shell() {
        let shell = r#"/bin/sh -c "exec \"$$0\" \"$$@\"" "#;
        for (path, word) in [
            (&b"/it's/k"[..], r#""/it's/k""#),
            (br#"/a"b/k"#, r#""/a\"b/k""#),
            (b"/a\\b/k", r#""/a\\b/k""#),
            (b"/$HOME/%h/k", r#""/$$HOME/%%h/k""#),
            (b"/\xff\n/k", r#""/\xff\x0a/k""#),
        ] {
            assert_eq!(exec(path), format!("{shell}{word} --tick"));
        }
    }

    #[test]
    fn a_path_is_one_text_of_the_plist() {
        let path = Path::new("/a & b/<é>/\"$1\" it's 100%/kittymux");
        let text = launch_agent(path).expect("a text");
        assert!(
            text.contains(
                "<string>/a &amp; b/&lt;é&gt;/\"$1\" it's 100%/kittymux</string>\n        <string>--tick</string>"
            ),
            "{text}"
        );
        for odd in [&b"/\xff/k"[..], b"/a\nb/k", b"/\x1b/k"] {
            let said = launch_agent(Path::new(OsStr::from_bytes(odd))).expect_err("refused");
            assert!(
                said.to_string().ends_with("give kittymux a plainer path"),
                "{said}"
            );
            assert!(!said.to_string().contains(char::is_control), "{said}");
        }
    }

    #[test]
    fn no_mark_is_left_and_a_path_that_has_one_is_written_as_it_is() {
        let path = Path::new("/@KITTYMUX@/kittymux");
        assert!(service(path).contains("ExecStart=\"/@KITTYMUX@/kittymux\" --tick\n"));
        let plain = Path::new("/usr/bin/kittymux");
        for text in [
            service(plain),
            timer().to_owned(),
            launch_agent(plain).expect("a text"),
        ] {
            assert!(!text.contains(MARK), "{text}");
        }
    }

    #[test]
    fn it_runs_at_login_and_every_ten_seconds_and_is_bound_to_no_session() {
        assert!(timer().contains("OnActiveSec=0\nOnUnitActiveSec=10s\nAccuracySec=1s\n"));
        assert!(timer().contains("WantedBy=timers.target\n"));
        let service = service(Path::new("/k"));
        let hardening: Vec<&str> = service
            .lines()
            .skip_while(|l| !l.starts_with("LogLevelMax=notice"))
            .skip(1)
            .filter(|l| !l.starts_with('#'))
            .collect();
        assert_eq!(
            hardening,
            [
                "NoNewPrivileges=yes",
                "MemoryDenyWriteExecute=yes",
                "RestrictAddressFamilies=AF_UNIX"
            ]
        );
        for text in [&service, timer()] {
            assert!(!text.contains("graphical-session") && !text.contains("Requires"));
        }
        let agent = launch_agent(Path::new("/k")).expect("a text");
        assert!(agent.contains("<key>StartInterval</key>\n    <integer>10</integer>"));
        assert!(agent.contains("<key>RunAtLoad</key>\n    <true/>"));
    }
}
