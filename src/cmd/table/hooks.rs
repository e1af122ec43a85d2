//! The verbs around agents' hooks.

use super::{JSON, Opt, Verb};
use crate::cmd;

const AGENT: Opt = Opt {
    name: "agent",
    value: "AGENT",
    about: "this agent; the same as its name alone",
};

const DRY_RUN: Opt = Opt {
    name: "dry-run",
    value: "",
    about: "write nothing, show what would change",
};

pub(super) const SETUP: Verb = Verb {
    words: &["hooks", "setup"],
    args: "[AGENT…]",
    most: 64,
    about: "have agents tell kittymux which conversation they are in",
    more: "It puts `kittymux hook AGENT` into the settings of every agent on PATH, or of those named:\n\
           from then on a save knows the conversation by the agent's own word, and the journal what it\n\
           does. All else in the settings stays to the byte; the first original is kept beside the file\n\
           as FILE.before-kittymux. A second run changes nothing. Agents read it at their next start.",
    examples: &[
        (
            "kittymux hooks setup --dry-run",
            "what would be written, and where",
        ),
        ("kittymux hooks setup claude", "for claude alone"),
        ("kittymux hooks setup", "for every agent on PATH"),
    ],
    options: &[
        AGENT,
        Opt {
            name: "full",
            value: "",
            about: "also what the agent asks you to review first (codex)",
        },
        DRY_RUN,
    ],
    listed: true,
    run: cmd::hooks::setup,
};

pub(super) const REMOVE: Verb = Verb {
    words: &["hooks", "remove"],
    args: "[AGENT…]",
    most: 64,
    about: "take it out of the agents' settings again",
    more: "A file that nobody changed since is as it was, to the byte, and one that holds nothing else is\n\
           removed. Where it was changed only what is ours is taken out, and the original stays beside it.",
    examples: &[
        (
            "kittymux hooks remove --dry-run",
            "what would be taken out, and where",
        ),
        ("kittymux hooks remove claude", "of claude's settings alone"),
    ],
    options: &[AGENT, DRY_RUN],
    listed: true,
    run: cmd::hooks::remove,
};

pub(super) const STATUS: Verb = Verb {
    words: &["hooks", "status"],
    args: "[AGENT…]",
    most: 64,
    about: "show which agents tell kittymux, and where that is written",
    more: "changed since: something of ours is there, but not all of it, or with another path; setup puts\n\
           it right. unknown: nobody knows how that agent is told.",
    examples: &[("kittymux hooks status", "every agent it knows")],
    options: &[AGENT, JSON],
    listed: true,
    run: cmd::hooks::status,
};

pub(super) const HOOK: Verb = Verb {
    words: &["hook"],
    args: "AGENT [EVENT]",
    most: 64,
    about: "what an agent's hook runs: write down one event of it",
    more: "The event comes on standard input, as JSON. From then on a save knows the conversation by the\n\
           agent's own word, and the journal what it does. It prints only what the agent wants to read,\n\
           and never fails it. Behind --then comes a program that is started in its place afterwards.",
    examples: &[],
    options: &[],
    listed: false,
    run: cmd::hook::run,
};
