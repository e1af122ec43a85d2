//! Whether two saves hold the same desk: all but save ids, times and focus.

use crate::kitty::session_file::{Item, Origin, SessionFile};

/// Whether the two texts (without their first lines) hold the same.
#[must_use]
pub fn same_desk(a: &str, b: &str) -> bool {
    a == b || bare(a) == bare(b)
}

/// The lines that count, without what every save has anew.
fn bare(text: &str) -> Vec<String> {
    let file = SessionFile::read(text, Origin::Person, &[]);
    file.lines
        .iter()
        .filter(|line| {
            let word = line
                .text()
                .split_whitespace()
                .next()
                .unwrap_or("")
                .to_owned();
            !matches!(
                word.as_str(),
                "" | "focus" | "focus_tab" | "focus_os_window"
            )
        })
        .map(|line| match &line.item {
            Item::Launch(_) => without_ids(&line.text()),
            _ => line.text(),
        })
        .collect()
}

/// A launch line without the id of its save and the times in its record.
fn without_ids(line: &str) -> String {
    let mut text = line.to_owned();
    for (begin, end) in [
        ("--var=kittymux_save=", ' '),
        ("\"save\":\"", '"'),
        ("\"at\":\"", '"'),
    ] {
        let mut from = 0;
        while let Some(at) = text[from..].find(begin) {
            let start = from + at + begin.len();
            let stop = text[start..].find(end).map_or(text.len(), |n| start + n);
            text.replace_range(start..stop, "");
            from = start;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "\nnew_tab work\nlayout splits\ncd /p\n\nlaunch 'kitty-unserialize-data={\"id\": 1}' \
        '--env=KITTYMUX_RECORD={\"v\":1,\"sid\":\"A\",\"save\":\"aaa\",\"at\":\"2026-11-30T08:04:09Z\"}' --var=kittymux_save=aaa bash\nfocus\n\nfocus_tab 0\n";

    #[test]
    fn only_save_ids_times_and_focus_may_differ() {
        let later = ONE
            .replace("aaa", "bbb")
            .replace("08:04:09", "09:00:00")
            .replace("focus_tab 0", "focus_tab 1")
            .replace("\nfocus\n", "\n");
        assert!(same_desk(ONE, &later));
        for (from, to) in [
            ("\"sid\":\"A\"", "\"sid\":\"B\""),
            ("new_tab work", "new_tab other"),
            ("cd /p", "cd /q"),
            ("layout splits", "layout tall"),
            ("bash\n", "bash\nlaunch\n"),
            ("\"id\": 1", "\"id\": 2"),
        ] {
            assert!(!same_desk(ONE, &later.replace(from, to)), "{from}");
        }
    }
}
