//! Values that hurt a save: variables from escape codes, what is not UTF-8.

use crate::saves::{launch, prompts, start};
use crate::support::{Person, data, eventually};
use serde_json::{Value, json};

#[test]
fn variables_set_by_escape_codes_are_cleaned_and_kept_in_order() {
    let person = Person::new("osc");
    let (kitty, mut c) = start(person.config());
    prompts(&kitty, &[1]);
    for sequence in [
        "nl=YQpiG2M=", // a, newline, b, ESC, c
        "bad=***",
        "empty=",
        "with space=eA==",
        "a.b-c:d=eA==",
        "gone=eA==",
        "gone",
        "kittymux_session=",
    ] {
        kitty.feed(1, format!("\x1b]1337;SetUserVar={sequence}\x07").as_bytes());
    }
    let want: String = data("save-osc1337-user-vars.kitty-session")
        .split(' ')
        .filter(|w| !w.starts_with("--var=big"))
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(want, person.save(&mut c, ""));
}

#[test]
fn what_is_not_utf8_fails_the_save() {
    use std::os::unix::ffi::OsStrExt;
    let person = Person::new("bytes");
    let (kitty, mut c) = start(person.config());
    prompts(&kitty, &[1]);
    let save = format!(
        "save_as_session --save-only {}",
        person.dir.path("x").display()
    );
    c.send(r#"{"cmd":"set-user-vars","version":[0,26,0],"payload":{"match":"id:1","var":["k=\udc80"]}}"#);
    c.receive(std::time::Duration::from_secs(5)).unwrap();
    let reply = c.action(&save);
    let recorded: Value =
        serde_json::from_str(&data("error-save-surrogate-user-var.json")).unwrap();
    let shape = |e: &Value| {
        e.as_str()
            .unwrap()
            .split(" in position ")
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(shape(&recorded["error"]), shape(&reply["error"]));
    assert!(!person.dir.path("x").exists());
    assert_eq!(
        c.action(&save.replace("--save-only", "--save-only '--match=not id:1'"))["ok"],
        true
    );
    c.call("set-user-vars", json!({"match": "id:1", "var": ["k"]}));
    // A shell at its prompt in such a directory: every save fails, whatever is matched.
    let bad = person
        .dir
        .0
        .join(std::ffi::OsStr::from_bytes(b"home/user/bad\xff"));
    std::fs::create_dir(&bad).unwrap();
    // Two windows elsewhere, so that the directory is not the tab's most common one.
    launch(&mut c, json!({"args": ["sleep", "1000"]}));
    launch(&mut c, json!({"args": ["sleep", "1000"]}));
    kitty.type_text(1, "cd bad*\r").unwrap();
    eventually("the directory", || {
        kitty
            .window(1)
            .is_some_and(|w| w.cwd.ends_with('\u{10dcff}') && w.at_prompt)
    });
    eventually("the report", || c.action(&save)["ok"] == false);
    let reply = c.action(&save.replace("--save-only", "--save-only --match=id:2"));
    let recorded: Value = serde_json::from_str(&data("error-save-nonutf8-cwd.json")).unwrap();
    assert_eq!(shape(&recorded["error"]), shape(&reply["error"]));
    // A program there: only a save with that window fails.
    kitty.type_text(1, "sleep 1000\r").unwrap();
    eventually("sleep", || {
        kitty
            .window(1)
            .is_some_and(|w| !w.at_prompt && w.foreground.iter().any(|p| p.1.len() == 2))
    });
    let error = c.action(&save)["error"].as_str().unwrap().to_owned();
    assert!(
        error.starts_with(r"'utf-8' codec can't encode character '\udcff' in position"),
        "{error}"
    );
    assert_eq!(
        c.action(&save.replace("--save-only", "--save-only --match=id:2"))["ok"],
        true
    );
    assert!(
        c.windows()[0]["cwd"]
            .as_str()
            .unwrap()
            .ends_with('\u{10dcff}')
    );
    // The kitten does not fail: the nearest good parent in the text, the bytes beside it.
    let kitten = person.dir.write("kittymux_capture.py", "");
    let reply = c.call(
        "kitten",
        json!({"kitten": kitten, "args": ["1", "{\"os_windows\": null, \"skip\": []}"]}),
    );
    let document = fake_kitty::json::parse(reply["data"].as_str().unwrap()).unwrap();
    let hex: String = bad
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(document["cwds"], json!({"1": hex}));
    let text = person.scrub(document["text"].as_str().unwrap());
    assert!(text.contains("\ncd /home/user\n"), "{text}");
}
