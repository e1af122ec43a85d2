//! Records that are too long for a launch line: kept in files of their own and named there instead.

use super::state::State;
use crate::sys::bytes::from_bytes;
use crate::sys::json;
use crate::sys::out;
use crate::sys::token::is_token;

/// The longest record.
const MAX: usize = 4 << 20;

/// The record's text: `text` itself, or what the file holds that it names.
///
/// # Errors
/// Why the file cannot be read, for a person.
pub fn resolve(text: &str, state: Option<&State>) -> Result<String, String> {
    let value =
        json::parse(text.as_bytes(), MAX).map_err(|e| format!("it is not JSON ({})", e.what))?;
    let Some(name) = json::text_at(&value, "file") else {
        return Ok(text.to_owned());
    };
    let shown = out::clip(&out::visible(name), 40);
    if !is_token(name) {
        return Err(format!("\"{shown}\" is no name of a record's file"));
    }
    let records = state
        .and_then(|s| s.records().ok())
        .ok_or("the state directory cannot be read")?;
    match records.read(name, MAX) {
        Ok(Some(bytes)) => Ok(from_bytes(&bytes)),
        Ok(None) => Err(format!("its file {shown} is not there any more")),
        Err(fault) => Err(fault.to_string()),
    }
}
