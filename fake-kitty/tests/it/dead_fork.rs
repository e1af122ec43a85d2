//! The recorded fault in which kitty leaves a fork of itself in a window.

use crate::program::{connect, start};
use crate::sessions::tails;
use crate::support::{Person, eventually};
use fake_kitty::json;
use serde_json::{Value, json};

/// A fork of kitty that could not become a shell, nor the program that says so: it has kitty's own
/// command line, so this case needs the program itself.
pub fn a_command_too_long_for_the_environment(person: &Person, case: &Value) {
    let home = person.home();
    let long = "x".repeat(140_000);
    let file = person.dir.write(
        "home/user/sessions/startup-140k.kitty-session",
        format!("launch {home}/bin/agent.sh ok\nlaunch 'kitty-unserialize-data={{\"id\": 1, \"cmd_at_shell_startup\": \": {long}\"}}'\n"),
    );
    let file = file.display().to_string();
    let socket = person.dir.path("home/user/long-{kitty_pid}");
    let conf = person.dir.write(
        "home/user/sessions/kitty.conf",
        format!(
            "allow_remote_control yes\nlisten_on unix:{}\nshell /bin/bash\n",
            socket.display()
        ),
    );
    let conf = conf.display().to_string();
    let begin = |more: &[&str]| {
        let mut words = vec!["--config", conf.as_str()];
        words.extend(more);
        let running = start(person, &words);
        let socket = person
            .dir
            .path(&format!("home/user/long-{}", running.0.id()));
        (connect(&socket), running)
    };
    let scrubbed = |value: Value| json::parse(&person.scrub(&value.to_string())).unwrap();
    let (mut c, running) = begin(&["--session", &file]);
    eventually("startup-140k", || {
        let got = json!([[tails(&c.windows(), 3)]]);
        scrubbed(got) == case["state"]
    });
    // It ends with kitty.
    let dead = c.windows()[1]["pid"].as_u64().unwrap();
    drop((c, running));
    eventually("its end", || {
        !std::path::Path::new(&format!("/proc/{dead}")).exists()
    });
    let (mut c, _running) = begin(&[]);
    assert_eq!(
        c.action(&format!("goto_session '{file}'")),
        case["goto_reply"]
    );
    let want: Vec<Value> = case["goto_windows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| json!([w[0], w[1]]))
        .collect();
    eventually("goto startup-140k", || {
        let windows = c.windows();
        let got: Vec<Value> = windows
            .iter()
            .filter(|w| w["session_name"] != "")
            .map(|w| json!([tails(std::slice::from_ref(w), 2)[0], w["session_name"]]))
            .collect();
        scrubbed(Value::from(got)) == Value::from(want.clone())
    });
}
