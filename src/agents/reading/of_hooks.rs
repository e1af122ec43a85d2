//! The key `hooks` of a definition.

use super::{Place, Problem};
use crate::agents::hooks::{Hooks, Setup, setup};
use crate::sys::json::JsonValue;

/// Reads it.
pub(super) fn hooks(place: &Place<'_>) -> Result<Hooks, Problem> {
    let mut hooks = Hooks::default();
    place.inside(|key, at| {
        match key {
            "event" => {
                hooks.event = match at.value()? {
                    JsonValue::String(text) => vec![text],
                    _ => at.texts()?,
                }
            }
            "hidden" => {
                hooks.hidden = at.texts()?;
                if hooks.hidden.len() != 2 {
                    return Err(at.problem("this must be a field and how its text begins"));
                }
            }
            "says" => hooks.says = at.text_of()?,
            "unknown" => hooks.unknown = at.text_of()?,
            "setup" => hooks.setup = Some(one(at)?),
            "beside" => hooks.beside = Some(one(at)?),
            "more" => hooks.more = Some(one(at)?),
            _ => match hooks.list(key) {
                Some(list) => *list = at.texts()?,
                None => return Err(at.unknown(key, &Hooks::KEYS)),
            },
        }
        Ok(())
    })?;
    if hooks.event.is_empty() && hooks.setup.is_none() && hooks.unknown.is_empty() {
        return Err(place.problem("\"event\" must name the field that holds the event's name"));
    }
    Ok(hooks)
}

fn one(place: &Place<'_>) -> Result<Setup, Problem> {
    let mut found = Setup::default();
    place.inside(|key, at| {
        match key {
            "way" => found.way = at.choice(&setup::WAYS)?,
            "file" => found.file = at.texts()?,
            "events" => found.events = at.texts()?,
            "entry" => found.entry = object(at)?,
            "base" => found.base = object(at)?,
            "warning" => found.warning = at.text_of()?,
            _ => return Err(at.unknown(key, &Setup::KEYS)),
        }
        Ok(())
    })?;
    if found.file.is_empty() {
        return Err(place.problem("\"file\" must name the settings file"));
    }
    if found.way == setup::Way::Json
        && (found.events.is_empty() || !found.entry.contains("{command}"))
    {
        return Err(place.problem("it needs \"events\", and an \"entry\" with {command} in it"));
    }
    Ok(found)
}

/// The text of an object on one line.
fn object(place: &Place<'_>) -> Result<String, Problem> {
    match place.value()? {
        JsonValue::Object(_) => {
            let lines = place.raw().lines().map(str::trim);
            Ok(lines.collect::<Vec<_>>().join(" "))
        }
        _ => Err(place.problem("this must be a { } object")),
    }
}
