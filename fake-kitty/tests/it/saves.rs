//! Saved texts against what kitty wrote for the same desk.

use crate::support::{Client, Person, data, eventually, installed};
use fake_kitty::FakeKitty;
use serde_json::{Value, json};

pub fn start(config: fake_kitty::Config) -> (FakeKitty, Client) {
    let kitty = FakeKitty::start(config).unwrap();
    let client = Client::connect(kitty.socket().unwrap());
    (kitty, client)
}

/// Launches over the socket; the new id.
pub fn launch(c: &mut Client, payload: Value) -> u64 {
    let reply = c.call("launch", payload);
    reply["data"]
        .as_str()
        .unwrap_or_else(|| panic!("{reply}"))
        .parse()
        .unwrap()
}

pub fn prompts(kitty: &FakeKitty, ids: &[u64]) {
    eventually("prompts", || {
        kitty
            .windows()
            .iter()
            .filter(|w| ids.contains(&w.id))
            .all(|w| w.at_prompt)
    });
}

/// Types a command and waits until it runs with `last` as the last word of its last process.
fn type_command(kitty: &FakeKitty, id: u64, line: &str, last: &str) {
    kitty.type_text(id, &format!("{line}\r")).unwrap();
    eventually(line, || {
        let w = kitty.window(id).unwrap();
        !w.at_prompt
            && w.foreground
                .iter()
                .any(|(pid, argv)| *pid != w.pid && argv.iter().any(|a| a.contains(last)))
    });
}

/// The desk of `save-rich`.
fn rich_desk(person: &Person) -> (FakeKitty, Client) {
    let (kitty, mut c) = start(person.config());
    let h = person.home();
    let agent = format!("{h}/bin/agent.sh");
    launch(
        &mut c,
        json!({"type": "tab", "tab_title": "agents", "cwd": format!("{h}/proj/a")}),
    );
    launch(
        &mut c,
        json!({
            "args": ["agent.sh", "x y", "it's", "$HOME", "é😀", ""], "cwd": format!("{h}/proj/b"),
            "env": ["FOO=bar"], "var": ["kittymux_id=w-1", "note=a b"], "window_title": "named $window",
        }),
    );
    launch(&mut c, json!({"args": [agent, "held"], "hold": true}));
    launch(
        &mut c,
        json!({"args": ["sh", "-c", "exit 3"], "hold": true}),
    );
    launch(
        &mut c,
        json!({"args": ["agent.sh", "overlay"], "type": "overlay"}),
    );
    launch(
        &mut c,
        json!({
            "type": "os-window", "os_window_class": "mycls", "os_window_name": "mynm",
            "cwd": format!("{h}/proj/with space"),
        }),
    );
    prompts(&kitty, &[1, 2, 5, 7]);
    assert_eq!(
        c.call(
            "set-window-title",
            json!({"match": "id:1", "title": "manual title"})
        )["ok"],
        true
    );
    type_command(&kitty, 1, "sleep 200 | cat -n", "cat");
    type_command(&kitty, 2, "claude --resume 'abc def'", "claude");
    // node has renamed itself when nothing but the new name is left.
    eventually("claude", || {
        kitty
            .window(2)
            .is_some_and(|w| w.foreground.iter().any(|(_, a)| a == &["claude"]))
    });
    (kitty, c)
}

#[test]
fn a_rich_desk_is_written_byte_for_byte() {
    if !installed("/usr/bin/node") {
        return;
    }
    let person = Person::new("rich");
    let (_kitty, mut c) = rich_desk(&person);
    assert_eq!(data("save-rich.kitty-session"), person.save(&mut c, ""));
    let listing = crate::listing::scrubbed(&person, &mut c);
    crate::listing::same_as_capture("ls-rich.json", &listing);
}

