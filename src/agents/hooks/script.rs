//! Agents that load a program of ours: a plugin, an extension. The whole file is ours; its first line
//! holds a check of the rest, so that one somebody changed is never overwritten.

use super::edit::{Rest, Who};
use super::setup::Way;
use crate::sys::bytes::from_bytes;
use crate::sys::json::{self, push_string};
use crate::sys::token::fingerprint;

const OPENCODE: &str = include_str!("../../../assets/hooks/opencode.js");
const PI: &str = include_str!("../../../assets/hooks/pi.ts");

/// What the first line begins with.
const MARK: &str = "// kittymux hooks ";

/// What stands before the path and the agent in the second.
const PROGRAM: &str = "const program = ";

fn write(way: Way, who: Who<'_>) -> Vec<u8> {
    let text = |text: &str| {
        let mut out = String::new();
        push_string(&mut out, text);
        out
    };
    let body = if way == Way::OpencodePlugin {
        OPENCODE
    } else {
        PI
    };
    let rest = format!(
        "{PROGRAM}{};\nconst agent = {};\n{body}",
        text(who.program),
        text(who.agent)
    );
    format!("{MARK}{:016x}\n{rest}", fingerprint(rest.as_bytes())).into_bytes()
}

/// Our file and whether it is as we wrote it; `None`: it is not ours.
fn read(text: &[u8]) -> Option<(bool, Option<String>)> {
    let text = text.strip_prefix(MARK.as_bytes())?;
    let end = text.iter().position(|b| *b == b'\n')?;
    let (check, rest) = (from_bytes(&text[..end]), &text[end + 1..]);
    let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let program = line
        .strip_prefix(PROGRAM.as_bytes())
        .and_then(|l| l.strip_suffix(b";"))
        .and_then(|l| json::decode::<String>(l, 1 << 16).ok());
    Some((check == format!("{:016x}", fingerprint(rest)), program))
}

pub(super) fn put_in(way: Way, who: Who<'_>, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    match old.map(read) {
        None | Some(Some((true, _))) => Ok(write(way, who)),
        Some(Some((false, _))) => {
            Err("somebody changed this file of ours: remove it first".to_owned())
        }
        Some(None) => Err("a file of that name is there that is not ours".to_owned()),
    }
}

pub(super) fn take_out(text: &[u8]) -> Result<Rest, String> {
    match read(text) {
        None => Ok(Rest::Text(text.to_vec())),
        Some((true, _)) => Ok(Rest::Nothing),
        Some((false, _)) => {
            Err("somebody changed this file of ours: remove it yourself".to_owned())
        }
    }
}

pub(super) fn program_in(text: &[u8]) -> Option<String> {
    read(text).map(|(_, program)| program.unwrap_or_default())
}
