//! codex's `notify`, and texts that are broken in every way.

use super::*;

#[test]
fn the_program_codex_told_before_stays_behind_ours() {
    let (setup, _) = of("codex");
    let mut said = String::new();
    for old in [
        "",
        "model = \"gpt-5\"\n\n[tui]\nnotify = [\"not\", \"this\"]\n",
        "# mine\r\nnotify = [\"/usr/bin/say\", \"--to\", 'me']  # keep\r\n",
        "a = '''\nnotify = [\"x\"]\n'''\nnotify = [\n  \"say\", # who\n  \"a b\",\n]\n[x.\"y z\"]\nb = {c = [1, 2.0], d = 1979-05-27 07:32:00}",
        "\"notify\"=[\"x\"]",
        "notify = []\n",
    ] {
        let exact = !old.contains("[]");
        let new = round(&setup, "codex", old.as_bytes(), exact);
        said.push_str(&new.replace('\r', "<CR>"));
        said.push_str("---\n");
    }
    expect_test::expect![[r#"
        notify = ["/usr/bin/kittymux", "hook", "codex"]
        ---
        notify = ["/usr/bin/kittymux", "hook", "codex"]
        model = "gpt-5"

        [tui]
        notify = ["not", "this"]
        ---
        # mine<CR>
        notify = ["/usr/bin/kittymux", "hook", "codex", "--then", "/usr/bin/say", "--to", 'me']  # keep<CR>
        ---
        a = '''
        notify = ["x"]
        '''
        notify = [
          "/usr/bin/kittymux", "hook", "codex", "--then", "say", # who
          "a b",
        ]
        [x."y z"]
        b = {c = [1, 2.0], d = 1979-05-27 07:32:00}---
        "notify"=["/usr/bin/kittymux", "hook", "codex", "--then", "x"]---
        notify = ["/usr/bin/kittymux", "hook", "codex"]
        ---
    "#]].assert_eq(&said);
    let mut said = Vec::new();
    for bad in [
        "notify = \"say\"\n",
        "notify = [1]\n",
        "notify = [\"a\"\n",
        "a = \n",
        "a\n",
        "[a\nb = 1\n",
        "a = \"x\n\"\n",
        "a = 1 b\n",
        "a = \"\"\"x",
    ] {
        let why = put_in(&setup, who("codex", PROGRAM), Some(bad.as_bytes()));
        said.push(why.expect_err(bad));
    }
    expect_test::expect![[r#"
        its "notify" is no list of texts
        its "notify" is no list of texts
        it cannot be read as TOML: line 2, column 1: a comma or a closing bracket was expected here
        it cannot be read as TOML: line 1, column 5: a value was expected here
        it cannot be read as TOML: line 1, column 2: "=" was expected here
        it cannot be read as TOML: line 1, column 3: "]" was expected here
        it cannot be read as TOML: line 1, column 7: a line ends inside a string
        it cannot be read as TOML: line 1, column 7: the end of the line was expected here
        it cannot be read as TOML: line 1, column 9: the text ends inside a string"#]]
    .assert_eq(&said.join("\n"));
    // Another program runs ours.
    let wrapped = b"notify = [\"wrap\", \"/x/kittymux\", \"hook\", \"codex\"]\n";
    assert_eq!(
        standing(&setup, who("codex", PROGRAM), wrapped),
        Ok(Standing::Whole)
    );
    assert!(take_out(&setup, "codex", wrapped).is_err());
}

#[test]
fn whatever_the_text_is_nothing_breaks_and_the_original_comes_back() {
    let mut random = fastrand::Rng::with_seed(7);
    let samples = [
        "{\n  \"a\": [1, {\"b\": \"\\u00e9\"}], // x\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/k/kittymux hook claude\"}]}]},\n}\r\n",
        "a = \"\"\"x\"\"\" # c\nnotify = ['a', \"/x/kittymux\", \"hook\", \"codex\"]\n[[t.\"u\"]]\nb = {c = [1,2]}\n",
    ];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ",",
        "//",
        "*/",
        "/*",
        "\n",
        "\r\n",
        "'",
        "=",
        "\u{feff}",
        "\"hooks\": {}",
        "#",
        "\"\"\"",
    ];
    let places = [of("claude").0, of("codex").0, of("copilot").0];
    let mut done = 0;
    for round in 0..3000 {
        let mut text = samples[round % 2].as_bytes().to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(0..=text.len());
            match random.u8(0..3) {
                0 => text.truncate(at),
                1 => {
                    let piece = pieces[random.usize(0..pieces.len())].as_bytes();
                    text.splice(at..at, piece.iter().copied());
                }
                _ if at < text.len() => text[at] = random.u8(..),
                _ => {}
            }
        }
        for (setup, agent) in places.iter().zip(["claude", "codex", "copilot"]) {
            let Ok(new) = put_in(setup, who(agent, PROGRAM), Some(&text)) else {
                let _ = take_out(setup, agent, &text);
                continue;
            };
            let again = put_in(setup, who(agent, PROGRAM), Some(&new));
            assert_eq!(again.as_deref(), Ok(&new[..]), "{}", from_bytes(&text));
            // The copy is made of a text without us.
            let first = program_in(setup, agent, &text) == Ok(None);
            assert!(
                !first
                    || give_back(setup, agent, &new, Some(&text)) == Ok(Rest::Text(text.clone())),
                "{}",
                from_bytes(&text)
            );
            if let Ok(Rest::Text(rest)) = take_out(setup, agent, &new) {
                assert_eq!(
                    program_in(setup, agent, &rest),
                    Ok(None),
                    "{}",
                    from_bytes(&rest)
                );
            }
            done += 1;
        }
    }
    assert!(done > 500, "only {done} texts could be read");
}
