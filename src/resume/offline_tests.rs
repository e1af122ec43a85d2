use super::*;
use crate::kitty::session_file::tests::captures;
use crate::kitty::words::quote;

const SID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

fn setting() -> Setting<'static> {
    Setting {
        kittymux: "/bin/kittymux",
        state: "/s",
        save: "aa11",
        fish: "fish line",
    }
}

/// Rewrites a text as the verb does, with every definition in use but those of `unused`.
fn run_with(text: &str, ours: bool, unused: &[&str], shell: &str) -> (String, Done) {
    let defs = Definitions::shipped();
    let program = |def: &Definition, word: &str| {
        let used = !unused.contains(&def.name.as_str());
        used.then(|| format!("/usr/bin/{}", base(word)))
    };
    let ground = Ground {
        defs: &defs,
        program: &program,
        kitty_shell: shell,
        zdotdir: Some("/h/z"),
        at: "2026-11-30T08:00:00Z",
        ours,
    };
    let origin = if ours { Origin::Person } else { origin(text) };
    let mut file = SessionFile::read(text, origin, &[]);
    if origin == Origin::Kitty {
        file.repair(&|_| false);
    }
    let done = rewrite(&mut file, ground, setting());
    (file.text(), done)
}

fn run(text: &str) -> (String, Done) {
    run_with(text, false, &[], "/bin/bash")
}

/// A line as kitty saves it: start-up value (JSON) and what follows.
fn saved(startup: &str, rest: &str) -> String {
    let startup = if startup.is_empty() {
        String::new()
    } else {
        format!(", \"cmd_at_shell_startup\": {startup}")
    };
    let word = quote(&format!("kitty-unserialize-data={{\"id\": 1{startup}}}"));
    format!("launch {word} {rest}\n")
}

fn record_of(text: &str) -> Record {
    let file = SessionFile::read(text, Origin::Person, &[]);
    let launch = file.launches().next().expect("a window");
    Record::read(record_text(launch).unwrap_or_else(|| panic!("no record: {text}"))).expect("whole")
}

const CLAUDE: &str = "--var=kittymux_agent=claude --var=kittymux_resume=exact --var=kittymux_sid=0a1b2c3d-0000-4000-8000-000000000001";

