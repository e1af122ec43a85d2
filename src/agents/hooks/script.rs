//! Agents that load a program of ours: a plugin, an extension. The whole file is ours; its first line
//! holds a check of the rest, so that one somebody changed is never overwritten.

use super::edit::{Rest, Who};
use super::groups::quoted;
use super::setup::Way;
use crate::sys::bytes::from_bytes;

use crate::sys::json;
use crate::sys::token::fingerprint;

/// What is written for one way.
struct Form {
    /// What stands before a remark, with which the first line begins.
    remark: &'static str,
    /// What stands before and behind the path, and before and behind the agent; none: the file is
    /// of no program.
    names: Option<[&'static str; 3]>,
    /// The rest.
    body: &'static str,
}

const SCRIPT: Option<[&str; 3]> = Some(["const program = ", ";\nconst agent = ", ";\n"]);

fn form(way: Way) -> Form {
    match way {
        Way::OpencodePlugin => Form {
            remark: "//",
            names: SCRIPT,
            body: include_str!("../../../assets/hooks/opencode.js"),
        },
        Way::HermesPlugin => Form {
            remark: "#",
            names: Some(["program = ", "\nagent = ", "\n"]),
            body: include_str!("../../../assets/hooks/hermes.py"),
        },
        Way::HermesManifest => Form {
            remark: "#",
            names: None,
            body: include_str!("../../../assets/hooks/hermes.yaml"),
        },
        _ => Form {
            remark: "//",
            names: SCRIPT,
            body: include_str!("../../../assets/hooks/pi.ts"),
        },
    }
}

/// What the first line goes on with, before the check.
const MARK: &str = " kittymux hooks ";

fn write(way: Way, who: Who<'_>) -> Vec<u8> {
    let form = form(way);
    let head = form
        .names
        .map_or(String::new(), |[before, between, behind]| {
            format!(
                "{before}{}{between}{}{behind}",
                quoted(who.program),
                quoted(who.agent)
            )
        });
    let rest = format!("{head}{}", form.body);
    let check = fingerprint(rest.as_bytes());
    format!("{}{MARK}{check:016x}\n{rest}", form.remark).into_bytes()
}

/// Our file and whether it is as we wrote it, with the path in it; `None`: it is not ours.
fn read(way: Way, text: &[u8]) -> Option<(bool, Option<String>)> {
    let form = form(way);
    let text = text.strip_prefix(form.remark.as_bytes())?;
    let text = text.strip_prefix(MARK.as_bytes())?;
    let end = text.iter().position(|b| *b == b'\n')?;
    let (check, rest) = (from_bytes(&text[..end]), &text[end + 1..]);
    let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let program = form.names.and_then(|[before, between, _]| {
        let behind = between.split('\n').next().unwrap_or_default();
        let line = line.strip_prefix(before.as_bytes())?;
        json::decode::<String>(line.strip_suffix(behind.as_bytes())?, 1 << 16).ok()
    });
    Some((check == format!("{:016x}", fingerprint(rest)), program))
}

pub(super) fn put_in(way: Way, who: Who<'_>, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    match old.map(|old| read(way, old)) {
        None | Some(Some((true, _))) => Ok(write(way, who)),
        Some(Some((false, _))) => {
            Err("somebody changed this file of ours: remove it first".to_owned())
        }
        Some(None) => Err("a file of that name is there that is not ours".to_owned()),
    }
}

pub(super) fn take_out(way: Way, text: &[u8]) -> Result<Rest, String> {
    match read(way, text) {
        None => Ok(Rest::Text(text.to_vec())),
        Some((true, _)) => Ok(Rest::Nothing),
        Some((false, _)) => {
            Err("somebody changed this file of ours: remove it yourself".to_owned())
        }
    }
}

pub(super) fn program_in(way: Way, text: &[u8]) -> Option<String> {
    read(way, text).map(|(_, program)| program.unwrap_or_default())
}
