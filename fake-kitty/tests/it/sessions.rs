//! Opening session files: every recorded fault, and what `goto_session` does.

use crate::dead_fork::a_command_too_long_for_the_environment;
use crate::support::{Client, Person, data, eventually};
use fake_kitty::{FakeKitty, json};
use serde_json::{Value, json};

/// What is in the file of each recorded case.
fn contents(name: &str) -> Option<Vec<u8>> {
    const OK: &str = "launch /home/user/bin/agent.sh ok\n";
    let after = |line: &str| Some(format!("{OK}{line}\n").into_bytes());
    let before = |lines: &str| Some(format!("{lines}\n{OK}").into_bytes());
    let data = |d: &str| after(&format!("launch 'kitty-unserialize-data={d}'"));
    match name {
        "ok" => Some(OK.into()),
        "parse-unknown-kw" => after("frob x"),
        "parse-newline-arg" => after("launch /home/user/bin/agent.sh 'a\nb'"),
        "parse-help" => after("launch --help"),
        "utf8-bad" => Some(b"launch /bin/true \xff\n".to_vec()),
        "surrogate-in-startup" => data(r#"{"id": 1, "cmd_at_shell_startup": "echo \udc80"}"#),
        "surrogate-list" => data(r#"{"id": 1, "cmd_at_shell_startup": ["echo", "\udc80"]}"#),
        "nul-in-startup" => data(r#"{"id": 1, "cmd_at_shell_startup": "echo a\u0000b"}"#),
        "startup-100k" => {
            let long = "x".repeat(100_000);
            Some(
                format!("launch 'kitty-unserialize-data={{\"id\": 1, \"cmd_at_shell_startup\": \": {long}\"}}'\n")
                    .into_bytes(),
            )
        }
        "startup-not-str" => data(r#"{"id": 1, "cmd_at_shell_startup": ["a", 5]}"#),
        "startup-dict" => data(r#"{"id": 1, "cmd_at_shell_startup": {"true": 1}}"#),
        "prog-missing" => after("launch /nonexistent/prog"),
        "prog-not-exec" => after("launch /home/user/.bashrc"),
        "bg-no-cmd" => after("launch --type=background"),
        "bg-missing-cmd" => after("launch --type=background /nonexistent/x"),
        "type-tab" => after("launch --type=tab /home/user/bin/agent.sh t"),
        "type-oswindow" => after("launch --type=os-window /home/user/bin/agent.sh t"),
        "overlay-first" => Some(b"launch --type=overlay /home/user/bin/agent.sh ov\n".to_vec()),
        "hold-after-ssh" => after("launch --hold-after-ssh /home/user/bin/agent.sh"),
        "bad-color" => after("launch --color=frob=zz /home/user/bin/agent.sh"),
        "missing-watcher" => after("launch --watcher=/nonexistent.py /home/user/bin/agent.sh"),
        "bad-env" => after("launch --env= --env==x /home/user/bin/agent.sh"),
        "bad-spacing" => after("launch --spacing=frob /home/user/bin/agent.sh"),
        "bad-next-to" => after("launch --next-to=frob: /home/user/bin/agent.sh"),
        "bad-focus_tab" => after("focus_tab frob bar("),
        "focus_tab-oor" => after("focus_tab 99"),
        "layout-state-list" => before("new_tab\nset_layout_state [1]"),
        "layout-state-wrongids" => {
            let state = r#"{"class": "Splits", "pairs": {"one": 77, "two": 78}, "opts": {}, "all_windows": {"active_group_idx": 5, "active_group_history": [9], "window_groups": [{"id": 77, "window_ids": [400]}]}}"#;
            Some(format!("new_tab\nlayout splits\nset_layout_state {state}\n{OK}launch /home/user/bin/agent.sh ok2\n").into())
        }
        "layout-state-missingkeys" => before("new_tab\nlayout splits\nset_layout_state {\"class\": \"Splits\"}"),
        "layout-state-wrongclass" => {
            Some(format!("new_tab\nlayout tall\nset_layout_state {{\"class\": \"Splits\"}}\n{OK}launch /home/user/bin/agent.sh ok2\n").into())
        }
        "layout-bad-opts" => before("new_tab\nlayout tall:bias=abc;frob=1"),
        "os_window_state-bad" => before("os_window_state frob"),
        "leading-new_os_window" => before("\n\nnew_os_window\n\nnew_tab x"),
        "empty" => Some(Vec::new()),
        "resize-bad" => after("resize_window frob"),
        "focus_matching-bad" => after("focus_matching_window frob:"),
        "var-newline-ish" => Some(b"launch '--var=a=x\\ny' /home/user/bin/agent.sh ok\n".to_vec()),
        "var-noname" => Some(b"launch --var==x /home/user/bin/agent.sh ok\n".to_vec()),
        "title-1MB" => {
            Some(format!("launch --title={} /home/user/bin/agent.sh ok\n", "t".repeat(1 << 20)).into_bytes())
        }
        "nul-arg" => Some(b"launch /home/user/bin/agent.sh a\0b\n".to_vec()),
        _ => None,
    }
}

/// The last words of the command lines of the windows, as the recorder kept them.
pub fn tails(windows: &[Value], n: usize) -> Value {
    let tail = |w: &Value| {
        let all = w["cmdline"].as_array().unwrap();
        all[all.len().saturating_sub(n)..].to_vec()
    };
    windows.iter().map(tail).collect()
}

#[test]
fn every_recorded_fault_does_what_it_did_in_kitty() {
    let person = Person::new("faults");
    let cases = json::parse(&data("restore-errors.json")).unwrap();
    for (name, case) in cases.as_object().unwrap() {
        let Some(body) = contents(name) else {
            assert_eq!(name, "startup-140k");
            a_command_too_long_for_the_environment(&person, case);
            continue;
        };
        let root = person.home().into_bytes();
        let body = replace(&body, b"/home/user", &root);
        let file = person
            .dir
            .write(&format!("home/user/sessions/{name}.kitty-session"), body);
        match FakeKitty::start(person.config().session(&file)) {
            Err(e) => {
                assert_eq!(case["session"], "DIED", "{name}: {e}");
                let last = case["log"][0].as_str().unwrap();
                let last = last.split_once(": ").unwrap().1;
                assert_eq!(last, e.to_string(), "{name}");
            }
            Ok(kitty) => {
                assert_eq!(case["session"], "alive", "{name}");
                let mut c = Client::connect(kitty.socket().unwrap());
                let want = json::parse(&case["state"].to_string()).unwrap();
                eventually(name, || {
                    let list = c.ls(json!({}));
                    let got: Vec<Value> = list
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|o| {
                            let tabs = o["tabs"].as_array().unwrap();
                            tabs.iter()
                                .map(|t| tails(t["windows"].as_array().unwrap(), 3))
                                .collect()
                        })
                        .collect();
                    json::parse(&person.scrub(&Value::Array(got).to_string())).unwrap() == want
                });
                for (i, text) in case["overlay_text"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .enumerate()
                {
                    let squeezed = |s: &str| s.split_whitespace().collect::<String>();
                    let want = text.as_str().unwrap().split(" failed").next().unwrap();
                    let want = squeezed(want.lines().next().unwrap());
                    eventually(&format!("{name}: the text"), || {
                        let shown =
                            |w: &fake_kitty::WindowSnapshot| w.text.contains("Press Enter or Esc");
                        let shown = kitty.windows().into_iter().filter(shown).nth(i);
                        shown.is_some_and(|w| squeezed(&person.scrub(&w.text)).contains(&want))
                    });
                }
            }
        }
        goto_case(&person, name, case, &file.display().to_string());
    }
}

fn goto_case(person: &Person, name: &str, case: &Value, file: &str) {
    let kitty = FakeKitty::start(person.config().command(["sleep", "9999"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    assert_eq!(
        c.action(&format!("goto_session '{file}'")),
        case["goto_reply"],
        "{name}"
    );
    let want: Vec<(Value, String)> = case["goto_windows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w[0].clone(), w[1].as_str().unwrap().to_owned()))
        .collect();
    eventually(&format!("goto {name}"), || {
        let windows: Vec<Value> = c.windows().into_iter().filter(|w| w["id"] != 1).collect();
        let mut got: Vec<(Value, String)> = windows
            .iter()
            .map(|w| {
                let tail = tails(std::slice::from_ref(w), 2)[0].to_string();
                let tail = json::parse(&person.scrub(&tail)).unwrap();
                (tail, w["session_name"].as_str().unwrap().to_owned())
            })
            .collect();
        // kitty's own windows come first in the listing: they lie over an older window.
        got.sort_by_key(|(_, session)| !session.is_empty());
        got == want
    });
}

fn replace(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < body.len() {
        if body[at..].starts_with(from) {
            out.extend_from_slice(to);
            at += from.len();
        } else {
            out.push(body[at]);
            at += 1;
        }
    }
    out
}

fn names(kitty: &FakeKitty) -> Vec<(u64, String)> {
    kitty
        .windows()
        .into_iter()
        .map(|w| (w.id, w.session))
        .collect()
}

#[test]
fn goto_session_opens_once_and_then_only_switches() {
    let person = Person::new("goto");
    let h = person.home();
    let one = person.dir.write(
        "home/user/sessions/my proj.kitty-session",
        format!(
            "new_tab one\nlaunch {h}/bin/agent.sh 1\nnew_os_window\nlaunch {h}/bin/agent.sh 2\n"
        ),
    );
    person.dir.write(
        "home/user/.config/kitty/two.session",
        format!("launch {h}/bin/agent.sh 3\n"),
    );
    person.dir.write(
        "elsewhere/two.kitty-session",
        format!("launch {h}/bin/agent.sh 4\n"),
    );
    let kitty = FakeKitty::start(person.config().command(["sleep", "9999"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    c.action(&format!("goto_session '{}'", one.display()));
    let opened = vec![
        (1, String::new()),
        (2, "my proj".to_owned()),
        (3, "my proj".to_owned()),
    ];
    assert_eq!(names(&kitty), opened);
    let list = c.ls(json!({}));
    assert_eq!(
        list[0]["tabs"].as_array().unwrap().len(),
        2,
        "its first OS window is the active one"
    );
    assert_eq!(list.as_array().unwrap().len(), 2);
    // A relative path is one of the configuration directory; the stem is the name.
    c.action("goto_session two.session");
    assert_eq!(names(&kitty).last().unwrap(), &(4, "two".to_owned()));
    let elsewhere = person
        .dir
        .path("elsewhere/two.kitty-session")
        .display()
        .to_string();
    c.call("focus-window", json!({"match": "id:1"}));
    c.action(&format!("goto_session {elsewhere}"));
    assert_eq!(
        names(&kitty).len(),
        4,
        "the same stem elsewhere only switches"
    );
    let focused = |c: &mut Client| {
        c.ls(json!({"match": "state:focused"}))[0]["tabs"][0]["windows"][0]["id"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(focused(&mut c), 4);
    c.action("goto_session -1");
    assert!([2, 3].contains(&focused(&mut c)));
    c.action("goto_session -- -1");
    assert_eq!(focused(&mut c), 4);
    // Unquoted, the first word is the path: nothing is there, which kitty only logs.
    assert_eq!(
        c.action(&format!("goto_session {h}/sessions/no pe.kitty-session")),
        json!({"ok": true})
    );
    let missing = format!("Failed to read from session file, ignoring: {h}/sessions/no");
    assert!(
        kitty.messages().contains(&missing),
        "{:?}",
        kitty.messages()
    );
    assert_eq!(names(&kitty).len(), 4);
    // By match: a regular expression, `.` for the current one.
    for (expression, n) in [
        ("session:^two$", 1),
        ("session:\"my proj\"", 2),
        ("session:.", 1),
        ("session:^$", 1),
    ] {
        let found = crate::support::windows_of(&c.ls(json!({"match": expression}))).len();
        assert_eq!(found, n, "{expression}");
    }
    // agent.sh is no prompt, so closing asks first.
    c.action("close_session two");
    assert!(kitty.windows().iter().any(|w| w.title == "Close session"));
    c.action("close_session nobody");
}

#[test]
fn goto_session_of_a_directory_shows_a_chooser() {
    let person = Person::new("goto-dir");
    let kitty = FakeKitty::start(person.config().command(["sleep", "9999"])).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    std::fs::create_dir_all(person.dir.path("home/user/empty")).unwrap();
    c.action(&format!("goto_session {}/empty", person.home()));
    eventually("no files", || {
        kitty
            .windows()
            .iter()
            .any(|w| w.title == "No session files found")
    });
    person
        .dir
        .write("home/user/empty/x.kitty-session", "launch\n");
    c.action(&format!("goto_session {}/empty", person.home()));
    eventually("chooser", || {
        kitty
            .windows()
            .iter()
            .any(|w| w.text.lines().any(|l| l.trim() == "x"))
    });
    assert!(
        kitty
            .windows()
            .iter()
            .filter(|w| w.id != 1)
            .all(|w| w.at_prompt),
        "kitty's own windows say so"
    );
}

#[test]
fn some_words_are_replaced_by_goto_session_but_not_at_the_start() {
    let person = Person::new("at-words");
    let agent = format!("{}/bin/agent.sh", person.home());
    let words = "@active-kitty-window-id @scrolled-by @first-line-on-screen @selection @x";
    let file = person.dir.write(
        "home/user/sessions/at.kitty-session",
        format!("launch {agent} {words} end\n"),
    );
    let kitty = FakeKitty::start(person.config().session(&file)).unwrap();
    let argv = |k: &FakeKitty, id| k.window(id).unwrap().foreground[0].1[2..].join("|");
    eventually("start", || {
        kitty
            .window(1)
            .is_some_and(|w| w.foreground.len() == 1 && w.foreground[0].1.len() > 2)
    });
    assert_eq!(argv(&kitty, 1), format!("{}|end", words.replace(' ', "|")));
    drop(kitty);
    let kitty = FakeKitty::start(person.config().command(["sleep", "9999"])).unwrap();
    Client::connect(kitty.socket().unwrap()).action(&format!("goto_session {}", file.display()));
    eventually("start", || {
        kitty
            .window(2)
            .is_some_and(|w| w.foreground.len() == 1 && w.foreground[0].1.len() > 2)
    });
    assert_eq!(argv(&kitty, 2), "1|0||@selection|@x|end");
}

#[test]
fn layout_state_groups_and_focus_come_back() {
    let person = Person::new("layouts");
    let text = data("save-layouts.kitty-session").replace("/home/user", &person.home());
    let file = person.dir.write("home/user/sessions/l.kitty-session", text);
    let kitty = FakeKitty::start(person.config().session(&file)).unwrap();
    let mut c = Client::connect(kitty.socket().unwrap());
    eventually("prompts", || kitty.windows().iter().all(|w| w.at_prompt));
    assert_eq!(data("save-layouts.kitty-session"), person.save(&mut c, ""));
}

#[test]
fn a_line_in_the_background_runs_once_and_has_a_socket_of_its_own() {
    let person = Person::new("background");
    let h = person.home();
    person.dir.script(
        "home/user/bin/over-fd",
        "#!/usr/bin/env python3\n\
         import os, socket, json\n\
         n = int(os.environ['KITTY_LISTEN_ON'].removeprefix('fd:'))\n\
         s = socket.socket(fileno=n)\n\
         s.sendall(b'\\x1bP@kitty-cmd' + json.dumps({'cmd': 'ls', 'version': [0, 26, 0]}).encode() + b'\\x1b\\\\')\n\
         got = s.recv(65536)\n\
         env = [k for k in ('KITTY_PID', 'KITTY_WINDOW_ID', 'PWD') if k in os.environ]\n\
         open(os.environ['HOME'] + '/told.new', 'w').write(repr([got[:30], env, os.getcwd(), os.environ.get('A')]))\n\
         os.rename(os.environ['HOME'] + '/told.new', os.environ['HOME'] + '/told')\n",
    );
    let file = person.dir.write(
        "home/user/sessions/b.kitty-session",
        format!("cd {h}/proj/a\nlaunch --type=background --allow-remote-control --env=A=b over-fd\nlaunch {h}/bin/agent.sh\n"),
    );
    let config = person
        .config()
        .session(&file)
        .remote_control(fake_kitty::RemoteControl::No);
    let kitty = FakeKitty::start(config).unwrap();
    assert_eq!(kitty.socket(), None);
    let told = person.dir.path("home/user/told");
    eventually("the program", || told.exists());
    let told = person.scrub(&std::fs::read_to_string(told).unwrap());
    assert_eq!(
        told,
        r#"[b'\x1bP@kitty-cmd{"ok": true, "data', [], '/home/user/proj/a', 'b']"#
    );
    assert_eq!(kitty.windows().len(), 1);
}
