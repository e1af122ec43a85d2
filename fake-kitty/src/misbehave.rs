//! Answers that kitty 0.48.2 would not give.

use serde_json::{Value, json};

/// Takes out of a listing what kitty 0.26.5 did not have yet.
pub fn age(list: &mut Value) {
    for os in list.as_array_mut().into_iter().flatten() {
        drop_keys(os, &["background_opacity", "last_focused"]);
        for tab in os
            .get_mut("tabs")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            drop_keys(
                tab,
                &[
                    "layout_state",
                    "layout_opts",
                    "enabled_layouts",
                    "groups",
                    "title_overridden",
                ],
            );
            for w in tab
                .get_mut("windows")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                drop_keys(
                    w,
                    &[
                        "at_prompt",
                        "created_at",
                        "has_activity_since_last_focus",
                        "in_alternate_screen",
                        "last_cmd_exit_status",
                        "last_focused_at",
                        "last_reported_cmdline",
                        "needs_attention",
                        "neighbors",
                        "session_name",
                        "title_overridden",
                        "user_vars",
                    ],
                );
            }
        }
    }
}

fn drop_keys(v: &mut Value, keys: &[&str]) {
    if let Some(map) = v.as_object_mut() {
        map.retain(|k, _| !keys.contains(&k.as_str()));
    }
}

/// Makes a listing about 5 MB long, by one environment variable of its first window.
pub fn blow_up(list: &mut Value) {
    let window = list.pointer_mut("/0/tabs/0/windows/0/env");
    if let Some(Value::Object(env)) = window {
        env.insert("FAKE_KITTY_FILLER".into(), json!("x".repeat(5_000_000)));
    }
}
