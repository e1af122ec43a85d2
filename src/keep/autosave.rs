//! When a kitty is saved by itself: a decision over what was seen at each tick, on the boot clock.
//!
//! Nothing here knows how far ticks lie apart. Sleep counts as time, clock steps and reboots do no
//! harm: a state of another boot belongs to kitties that are gone.

/// How long the windows must have stood still, nanoseconds.
pub const STILL_NS: u64 = 20_000_000_000;

/// How far two saves lie apart at least, nanoseconds.
pub const APART_NS: u64 = 60_000_000_000;

/// After how long everything is looked at again, nanoseconds.
pub const PERIOD_NS: u64 = 15 * 60_000_000_000;

/// The set: what a change of makes a save due. Fingerprints, not the things themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Set {
    /// OS windows, tabs and windows, by id and place.
    pub windows: u64,
    /// Agent and session of each agent window.
    pub agents: u64,
}

/// What a tick sees of a kitty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The set.
    pub set: Set,
    /// Whether it has more than one window, an agent, or a restored window: enough for a first save.
    pub is_desk: bool,
}

/// What is remembered of a kitty from tick to tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watch {
    /// The set that was seen last.
    pub set: Set,
    /// Since when it has been that set, on the boot clock.
    pub since: u64,
    /// The set of the newest save and when it was taken, on the boot clock.
    pub saved: Option<(Set, u64)>,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// A save that kitty is asked for.
    Save,
    /// Only agents or their sessions changed: the save there is is rewritten, kitty is not asked.
    Rewrite,
    /// The regular look: a save, or a new date on the one there is where nothing differs.
    Regular,
}

/// Takes what a tick sees at `now` (boot clock, nanoseconds): what is remembered from here on, and
/// what is due. The caller sets `saved` once a save has gone well, so one that failed stays due.
#[must_use]
pub fn step(before: Option<Watch>, view: View, now: u64) -> (Watch, Due) {
    let mut watch = before.unwrap_or(Watch {
        set: view.set,
        since: now,
        saved: None,
    });
    if watch.set != view.set {
        watch.set = view.set;
        watch.since = now;
    }
    let still = now.saturating_sub(watch.since) >= STILL_NS;
    let due = match watch.saved {
        None if still && view.is_desk => Due::Save,
        None => Due::Nothing,
        Some((saved, at)) => {
            let age = now.saturating_sub(at);
            let may = still && age >= APART_NS;
            if may && saved.windows != view.set.windows {
                Due::Save
            } else if saved.windows == view.set.windows && saved.agents != view.set.agents {
                // At once: until then a crash would bring back a conversation that was left.
                Due::Rewrite
            } else if age >= PERIOD_NS {
                Due::Regular
            } else {
                Due::Nothing
            }
        }
    };
    (watch, due)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn view(windows: u64, agents: u64) -> View {
        View {
            set: Set { windows, agents },
            is_desk: true,
        }
    }

    /// Runs a day of a kitty: at each second that `ticks` gives, the view that `seen` gives; the
    /// seconds at which something was due. `works` says whether a save goes well.
    fn day(
        ticks: impl Iterator<Item = u64>,
        seen: impl Fn(u64) -> View,
        works: impl Fn(u64) -> bool,
    ) -> Vec<(u64, Due)> {
        let mut watch = None;
        let mut done = Vec::new();
        for at in ticks {
            let (mut next, due) = step(watch, seen(at), at * SECOND);
            if due != Due::Nothing {
                done.push((at, due));
                if works(at) {
                    next.saved = Some((next.set, at * SECOND));
                }
            }
            watch = Some(next);
        }
        done
    }

    fn every(step: usize, until: u64) -> impl Iterator<Item = u64> {
        (1000..1000 + until).step_by(step)
    }

    #[test]
    fn the_first_look_is_the_baseline_and_the_first_save_comes_when_all_stands_still() {
        let first = day(every(2, 60), |_| view(1, 1), |_| true);
        assert_eq!(first, [(1020, Due::Save)]);
        let plain = |_| View {
            is_desk: false,
            ..view(1, 0)
        };
        assert_eq!(day(every(10, 4000), plain, |_| true), []);
    }

    #[test]
    fn a_change_is_saved_once_it_has_stood_still_and_a_minute_after_the_last_save() {
        let seen = |at| view(if at < 1030 { 1 } else { 2 }, 0);
        assert_eq!(
            day(every(2, 300), seen, |_| true),
            [(1020, Due::Save), (1080, Due::Save)]
        );
        // A window every five seconds for fifty: only when it stops.
        let churn = |at: u64| view((at.clamp(1200, 1250) - 1200) / 5, 0);
        assert_eq!(
            day(every(1, 400), churn, |_| true),
            [(1020, Due::Save), (1270, Due::Save)]
        );
        // Gone and back within the time: nothing differs from the save.
        let back = |at| view(if (1100..1110).contains(&at) { 2 } else { 1 }, 0);
        assert_eq!(day(every(2, 300), back, |_| true), [(1020, Due::Save)]);
    }

    #[test]
    fn agents_alone_rewrite_the_save_there_is() {
        let seen = |at| view(1, u64::from(at >= 1100));
        assert_eq!(
            day(every(10, 300), seen, |_| true),
            [(1020, Due::Save), (1100, Due::Rewrite)]
        );
    }

    #[test]
    fn a_failed_save_is_tried_at_the_next_tick() {
        let seen = |_| view(1, 0);
        assert_eq!(
            day(every(10, 100), seen, |at| at >= 1040),
            [(1020, Due::Save), (1030, Due::Save), (1040, Due::Save)]
        );
    }

    #[test]
    fn every_quarter_of_an_hour_it_is_looked_at_again() {
        let regular: Vec<u64> = day(every(60, 4000), |_| view(1, 0), |_| true)
            .into_iter()
            .map(|(at, _)| at)
            .collect();
        assert_eq!(regular, [1060, 1960, 2860, 3760, 4660]);
        // Eight hours of sleep are one long step.
        let slept = [1000, 1020, 1030, 29_830, 29_840];
        assert_eq!(
            day(slept.into_iter(), |_| view(1, 0), |_| true),
            [(1020, Due::Save), (29_830, Due::Regular)]
        );
    }

    #[test]
    fn ticks_may_lie_any_time_apart() {
        for apart in [1, 2, 7, 10, 30, 60] {
            let seen = |at| view(if at < 1400 { 1 } else { 2 }, 0);
            let saves = day(every(apart, 800), seen, |_| true);
            assert_eq!(saves.len(), 2, "every {apart} s: {saves:?}");
        }
    }
}
