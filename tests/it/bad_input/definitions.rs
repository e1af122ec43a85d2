//! The person's own files: a mistake costs their entry, never the run.

use super::Saved;

#[test]
fn a_mistake_in_resume_json_is_shown_with_its_line_and_the_shipped_entry_stands() {
    let saved = Saved::new();
    let conf = ".config/kittymux/resume.json";
    let claude = saved.rig.home().join("bin/claude").display().to_string();
    let id = saved.kitty.launch(&saved.rig.home(), &[&claude]);
    saved.kitty.shows(id, "(new)");
    saved.kitty.send(id, "hello\r");
    saved.kitty.shows(id, "heard hello");
    for (text, why) in [
        (
            "{\n  \"claude\": {\n    \"exakt\": []\n  }\n}\n",
            "resume.json line 3: \"claude.exakt\": ",
        ),
        (
            "{\n \"claude\": {\"exact\": 7}\n}\n",
            "resume.json line 2: \"claude.exact\": ",
        ),
        ("{\n\"claude\": {\n", "resume.json line "),
        ("[]", "resume.json line 1: "),
        ("", "resume.json line 1: "),
        (
            "{\"cl\x1baude\": {\"\u{202e}\": 1}}",
            "resume.json line 1: ",
        ),
    ] {
        saved.rig.file(conf, text);
        let ran = saved.at(&saved.address(), &["sessions", "list"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let said: Vec<&str> = ran.err.lines().filter(|l| l.contains(why)).collect();
        assert!(!said.is_empty(), "{why:?} is not in {ran:?}");
        assert!(
            ran.out.contains(" claude "),
            "it is known all the same: {ran:?}"
        );
        assert!(ran.out.contains(" exact "), "{ran:?}");
        assert!(!ran.err.contains('\u{202e}'), "{ran:?}");
    }
    // A directory, a pipe: read as nothing, and said.
    std::fs::remove_file(saved.rig.home().join(conf)).expect("removed");
    std::fs::create_dir(saved.rig.home().join(conf)).expect("a directory");
    let ran = saved.at(&saved.address(), &["sessions", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err
            .contains("resume.json: not a regular file; the shipped definitions are used\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains(" exact "), "{ran:?}");
}