#[test]
fn the_restored_desk_shows_the_shell_first_and_degrades_as_kitty_does() {
    if !installed("/usr/bin/node") {
        return;
    }
    let person = Person::new("rich2");
    let text = data("save-rich.kitty-session").replace("/home/user", &person.home());
    let file = person
        .dir
        .write("home/user/sessions/rich.kitty-session", text);
    let (kitty, mut c) = start(person.config().session(&file));
    eventually("the programs", || {
        let running = |id: u64, name: &str| {
            kitty.window(id).is_some_and(|w| {
                w.foreground
                    .last()
                    .is_some_and(|(_, a)| a.first().is_some_and(|a| a == name))
            })
        };
        running(1, "cat") && running(2, "claude")
    });
    prompts(&kitty, &[5, 7]);
    let windows = c.windows();
    assert_eq!(windows[0]["session_name"], "rich");
    assert_eq!(windows[0]["last_reported_cmdline"], "");
    assert_eq!(
        windows[0]["foreground_processes"][0]["cmdline"],
        json!(["/bin/bash", "--posix"])
    );
    assert_eq!(
        windows[0]["foreground_processes"][1]["cmdline"],
        json!(["sleep", "200"])
    );
    let saved = person.save(&mut c, "");
    // The history of a tab that was never left is the one thing that differs: recorded without focus.
    let want = include_str!("../data/save-rich-second-generation.kitty-session");
    assert_eq!(
        want.replace(
            "\"active_group_history\": [], \"window_groups\": [{\"id\": 6",
            "\"active_group_history\": [6], \"window_groups\": [{\"id\": 6"
        ),
        saved
    );
}

#[test]
fn launch_options_are_written_byte_for_byte() {
    let person = Person::new("options");
    let (kitty, mut c) = start(person.config());
    let h = person.home();
    let a = format!("{h}/proj/a");
    let agent = format!("{h}/bin/agent.sh");
    for payload in [
        json!({"args": ["agent.sh", "x y", "it's", "$HOME", "é😀", ""], "cwd": a}),
        json!({"args": ["agent.sh", "e"], "cwd": a,
            "env": ["FOO=bar", "SPACE=a b", "DOLLAR=$HOME ${X}", "EMPTY=", "DEL"]}),
        json!({"args": ["agent.sh", "v"], "cwd": a,
            "var": ["k=v", "kittymux_id=abc", "q=a b $HOME \"x\" 'y'", "u=é"]}),
        json!({"args": ["agent.sh", "t"], "cwd": a, "window_title": "My $HOME title #x"}),
        json!({"args": ["agent.sh", "h"], "cwd": a, "hold": true}),
        json!({"args": ["agent.sh", "c"], "cwd": format!("{h}/proj/with space")}),
        json!({"args": ["/bin/bash"]}),
        json!({"args": ["bash"]}),
        json!({"args": ["/bin/bash", "-i"]}),
        json!({"args": ["bash", "-c", "agent.sh inner; exec bash"]}),
        json!({"args": [agent, "bare"]}),
        json!({"args": ["agent.sh", "nl", "a\nb"]}),
    ] {
        launch(&mut c, payload);
    }
    prompts(&kitty, &[1, 8, 9]);
    assert_eq!(
        data("save-launch-options.kitty-session"),
        person.save(&mut c, "")
    );
}

#[test]
fn tab_titles_are_written_as_they_are() {
    let person = Person::new("titles");
    let (kitty, mut c) = start(person.config());
    // The titles of the capture, in its order, as they stand behind `new_tab`.
    let text = data("save-tab-titles.kitty-session");
    let blocks: Vec<&str> = text.split("\n\nnew_tab").skip(1).collect();
    assert_eq!(blocks.len(), 17);
    let title_of = |block: &str| -> String {
        let head = block.split("\nlayout splits\n").next().unwrap();
        head.strip_prefix(' ').unwrap_or(head).to_owned()
    };
    for block in blocks {
        let id = launch(&mut c, json!({"type": "tab"}));
        c.call(
            "set-tab-title",
            json!({"match": format!("window_id:{id}"), "title": title_of(block)}),
        );
    }
    prompts(&kitty, &(1..=18).collect::<Vec<_>>());
    assert_eq!(text, person.save(&mut c, ""));
}

