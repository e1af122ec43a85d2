//! What the journal forgets: old records, and the oldest closed ones where there are too many.

use super::document::Journal;
use super::session::Session;

/// How many records are kept.
pub const MOST: usize = 300;

/// How many are kept at the very most: sessions that are open are forgotten by age alone, unless
/// there are more than anybody can have opened.
const MOST_AT_ALL: usize = 3000;

/// How long a record is kept after its session was last seen.
pub const KEEP_NS: u64 = 90 * 86_400 * 1_000_000_000;

/// When a session was last heard of.
fn last(session: &Session) -> u64 {
    session.last_ns.max(session.closed_ns)
}

/// Forgets what is older than [`KEEP_NS`], then the oldest closed records above [`MOST`]. Records
/// that cannot be read have no age: they stay while there is room.
pub fn prune(journal: &mut Journal, now_ns: u64) {
    journal.retain(|s| s.is_none_or(|s| now_ns.saturating_sub(last(s)) <= KEEP_NS));
    forget(journal, MOST, |s| !s.open);
    let unreadable = journal.count() - journal.sessions().count();
    let mut spare = unreadable.min(journal.count().saturating_sub(MOST));
    journal.retain(|s| {
        let goes = s.is_none() && spare > 0;
        spare -= usize::from(goes);
        !goes
    });
    forget(journal, MOST_AT_ALL, |_| true);
}

/// Forgets the oldest of those that `may_go` until no more than `most` are left.
fn forget(journal: &mut Journal, most: usize, may_go: impl Fn(&Session) -> bool) {
    let mut over = journal.count().saturating_sub(most);
    if over == 0 {
        return;
    }
    let mut ages: Vec<u64> = journal.sessions().filter(|s| may_go(s)).map(last).collect();
    ages.sort_unstable();
    let Some(limit) = ages.get(over.min(ages.len()).saturating_sub(1)).copied() else {
        return;
    };
    journal.retain(|s| {
        let goes = over > 0 && s.is_some_and(|s| may_go(s) && last(s) <= limit);
        over -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400 * 1_000_000_000;

    fn session(n: u64, last: u64, open: bool) -> Session {
        Session {
            agent: "claude".into(),
            sid: format!("s{n}"),
            last_ns: last,
            open,
            ..Session::default()
        }
    }

    fn left(journal: &Journal) -> Vec<&str> {
        journal.sessions().map(|s| s.sid.as_str()).collect()
    }

    #[test]
    fn what_is_older_than_ninety_days_goes() {
        let mut journal = Journal::default();
        let now = 1000 * DAY;
        for (n, age, open) in [(0, 91, false), (1, 91, true), (2, 89, false), (3, 89, true)] {
            journal.add(session(n, now - age * DAY, open));
        }
        // A clock that went back makes nothing old.
        journal.add(session(4, now + 500 * DAY, false));
        prune(&mut journal, now);
        assert_eq!(left(&journal), ["s2", "s3", "s4"]);
    }

    #[test]
    fn of_too_many_the_oldest_closed_go_and_open_ones_stay() {
        let mut journal = Journal::default();
        let now = 1000 * DAY;
        for n in 0..200 {
            journal.add(session(n, now - 80 * DAY + n, true));
        }
        for n in 200..400 {
            journal.add(session(n, now - n, false));
        }
        prune(&mut journal, now);
        let left = left(&journal);
        assert_eq!(left.len(), MOST);
        assert!((0..200).all(|n| left.contains(&format!("s{n}").as_str())));
        assert!((200..300).all(|n| left.contains(&format!("s{n}").as_str())));
        let mut open = Journal::default();
        for n in 0..MOST as u64 + 50 {
            open.add(session(n, now, true));
        }
        prune(&mut open, now);
        assert_eq!(open.count(), MOST + 50);
    }

    #[test]
    fn records_of_one_moment_are_counted_one_by_one() {
        let mut journal = Journal::default();
        for n in 0..MOST as u64 + 7 {
            journal.add(session(n, DAY, false));
        }
        prune(&mut journal, 2 * DAY);
        assert_eq!(journal.count(), MOST);
    }

    #[test]
    fn records_that_cannot_be_read_stay_while_there_is_room() {
        let text = format!("{{\"sessions\":[{}]}}", vec!["{\"x\":1}"; 400].join(","));
        let mut journal = Journal::read(text.as_bytes());
        journal.add(session(1, DAY, true));
        prune(&mut journal, DAY);
        assert_eq!((journal.count(), journal.sessions().count()), (MOST, 1));
    }
}
