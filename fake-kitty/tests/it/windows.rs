//! Windows as programs on terminals: text in and out, signals, titles, ends.

use crate::support::{Client, Person, eventually};
use fake_kitty::{FakeKitty, RemoteControl};
use serde_json::json;
use std::time::Duration;

fn start(config: fake_kitty::Config) -> (FakeKitty, Client) {
    let kitty = FakeKitty::start(config).unwrap();
    let client = Client::connect(kitty.socket().unwrap());
    (kitty, client)
}

#[test]
fn text_goes_in_and_comes_out() {
    let person = Person::new("text");
    person.dir.script(
        "home/user/bin/lines",
        "#!/bin/bash\nfor i in {1..50}; do echo \"line $i\"; done\nexec cat\n",
    );
    let (kitty, mut c) = start(person.config().command(["lines"]).size(80, 20));
    eventually("cat", || kitty.windows()[0].text.contains("line 50"));
    let text = |c: &mut Client, extent: &str| {
        c.call("get-text", json!({"match": "id:1", "extent": extent}))["data"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let screen = text(&mut c, "screen");
    assert_eq!(screen.matches('\n').count(), 19);
    assert!(
        !screen.contains("line 31\n") && screen.contains("line 32\nline 33\n"),
        "{screen}"
    );
    let all = text(&mut c, "all");
    assert!(
        all.starts_with("line 1\nline 2\n") && all.contains("line 31\nline 32\n"),
        "{all}"
    );
    assert_eq!(text(&mut c, "selection"), "");
    assert_eq!(
        c.call(
            "send-text",
            json!({"match": "id:1", "data": "text:one é\r"})
        ),
        json!({"ok": true})
    );
    eventually("the first echo", || {
        text(&mut c, "screen").contains("one é\none é\n")
    });
    assert_eq!(
        c.call(
            "send-text",
            json!({"match": "id:1", "data": "base64:dHdvDQ=="})
        ),
        json!({"ok": true})
    );
    eventually("the echo", || {
        text(&mut c, "screen").contains("one é\none é\ntwo\ntwo\n")
    });
    assert_eq!(
        c.call("send-text", json!({"match": "id:9", "data": "text:x"}))["ok"],
        false
    );
}

#[test]
fn a_window_has_a_session_a_terminal_and_kittys_variables() {
    let person = Person::new("env");
    let script = "#!/bin/bash\n{ echo $KITTY_WINDOW_ID $KITTY_PID $KITTY_LISTEN_ON $TERM; ps -o sid= -p $$; tty; pwd; stty size; } >~/out.new\nmv ~/out.new ~/out\nread -r _\n";
    person.dir.script("home/user/bin/told", script);
    let (kitty, mut c) = start(person.config().command(["sleep", "1000"]));
    let out = person.dir.path("home/user/out");
    c.call(
        "launch",
        json!({"args": ["told"], "cwd": "~/proj/a", "env": ["TERM=dumb"]}),
    );
    eventually("told", || out.exists());
    let w = kitty.window(2).unwrap();
    let told = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<&str> = told.lines().map(str::trim).collect();
    assert_eq!(
        lines[0],
        format!("2 {} {} dumb", kitty.pid_like(), kitty.socket().unwrap())
    );
    assert_eq!(lines[1], w.pid.to_string());
    assert!(lines[2].starts_with("/dev/pts/"));
    assert!(lines[3].ends_with("/home/user/proj/a"));
    let size = &c.windows()[1];
    assert!(
        lines[4] == format!("{} {}", size["lines"], size["columns"]) || lines[4] == "30 100",
        "{}",
        lines[4]
    );
    // A directory that is not there: silently kitty's own.
    c.call("launch", json!({"args": ["sleep", "1"], "cwd": "/nowhere"}));
    eventually("cwd", || {
        person.scrub(&kitty.window(3).unwrap().cwd) == "/home/user"
    });
}

#[test]
fn missing_programs_show_it_and_stay_and_hold_keeps_a_shell() {
    let person = Person::new("hold");
    let (kitty, mut c) = start(person.config().command(["sleep", "1000"]));
    assert_eq!(
        c.call("launch", json!({"args": ["/nonexistent/x", "y"]})),
        json!({"ok": true, "data": "2"})
    );
    c.call(
        "launch",
        json!({"args": ["sh", "-c", "echo done; exit 3"], "hold": true, "type": "tab"}),
    );
    c.call(
        "launch",
        json!({"args": ["sh", "-c", "exit 3"], "type": "tab"}),
    );
    eventually("the text", || {
        // In a narrow window it wraps.
        let text = kitty.window(2).unwrap().text.replace('\n', "");
        text.contains("Failed to launch child: /nonexistent/xWith error: No such file or directory")
    });
    eventually("the shell", || {
        kitty
            .window(3)
            .is_some_and(|w| w.at_prompt && w.text.contains("done"))
    });
    eventually("the end of the third", || kitty.window(4).is_none());
    kitty.type_text(2, "\u{1b}").unwrap();
    eventually("the end of the message", || kitty.window(2).is_none());
    assert_eq!(c.windows().len(), 2);
}

#[test]
fn signals_titles_and_closing() {
    let person = Person::new("titles");
    let (kitty, mut c) = start(person.config().command(["cat"]));
    c.call("launch", json!({"args": ["sleep", "1000"]}));
    let title = |kitty: &FakeKitty| kitty.window(1).unwrap().title;
    assert_eq!(title(&kitty), "cat");
    c.call(
        "set-window-title",
        json!({"match": "id:1", "title": "a\nb\u{2028}c"}),
    );
    assert_eq!(title(&kitty), "ab c");
    c.call("set-window-title", json!({"match": "id:1", "title": ""}));
    c.call(
        "set-window-title",
        json!({"match": "id:1", "title": "for now", "temporary": true}),
    );
    assert_eq!(
        (title(&kitty), &c.windows()[0]["title_overridden"]),
        ("for now".into(), &json!(false))
    );
    kitty.feed(1, b"\x1b]2;the program's\x1b\\");
    assert_eq!(title(&kitty), "the program's");
    kitty.feed(1, b"\x07\x1b[?1049h");
    let w = &c.windows()[0];
    assert_eq!(
        (&w["needs_attention"], &w["in_alternate_screen"]),
        (&json!(true), &json!(true))
    );
    c.call(
        "set-tab-title",
        json!({"match": "window_id:2", "title": "t\nu"}),
    );
    assert_eq!(c.ls(json!({}))[0]["tabs"][0]["title"], "t\nu");
    assert_eq!(
        c.call(
            "signal-child",
            json!({"match": "id:2", "signals": ["SIGTERM"]})
        ),
        json!({"ok": true})
    );
    eventually("its end", || kitty.window(2).is_none());
    assert!(!kitty.ended());
    c.call("close-window", json!({"match": "id:1"}));
    assert!(
        kitty.wait_for_end(Duration::from_secs(5)),
        "the last window ends kitty"
    );
}

#[test]
fn user_vars_lose_controls_and_keep_the_rest() {
    let person = Person::new("vars");
    let (kitty, mut c) = start(person.config().command(["sleep", "1000"]));
    let set = |c: &mut Client, vars: serde_json::Value| {
        assert_eq!(
            c.call("set-user-vars", json!({"match": "id:1", "var": vars})),
            json!({"ok": true, "data": ""})
        );
    };
    set(
        &mut c,
        json!(["a=x\n\t\u{1b}\u{7f}\u{85}y\u{2028}$'=\"", "b=", "c=1", "=e"]),
    );
    set(&mut c, json!(["c", "never"]));
    let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    assert_eq!(
        kitty.windows()[0].user_vars,
        [pair("a", "xy\u{2028}$'=\""), pair("b", ""), pair("", "e")]
    );
    let (kitty, mut c) = start(person.config().command(["sleep", "1000"]));
    set(&mut c, json!("a=1"));
    assert_eq!(
        kitty.windows()[0].user_vars,
        [pair("a", ""), pair("", ""), pair("1", "")]
    );
}

#[test]
fn remote_control_over_the_terminal() {
    let person = Person::new("tty");
    let script = "#!/bin/bash\nstty raw -echo\nprintf '\\eP@kitty-cmd{\"cmd\":\"ls\",\"version\":[0,26,0],\"payload\":{\"self\":true}}\\e\\\\'\nIFS= read -rN 60 reply\nstty sane\nprintf '%s' \"$reply\" | tr -d '\\033' >~/reply-$KITTY_WINDOW_ID.new\nmv ~/reply-$KITTY_WINDOW_ID.new ~/reply-$KITTY_WINDOW_ID\nread -r _\n";
    person.dir.script("home/user/bin/ask", script);
    let answers = |mode: RemoteControl| {
        let (_kitty, mut c) = start(person.config().command(["ask"]).remote_control(mode));
        c.call(
            "launch",
            json!({"args": ["ask"], "allow_remote_control": true}),
        );
        [1, 2].map(|id| {
            let file = person.dir.path(&format!("home/user/reply-{id}"));
            eventually("the reply", || file.exists());
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            text
        })
    };
    let ok = "P@kitty-cmd{\"ok\": true, \"data\": \"[";
    let both = answers(RemoteControl::Yes);
    assert!(both.iter().all(|a| a.starts_with(ok)), "{both:?}");
    let [plain, own] = answers(RemoteControl::SocketOnly);
    assert!(
        plain.starts_with("P@kitty-cmd{\"ok\": false, \"error\": \"Remote control is"),
        "{plain}"
    );
    assert!(own.starts_with(ok), "{own}");
}

#[test]
fn saved_files_have_the_modes_and_places_kitty_gives_them() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let person = Person::new("files");
    let (_kitty, mut c) = start(person.config().command(["sleep", "1000"]));
    let h = person.home();
    let mode = |p: &str| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
    let mut save = |words: &str| c.action(&format!("save_as_session --save-only {words}"));
    let ok = json!({"ok": true});
    assert_eq!(save(&format!("{h}/new/dir/x")), ok);
    assert_eq!(
        (
            mode(&format!("{h}/new/dir/x")),
            mode(&format!("{h}/new/dir"))
        ),
        (0o600, 0o755)
    );
    assert!(
        !std::fs::read_to_string(format!("{h}/new/dir/x"))
            .unwrap()
            .ends_with('\n')
    );
    // The mode of an old file stays, the file is another.
    std::fs::set_permissions(
        format!("{h}/new/dir/x"),
        std::fs::Permissions::from_mode(0o404),
    )
    .unwrap();
    let before = std::fs::metadata(format!("{h}/new/dir/x")).unwrap().ino();
    assert_eq!(save(&format!("{h}/new/dir/x")), ok);
    assert_eq!(mode(&format!("{h}/new/dir/x")), 0o404);
    assert_ne!(
        std::fs::metadata(format!("{h}/new/dir/x")).unwrap().ino(),
        before
    );
    // Links are followed, also into nothing.
    symlink("dangling-target", format!("{h}/link")).unwrap();
    assert_eq!(save(&format!("{h}/link")), ok);
    assert!(
        std::fs::symlink_metadata(format!("{h}/link"))
            .unwrap()
            .is_symlink()
    );
    assert!(
        std::fs::metadata(format!("{h}/dangling-target"))
            .unwrap()
            .is_file()
    );
    // Words: variables everywhere, also in quotes; `$$` is one; `~` also in quotes; relative to kitty's cwd.
    for (words, file) in [
        ("'~/q $USER'", "q user"),
        ("~/\\$USER", "user"),
        ("'a$$b'", "a$b"),
        ("rel/$UNKNOWN", "rel/$UNKNOWN"),
        (r#"'it'"'"'s; #x'"#, "it's; #x"),
        ("--base-dir=~/proj base", "proj/base"),
        ("  ~/trail  ", "trail"),
    ] {
        assert_eq!(save(words), ok, "{words}");
        assert!(
            std::path::Path::new(&format!("{h}/{file}")).is_file(),
            "{words}"
        );
    }
    let error = save(&format!("{h}/proj"))["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(error.starts_with("[Errno 21] Is a directory: '"), "{error}");
    assert!(
        !std::fs::read_dir(&h).unwrap().any(|e| e
            .unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .ends_with(".tmp"))
    );
    assert_eq!(
        save("--match=frob:1 x")["error"],
        "frob is not a recognized location in frob:1"
    );
    assert!(!std::path::Path::new(&format!("{h}/x")).exists());
    let error = c.action(&format!("save_as_session {h}/edited"));
    assert_eq!(
        error["error"],
        "Replacement index 1 out of range for positional args tuple"
    );
    assert!(std::path::Path::new(&format!("{h}/edited")).is_file());
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let person = Person::new("many");
    let (kitty, _c) = start(person.config().command(["sleep", "1000"]));
    let address = kitty.socket().unwrap().to_owned();
    let threads: Vec<_> = (0..100)
        .map(|_| {
            let address = address.clone();
            std::thread::spawn(move || {
                Client::connect(&address).call("ls", json!({}))["ok"] == true
            })
        })
        .collect();
    assert!(threads.into_iter().all(|t| t.join().unwrap()));
}

#[test]
fn processes_are_listed_as_kitty_lists_them() {
    let person = Person::new("processes");
    let h = person.home();
    // A name with a blank, as tmux gives itself one.
    std::os::unix::fs::symlink("/bin/sleep", format!("{h}/bin/tmux: client")).unwrap();
    person.dir.script(
        "home/user/bin/bytes.py",
        "#!/usr/bin/env python3\nimport os\nos.execv('/bin/sleep', [b'sleep', b'1000', b'0\\xff'.replace(b'\\xff', b'')])\n",
    );
    person.dir.script(
        "home/user/bin/raw.sh",
        "#!/bin/bash\nexec -a $'raw\\xff' sleep 1000\n",
    );
    person
        .dir
        .script("home/user/bin/empty.sh", "#!/bin/bash\nread -r _\n");
    let (kitty, mut c) = start(
        person
            .config()
            .command([format!("{h}/bin/tmux: client"), "1000".into()]),
    );
    c.call("launch", json!({"args": ["raw.sh"]}));
    c.call("launch", json!({"args": ["empty.sh", "x", "", ""]}));
    c.call("launch", json!({"args": ["sh", "-c", "cd gone 2>/dev/null || { mkdir gone; cd gone; }; rmdir ../gone; sleep 1000; :"]}));
    eventually("all of them", || {
        let w = kitty.windows();
        w[1].foreground.first().is_some_and(|p| p.1.is_empty()) && w[3].foreground.len() == 2
    });
    let w = c.windows();
    assert_eq!(w[0]["foreground_processes"], json!([]));
    assert_eq!(w[0]["cmdline"].as_array().unwrap().len(), 2);
    assert_eq!(w[1]["foreground_processes"][0]["cmdline"], json!([]));
    assert_eq!(w[2]["cmdline"][2], "x");
    assert_eq!(
        w[2]["cmdline"].as_array().unwrap().len(),
        3,
        "trailing empty words are lost"
    );
    eventually("the directory is gone", || {
        c.windows()[3]["foreground_processes"][1]["cwd"].is_null()
    });
    assert_eq!(
        person
            .scrub(c.windows()[3]["cwd"].as_str().unwrap())
            .trim_end_matches("/gone"),
        "/home/user"
    );
}