#[test]
fn os_windows_are_sorted_by_focus_and_left_out_by_match() {
    let person = Person::new("multi");
    let all = "fat,grid,horizontal,splits,stack,tall,vertical";
    let (kitty, mut c) = start(person.config().enabled_layouts(all));
    let h = person.home();
    launch(
        &mut c,
        json!({"type": "os-window", "os_window_class": "mycls", "os_window_name": "mynm", "cwd": format!("{h}/proj/a")}),
    );
    launch(&mut c, json!({"type": "tab", "tab_title": "two"}));
    launch(&mut c, json!({"type": "os-window"}));
    launch(&mut c, json!({"type": "os-window"}));
    prompts(&kitty, &[1, 2, 3, 4, 5]);
    c.call("focus-window", json!({"match": "id:5"}));
    c.call("focus-window", json!({"match": "id:4"}));
    assert_eq!(
        data("save-multi-os-window.kitty-session"),
        person.save(&mut c, "")
    );
    // The first in this order is out: the file begins with new_os_window.
    let text = person.save(&mut c, "--match=id:2");
    assert!(
        text.starts_with(
            "\n\nnew_os_window\nos_window_class mycls\nos_window_name mynm\n\nnew_tab\n"
        ),
        "{text}"
    );
    assert!(
        text.ends_with("\n\nfocus_tab 1"),
        "the number is that of all tabs: {text}"
    );
    assert_eq!(person.save(&mut c, "--match=id:77"), "");
    assert_eq!(
        person
            .save(&mut c, "'--match=id:1 or id:4'")
            .matches("launch ")
            .count(),
        2
    );
    assert_eq!(
        person
            .save(&mut c, "'--match=not id:1'")
            .matches("launch ")
            .count(),
        4
    );
}

#[test]
fn match_captures_come_out_byte_for_byte() {
    let person = Person::new("match");
    let (kitty, mut c) = start(person.config());
    launch(
        &mut c,
        json!({"type": "os-window", "args": ["agent.sh", "second"]}),
    );
    prompts(&kitty, &[1]);
    assert_eq!(
        data("save-match-leading-new_os_window.kitty-session"),
        person.save(&mut c, "--match=id:2")
    );
    drop(kitty);
    let all = "fat,grid,horizontal,splits,stack,tall,vertical";
    let (kitty, mut c) = start(person.config().enabled_layouts(all));
    let h = person.home();
    launch(
        &mut c,
        json!({"type": "os-window", "os_window_class": "mycls", "os_window_name": "mynm", "cwd": format!("{h}/proj/a")}),
    );
    launch(&mut c, json!({"type": "tab"}));
    c.call("focus-window", json!({"match": "id:1"}));
    prompts(&kitty, &[1, 2, 3]);
    let want = data("save-match-excludes-first-os-window.kitty-session");
    // Here the OS window of the person is focused and so the last; the other is the first one written.
    launch(&mut c, json!({"type": "os-window"}));
    c.call("focus-window", json!({"match": "id:1"}));
    let got = person.save(&mut c, "--match=id:2");
    assert_eq!(want, got);
}

#[test]
fn overlays_and_remote_control_are_written_and_kittys_own_windows_are_not() {
    let person = Person::new("overlay");
    let all = "fat,grid,horizontal,splits,stack,tall,vertical";
    let (kitty, mut c) = start(person.config().enabled_layouts(all));
    let a = format!("{}/proj/a", person.home());
    launch(&mut c, json!({"args": ["agent.sh", "base"], "cwd": a}));
    launch(
        &mut c,
        json!({"args": ["agent.sh", "ov"], "type": "overlay"}),
    );
    launch(&mut c, json!({"type": "overlay-main"}));
    assert_eq!(
        launch(
            &mut c,
            json!({"args": ["sleep", "100"], "type": "background"})
        ),
        0
    );
    launch(
        &mut c,
        json!({"type": "tab", "tab_title": "tab with rc", "args": ["agent.sh", "rc"], "allow_remote_control": true}),
    );
    launch(
        &mut c,
        json!({"args": ["agent.sh", "rcpw"], "remote_control_password": ["x"]}),
    );
    prompts(&kitty, &[1, 4]);
    assert_eq!(
        data("save-overlay-background-rc.kitty-session"),
        person.save(&mut c, "")
    );
    // Without a path kitty asks for one in a window of its own.
    assert_eq!(c.action("save_as_session --save-only"), json!({"ok": true}));
    assert_eq!(
        data("save-with-kitten-ask-overlay.kitty-session"),
        person.save(&mut c, "")
    );
}
