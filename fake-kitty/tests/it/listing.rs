//! `ls` against the recorded listings.

use crate::support::{Client, Person, data};
use fake_kitty::json;
use serde_json::Value;

/// The listing now, with the person's directory cut out.
pub fn scrubbed(person: &Person, c: &mut Client) -> Value {
    let text = c.ls(serde_json::json!({})).to_string();
    json::parse(&person.scrub(&text)).unwrap()
}

/// Compares everything that does not depend on the machine: numbers of processes, times, sizes in cells and
/// the environment are left out.
pub fn same_as_capture(name: &str, listing: &Value) {
    let mut want = json::parse(&data(name)).unwrap();
    let mut got = listing.clone();
    for v in [&mut want, &mut got] {
        neutral(v);
    }
    let (want, got) = (json::dumps_pretty(&want), json::dumps_pretty(&got));
    let differs = want
        .lines()
        .zip(got.lines())
        .enumerate()
        .find(|(_, (w, g))| w != g);
    assert_eq!(differs, None, "{name}");
    assert_eq!(want.lines().count(), got.lines().count(), "{name}");
}

fn neutral(v: &mut Value) {
    match v {
        Value::Array(items) => items.iter_mut().for_each(neutral),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "pid"
                    | "created_at"
                    | "last_focused_at"
                    | "platform_window_id"
                    | "columns"
                    | "lines"
                    | "env"
                    | "last_cmd_exit_status" => *value = Value::Null,
                    _ => neutral(value),
                }
            }
        }
        _ => {}
    }
}