#[test]
fn a_mark_alone_begins_a_new_conversation() {
    let text = format!(
        "new_tab api $work\nlayout tall\ncd /p/a$b\n{}{}{}focus\nnew_tab\ncd /q\n{}",
        saved("[\"claude\", \"--model\", \"opus\", \"do it\"]", CLAUDE),
        saved("\"claude --model 'opus 1'\"", CLAUDE),
        saved(
            "",
            &format!("{CLAUDE} --cwd=/r /opt/claude --verbose hello")
        ),
        saved("[\"vim\"]", "--title=x"),
    );
    let (new, done) = run(&text);
    expect_test::expect![[r#"
        new_tab api $$work
        layout tall
        cd /p/a$$b
        launch 'kitty-unserialize-data={"id": 1}' '--env=KITTYMUX_RECORD={"v":1,"agent":"claude","mode":"new","sid":"","orig":["claude","--model","opus"],"resume":[],"exe":"/usr/bin/claude","cwd":"/p/a\u0024b","tab":"api \u0024work","save":"aa11","at":"2026-11-30T08:00:00Z","was":[]}' --env=KITTYMUX_BIN=/bin/kittymux --var=kittymux_save=aa11 --var=kittymux_agent=claude --var=kittymux_resume=new /bin/bash --rcfile /s/shell/kittymux.bash
        launch 'kitty-unserialize-data={"id": 1}' '--env=KITTYMUX_RECORD={"v":1,"agent":"claude","mode":"new","sid":"","orig":["claude","--model","opus 1"],"resume":[],"exe":"/usr/bin/claude","cwd":"/p/a\u0024b","tab":"api \u0024work","save":"aa11","at":"2026-11-30T08:00:00Z","was":[]}' --env=KITTYMUX_BIN=/bin/kittymux --var=kittymux_save=aa11 --var=kittymux_agent=claude --var=kittymux_resume=new /bin/bash --rcfile /s/shell/kittymux.bash
        launch 'kitty-unserialize-data={"id": 1}' --cwd=/r --var=kittymux_save=aa11 --var=kittymux_agent=claude --var=kittymux_resume=new /bin/kittymux resume-prompt --info '{"v":1,"agent":"claude","mode":"new","sid":"","orig":["/opt/claude","--verbose"],"resume":[],"exe":"/usr/bin/claude","cwd":"/r","tab":"api \u0024work","save":"aa11","at":"2026-11-30T08:00:00Z","was":["/opt/claude","--verbose"]}'
        focus
        new_tab
        cd /q
        launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["vim"]}' --title=x
    "#]].assert_eq(&new);
    assert_eq!((done.new, done.as_saved), (3, 1));
    let file = SessionFile::read(&new, Origin::Person, &[]);
    assert_eq!(file.refusal(), None);
    let record = record_of(&new);
    assert_eq!(
        (record.tab.as_str(), record.cwd.as_str()),
        ("api $work", "/p/a$b")
    );
}

#[test]
fn a_mark_and_a_command_that_name_one_conversation_are_believed() {
    let command = format!("[\"claude\", \"--resume\", \"{SID}\", \"--model\", \"opus\"]");
    let record = record_of(&run(&saved(&command, CLAUDE)).0);
    assert_eq!((record.mode, record.sid.as_str()), (Mode::Exact, SID));
    assert_eq!(record.orig, ["claude", "--model", "opus"]);
    assert_eq!(
        record.resume,
        ["claude", "--model", "opus", "--resume", SID]
    );
    let other = CLAUDE.replace("000001", "000002");
    assert_eq!(record_of(&run(&saved(&command, &other)).0).mode, Mode::New);
    let latest = CLAUDE.replace("exact", "latest");
    assert_eq!(record_of(&run(&saved(&command, &latest)).0).mode, Mode::New);
}

#[test]
fn what_is_no_simple_command_of_that_agent_stays_to_the_byte() {
    let long = format!("[\"claude\"{}]", ", \"x\"".repeat(200));
    let huge = format!("[\"claude\", \"{}\"]", "x".repeat(400_000));
    for startup in [
        "\"c\"",
        "\"cd x && claude\"",
        "\"FOO=1 claude --model opus\"",
        "\"claude | tee log\"",
        "\"exec claude\"",
        "\"claude; echo done\"",
        "\"claude &\"",
        "\"$(which claude)\"",
        "\"bash -lc 'claude'\"",
        "\"claude \\\"$HOME\\\"\"",
        "\"claude --add-dir ~/x\"",
        "\"claude\\nrm x\"",
        "\"claude 'x\"",
        "\"\"",
        "[]",
        "[\"-fish\"]",
        "[\"claude\", \"-p\", \"x\"]",
        "[\"claude\", \"mcp\", \"serve\"]",
        "[\"codex\"]",
        "{\"a\": 1}",
        &long,
        &huge,
    ] {
        let text = saved(startup, CLAUDE);
        let (new, done) = run(&text);
        assert_eq!(new, text);
        assert_eq!(done.as_saved, 1);
    }
    for rest in [
        "",
        "claude --model opus",
        "--var=kittymux_agent=claude /bin/bash --norc",
        "--var=kittymux_agent=claude htop",
        "--var=kittymux_agent=robot robot --cwd '/srv/my project'",
        "--var=kittymux_agent=codex claude",
        "--var=kittymux_agent= claude",
    ] {
        let text = saved("", rest);
        assert_eq!(run(&text).0, text);
    }
    let text = saved("[\"claude\"]", CLAUDE);
    assert_eq!(
        run_with(&text, false, &["claude"], "/bin/bash").0,
        text,
        "may not be used"
    );
    for text in ["", "\n", "# x\n", "launch claude\nfrob 'x\n"] {
        assert_eq!(run(text).0, text);
    }
}

#[test]
fn the_environment_a_definition_lists_is_carried() {
    let line = saved("\"CLAUDE_CONFIG_DIR=/h/.claude-2 claude\"", CLAUDE);
    let record = record_of(&run(&line).0);
    assert_eq!(record.env, ["CLAUDE_CONFIG_DIR=/h/.claude-2"]);
    assert_eq!(record.orig, ["claude"]);
}

#[test]
fn secrets_of_a_saved_command_are_left_out() {
    let line = saved(
        "",
        &format!("{CLAUDE} claude --api-key sk-very-secret --model opus"),
    );
    let (new, _) = run(&line);
    assert!(!new.contains("sk-very-secret"), "{new}");
    let record = record_of(&new);
    assert_eq!(record.lost, ["--api-key"]);
    assert_eq!(record.was, ["claude", "--model", "opus"]);
}

#[test]
fn each_shell_comes_back_in_its_own_way() {
    let line = |program: &str| saved("[\"claude\"]", &format!("{CLAUDE} {program}"));
    let form = |text: &str, shell: &str| {
        let new = run_with(text, false, &[], shell).0;
        let file = SessionFile::read(&new, Origin::Person, &[]);
        let launch = file.launches().next().expect("a window").clone();
        let program = launch.program().join(" ");
        let zdotdir = launch.env("ZDOTDIR").map(str::to_owned);
        let program = match program.split_once(" --info") {
            Some((before, _)) => before.to_owned(),
            None => program,
        };
        (program, zdotdir.is_some())
    };
    let is = |program: &str, zsh| (program.to_owned(), zsh);
    assert_eq!(
        form(&line(""), "/bin/bash"),
        is("/bin/bash --rcfile /s/shell/kittymux.bash", false)
    );
    assert_eq!(form(&line(""), "/bin/zsh"), is("", true));
    assert_eq!(
        form(&line("/usr/bin/zsh -l"), "/bin/bash"),
        is("/usr/bin/zsh", true)
    );
    assert_eq!(
        form(&line("/usr/bin/fish"), "/bin/bash"),
        is("/usr/bin/fish -C fish line", false)
    );
    assert_eq!(
        form(&line(""), "/bin/dash"),
        is(
            "kitten run-shell --shell=/bin/dash /bin/kittymux resume-prompt",
            false
        )
    );
    let odd = line("");
    assert_eq!(run_with(&odd, false, &[], "/opt/my-shell").0, odd);
}

/// A save of ours with one agent in a bash window, made by another kittymux.
fn ours() -> String {
    let (text, _) = run(&saved(
        &format!("[\"claude\", \"--resume\", \"{SID}\"]"),
        CLAUDE,
    ));
    format!("# kittymux 1 rewritten=x save=aa11\n{text}")
}

#[test]
fn a_record_stays_and_our_paths_are_made_current() {
    let text = ours();
    assert_eq!(
        run_with(&text, true, &[], "/bin/bash").0,
        text,
        "nothing to do"
    );
    let moved = text
        .replace("/bin/kittymux", "/old/kittymux")
        .replace("/s/shell", "/t/shell");
    let (new, done) = run_with(&moved, true, &[], "/bin/bash");
    assert_eq!(done.kept, 1);
    assert_eq!(record_of(&new), record_of(&text));
    assert!(!new.contains("/old/") && !new.contains("/t/shell"), "{new}");
    assert_eq!(run_with(&new, true, &[], "/bin/bash").0, new);
    let later = text.replace("\"v\":1", "\"v\":2,\"later\":7");
    let later = later.replace("/bin/kittymux", "/old/kittymux");
    let (new, _) = run_with(&later, true, &[], "/bin/bash");
    assert!(
        new.contains("\"v\":2,\"later\":7"),
        "fields of a later version survive: {new}"
    );
    let prompt = text.replace("/bin/bash --rcfile /s/shell/kittymux.bash", "");
    let program = format!(
        "{} /old/kittymux resume-prompt --info '{}'\n",
        "launch 'kitty-unserialize-data={\"id\": 1, \"later\": [1]}'",
        record_of(&prompt).text()
    );
    let (new, _) = run_with(&program, true, &[], "/bin/bash");
    assert_eq!(new, program.replace("/old/", "/bin/"));
}

#[test]
fn what_kitty_saw_in_a_restored_shell_says_how_the_prompt_was_answered() {
    let now = |startup: &str| {
        let text = ours().replace(
            "{\"id\": 1}",
            &format!("{{\"id\": 1, \"cmd_at_shell_startup\": {startup}}}"),
        );
        assert_ne!(text, ours());
        run_with(&text, true, &[], "/bin/bash")
    };
    let (resumed, done) = now(&format!("[\"claude\", \"--resume\", \"{SID}\"]"));
    assert_eq!(resumed, ours(), "it is that conversation");
    assert_eq!(done.kept, 1);
    let (new, done) = now("[\"claude\", \"--model\", \"opus\"]");
    assert_eq!((record_of(&new).mode, done.new), (Mode::New, 1));
    let (other, done) = now("\"vim x\"");
    assert_eq!(done.plain, 1);
    expect_test::expect![[r##"
        # kittymux 1 rewritten=x save=aa11
        launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": "vim x"}' --var=kittymux_save=aa11
    "##]].assert_eq(&other);
}

#[test]
fn a_command_that_a_save_of_ours_runs_without_asking_stays() {
    let direct = |mark: &str, sid: &str, program: &str| {
        format!(
            "launch 'kitty-unserialize-data={{\"id\": 1}}' --var=kittymux_agent=claude --var=kittymux_resume={mark}{sid} {program}\n"
        )
    };
    let sid = format!(" --var=kittymux_sid={SID}");
    for text in [
        direct(
            "exact",
            &sid,
            &format!("claude --model opus --resume {SID}"),
        ),
        direct("latest", "", "claude --model opus --continue"),
        direct("new", "", "claude --model opus"),
    ] {
        assert_eq!(run_with(&text, true, &[], "/bin/bash").0, text);
        assert_ne!(
            run_with(&text, false, &[], "/bin/bash").0,
            text,
            "not in kitty's own file"
        );
    }
    let wrong = direct(
        "exact",
        &sid,
        "claude --resume 0a1b2c3d-0000-4000-8000-000000000009",
    );
    assert_eq!(
        record_of(&run_with(&wrong, true, &[], "/bin/bash").0).mode,
        Mode::New
    );
}

#[test]
fn a_second_pass_over_any_capture_changes_nothing() {
    for (name, text) in captures() {
        for mark in [
            "",
            " --var=kittymux_agent=claude",
            " --var=kittymux_agent=codex",
        ] {
            let marked: String = text
                .lines()
                .map(|l| {
                    let add = if l.starts_with("launch ") { mark } else { "" };
                    match l.find("}' ").filter(|_| !add.is_empty()) {
                        Some(at) => format!("{}{add}{}\n", &l[..at + 2], &l[at + 2..]),
                        None => format!("{l}\n"),
                    }
                })
                .collect();
            let (once, done) = run(&marked);
            let (twice, again) = run_with(&once, true, &[], "/bin/bash");
            assert_eq!(twice, once, "{name}{mark}");
            assert_eq!(again.new, 0, "{name}{mark}");
            let loads = SessionFile::read(&once, Origin::Person, &[]);
            if origin(&marked) == Origin::Kitty {
                assert_eq!(loads.refusal(), None, "{name}{mark}");
            }
            assert_eq!(
                loads.launches().count(),
                SessionFile::read(&marked, origin(&marked), &[])
                    .launches()
                    .count()
            );
            if mark.is_empty() {
                assert_eq!((done.new, done.exact), (0, 0), "{name}: no mark, no change");
            }
        }
    }
}
