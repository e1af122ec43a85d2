//! The help of every stand-in, in the grammar of its agent's option parser: the probe finds what it
//! needs, and what it reads there agrees with what the definition says.

use kittymux::agents::definitions::Definitions;
use kittymux::agents::grammar::{Takes, takes};
use kittymux::agents::probe::ask::{Answer, LIMIT, ask};
use kittymux::agents::probe::{Verdict, help, judge, merge, probe_of};

use crate::desk::Desk;

/// Whether a help text and a definition agree. A value that may be left out is told by no help of
/// yargs, and omp's says that one is needed where none is.
fn agrees(defined: Option<Takes>, told: Takes) -> bool {
    let one = |t: Takes| matches!(t, Takes::One | Takes::Maybe);
    defined.is_some_and(|d| d == told || (one(d) && one(told)))
}

/// gemini's help calls it a switch; it takes a value.
fn is_told_wrong(agent: &str, name: &str) -> bool {
    agent == "gemini" && ["-s", "--sandbox"].contains(&name)
}

fn check(agent: &str) {
    let desk = Desk::new();
    let all = Definitions::shipped();
    let def = all.get(agent).expect("shipped");
    for name in &def.names {
        let program = desk.program(name);
        let args = probe_of(def).args;
        let answer = ask(program.as_ref(), &args, &desk.path("home"), LIMIT);
        let Answer::Text { bytes, cut: false } = answer else {
            panic!("{name}: {answer:?}");
        };
        assert_eq!(judge(def, &bytes), Verdict::Fits, "{name}");
        let told = help::options(&bytes);
        let mut known = 0;
        let mut wrong = Vec::new();
        for option in &told {
            for name in &option.names {
                known += usize::from(takes(def, name).is_some());
                if !agrees(takes(def, name), option.takes) && !is_told_wrong(agent, name) {
                    wrong.push(format!(
                        "{name}: {:?}, {:?}",
                        takes(def, name),
                        option.takes
                    ));
                }
            }
        }
        // Where the definition has no lists, what the help says is news.
        let has_lists = !def.flags.one.is_empty();
        assert!(!has_lists || wrong.is_empty(), "{name}: {wrong:?}");
        assert!(known >= 2, "{name}: {known} known options in {told:?}");
        // Another program's help does not fit.
        assert_ne!(
            judge(def, b"usage: x [--verbose]\n"),
            Verdict::Fits,
            "{name}"
        );
        assert!(!has_lists || merge::news(def, told).len() <= 1, "{name}");
    }
}

macro_rules! helps {
    ($($test:ident $agent:literal),* $(,)?) => {
        $(#[test] fn $test() { check($agent); })*

        #[test]
        fn every_agent_has_a_test() {
            let tested = [$($agent),*];
            for def in Definitions::shipped().iter() {
                assert!(tested.contains(&def.name.as_str()), "{}", def.name);
            }
        }
    };
}

helps! {
    claude "claude", codex "codex", grok "grok", opencode "opencode", pi "pi", omp "omp", amp "amp",
    cursor_agent "cursor-agent", gemini "gemini", agy "agy", acli "acli", hermes "hermes",
    copilot "copilot", codebuddy "codebuddy", droid "droid", qodercli "qodercli", devin "devin",
    qwen "qwen", kilo "kilo", vibe "vibe", auggie "auggie", cline "cline", cn "cn", letta "letta",
    aider "aider", kimi "kimi",
}
