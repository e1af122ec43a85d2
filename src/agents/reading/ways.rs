//! The `find` key: a list of ways, each an object with its kind and its paths.

use super::{Place, Problem};
use crate::agents::find::paths::Pattern;
use crate::agents::ways::{KINDS, Way};
use crate::sys::json;

/// What one object of the list holds.
#[derive(Default)]
struct Found {
    way: String,
    at: Vec<String>,
    owner: Option<String>,
    unless: Option<String>,
    needs: Vec<String>,
    always: bool,
    children: bool,
}

pub fn read(place: &Place<'_>) -> Result<Vec<Way>, Problem> {
    let list = json::elements(place.raw())
        .ok_or_else(|| place.problem("this must be a list of { } objects with a \"way\""))?;
    list.iter().map(|span| one(place, span)).collect()
}

fn one(place: &Place<'_>, span: &std::ops::Range<usize>) -> Result<Way, Problem> {
    // Its members stand where the list stands.
    let member = json::Member {
        name: place.member.name.clone(),
        span: place.member.span.clone(),
        value: place.member.value.start + span.start..place.member.value.start + span.end,
    };
    let item = Place {
        text: place.text,
        member: &member,
        start: place.start,
        path: place.path.clone(),
    };
    let mut found = Found::default();
    item.inside(|key, at| {
        match key {
            "way" => found.way = at.text_of()?,
            "at" => found.at = at.texts().or_else(|_| at.text_of().map(|t| vec![t]))?,
            "owner" => found.owner = Some(at.text_of()?),
            "unless" => found.unless = Some(at.text_of()?),
            "needs" => found.needs = at.texts()?,
            "always" => found.always = at.yes_or_no()?,
            "children" => found.children = at.yes_or_no()?,
            _ => {
                let keys = [
                    "way", "at", "owner", "unless", "needs", "always", "children",
                ];
                return Err(at.unknown(key, &keys));
            }
        }
        Ok(())
    })?;
    way(place, found)
}

fn way(place: &Place<'_>, found: Found) -> Result<Way, Problem> {
    let Found {
        way,
        at: paths,
        owner,
        unless,
        needs,
        always,
        children,
    } = found;
    let path = |needed: &[&str]| -> Result<String, Problem> {
        let [at] = &paths[..] else {
            return Err(place.problem(format!("\"{way}\" needs one path as \"at\"")));
        };
        checked(place, at, needed)
    };
    Ok(match way.as_str() {
        "pid-file" => Way::PidFile {
            at: path(&["{pid}"])?,
            needs,
            always,
        },
        "run-files" => Way::RunFiles {
            at: project_path(place, path(&["{id}"])?)?,
        },
        "mark" => Way::Mark {
            at: path(&["{id}", "{pid}"])?,
        },
        "terminal" => Way::Terminal {
            at: path(&["{tty}"])?,
        },
        "held" => Way::Held {
            at: paths
                .iter()
                .map(|p| checked(place, p, &["{id}"]))
                .collect::<Result<_, _>>()?,
            children,
        },
        "transcripts" => Way::Transcripts {
            at: project_path(place, path(&["{id}"])?)?,
            unless,
        },
        "folders" => {
            let at = path(&["{id}"])?;
            let owner = owner.ok_or_else(|| place.problem("\"folders\" needs an \"owner\""))?;
            Way::Folders {
                at,
                owner: checked(place, &owner, &["{id}"])?,
            }
        }
        "codex-held" => Way::CodexHeld,
        "codex-rollouts" => Way::CodexRollouts,
        "gemini-projects" => Way::GeminiProjects,
        "cursor-chats" => Way::CursorChats,
        "agy-last" => Way::AgyLast,
        _ => {
            let kinds = KINDS.map(|k| format!("\"{k}\"")).join(", ");
            return Err(place.problem(format!("\"{way}\" is none of {kinds}")));
        }
    })
}

/// A path below the configuration directory, with what it must hold.
fn checked(place: &Place<'_>, path: &str, needed: &[&str]) -> Result<String, Problem> {
    let plain = !path.starts_with('/') && path.split('/').all(|c| !c.is_empty() && c != "..");
    if !plain {
        return Err(place.problem("a path must be relative and without \"..\""));
    }
    match needed.iter().find(|n| !path.contains(**n)) {
        Some(missing) => Err(place.problem(format!("\"{path}\" must hold {missing}"))),
        None => Ok(path.to_owned()),
    }
}

/// A path that holds one form of the project's directory.
fn project_path(place: &Place<'_>, path: String) -> Result<String, Problem> {
    match Pattern::read(&path) {
        Some(_) => Ok(path),
        None => Err(place.problem(format!(
            "\"{path}\" must hold one of {{letters}}, {{dashed}}, {{bare}}, {{short}}, {{home}}"
        ))),
    }
}
