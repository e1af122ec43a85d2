//! Settings as people keep them: put in, put in again, taken out.

use super::*;
use crate::agents::definitions::Definitions;
use crate::sys::bytes::from_bytes;

#[path = "edit_codex_tests.rs"]
mod codex;

const PROGRAM: &str = "/usr/bin/kittymux";

fn of(agent: &str) -> (Setup, Option<Setup>) {
    let defs = Definitions::shipped();
    let hooks = defs
        .get(agent)
        .and_then(|d| d.hooks.clone())
        .expect("hooks");
    (hooks.setup.expect("a setup"), hooks.more)
}

fn who<'a>(agent: &'a str, program: &'a str) -> Who<'a> {
    Who { agent, program }
}

/// Puts in, and checks what must hold of every text: the second time changes nothing, the standing is
/// told, and the original comes back, with and without its copy; gives the new text.
fn round(setup: &Setup, agent: &str, old: &[u8], exact: bool) -> String {
    let new = put_in(setup, who(agent, PROGRAM), Some(old)).expect("put in");
    let again = put_in(setup, who(agent, PROGRAM), Some(&new)).expect("put in again");
    assert_eq!(from_bytes(&again), from_bytes(&new), "the second time");
    let standing = |text: &[u8], program| standing(setup, who(agent, program), text);
    assert_eq!(standing(old, PROGRAM), Ok(Standing::Absent));
    assert_eq!(standing(&new, PROGRAM), Ok(Standing::Whole));
    assert_eq!(standing(&new, "/opt/kittymux"), Ok(Standing::Differs));
    let moved = put_in(setup, who(agent, "/opt/a b/kittymux"), Some(&new)).expect("moved");
    let there = program_in(setup, agent, &moved).expect("read");
    assert_eq!(there.as_deref(), Some("/opt/a b/kittymux"));
    for text in [&new, &moved] {
        let back = give_back(setup, agent, text, Some(old)).expect("given back");
        assert_eq!(back, Rest::Text(old.to_vec()), "with the original");
    }
    let back = take_out(setup, agent, &new).expect("taken out");
    if exact {
        let nothing = old.trim_ascii().is_empty() || old.trim_ascii() == b"{}";
        let wanted = if nothing {
            Rest::Nothing
        } else {
            Rest::Text(old.to_vec())
        };
        assert_eq!(back, wanted, "without the original");
    } else if let Rest::Text(rest) = &back {
        assert_eq!(standing(rest, PROGRAM), Ok(Standing::Absent));
    }
    from_bytes(&new)
}

#[test]
fn settings_keep_all_that_is_not_ours() {
    let (mut setup, _) = of("claude");
    setup.events = ["SessionStart", "Stop"].map(str::to_owned).to_vec();
    let mut said = String::new();
    for old in [
        "{\n  \"model\": \"opus\", // mine\n  \"env\": {\"A\": \"1\"}\n}\n",
        "{\n\t\"model\": \"opus\",\n}",
        "{\"model\":\"opus\"}",
        "/* top */\n{ // open\n}\n// end",
        "{\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": [\n                    {\"type\": \"command\", \"command\": \"say done\"}, // beep\n                ]\n            }\n        ] /* mine */\n    },\n    \"z\": 1\n}\n",
        "{\"a\": [1, 2,], \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}\n",
    ] {
        said.push_str(&round(&setup, "claude", old.as_bytes(), true));
        said.push_str("\n---\n");
    }
    expect_test::expect![[r#"
        {
          "model": "opus", // mine
          "env": {"A": "1"},
          "hooks": {
            "SessionStart": [
              { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
            ],
            "Stop": [
              { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
            ]
          }
        }

        ---
        {
        	"model": "opus",
        	"hooks": {
        		"SessionStart": [
        			{ "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
        		],
        		"Stop": [
        			{ "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
        		]
        	},
        }
        ---
        {"model":"opus", "hooks": {"SessionStart": [{ "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }], "Stop": [{ "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }]}}
        ---
        /* top */
        {
          "hooks": {
            "SessionStart": [
              { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
            ],
            "Stop": [
              { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
            ]
          } // open
        }
        // end
        ---
        {
            "hooks": {
                "Stop": [
                    {
                        "hooks": [
                            {"type": "command", "command": "say done"}, // beep
                        ]
                    },
                    { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
                ], /* mine */
                "SessionStart": [
                    { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }
                ]
            },
            "z": 1
        }

        ---
        {"a": [1, 2,], "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}, { "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }], "SessionStart": [{ "hooks": [{ "type": "command", "command": "/usr/bin/kittymux hook claude" }] }]}}

        ---
    "#]].assert_eq(&said);
}

#[test]
fn line_ends_marks_and_odd_bytes_stay() {
    let (setup, _) = of("claude");
    for old in [
        &b"\xef\xbb\xbf{\r\n  \"a\": \"\\ud83d\\ude00 \xff\"\r\n}"[..],
        b"{\r\n\t\"a\": 1,\r\n\t// the last\r\n}\r\n",
        b"{\n  \"a\": {\n  }\n,\n  \"b\": 2}",
        b"{ \"a\": 1 }",
        b"{}",
        b"  {}  ",
        b"",
        b"{\"a\": 1} // end",
    ] {
        let new = round(&setup, "claude", old, true);
        if old.windows(2).any(|w| w == b"\r\n") {
            assert_eq!(
                new.matches('\n').count(),
                new.matches("\r\n").count(),
                "{new}"
            );
        }
        assert_eq!(
            new.starts_with('\u{feff}'),
            old.starts_with(b"\xef\xbb\xbf")
        );
    }
    // Lists that were empty before come back only with the copy.
    for old in [
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {\n  }\n}",
        "{\n  \"hooks\": { },\n  \"a\": 1\n}",
        "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"Other\": []\n  }\n}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      // none\n    ]\n  }\n}",
        "\n \n",
    ] {
        round(&setup, "claude", old.as_bytes(), false);
    }
}

#[test]
fn what_we_cannot_read_is_left_alone() {
    let (setup, _) = of("claude");
    let mut said = Vec::new();
    for bad in [
        "{\"a\": }",
        "{\"a\": 1",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "{'a': 1}",
        "{\"a\": 1} {}",
        "{\"a\": 1 /* }",
        "{\"a\": \"\\x\"}",
        "\u{0}",
        &"[".repeat(100_000),
        &format!("{{\"a\": {}1{}}}", "[".repeat(70), "]".repeat(70)),
    ] {
        let why = put_in(&setup, who("claude", PROGRAM), Some(bad.as_bytes()));
        said.push(why.expect_err("refused"));
    }
    expect_test::expect![[r#"
        it cannot be read as JSON: line 1, column 7: a value was expected here
        it cannot be read as JSON: line 1, column 8: the text ends too early
        it is no { } object
        its "hooks" is no { } object
        its "hooks"."Stop" is no list
        it cannot be read as JSON: line 1, column 2: a name in quotes was expected here
        it cannot be read as JSON: line 1, column 10: something follows the document
        it cannot be read as JSON: line 1, column 9: a comment that does not end
        it cannot be read as JSON: line 1, column 8: an unknown escape inside a string
        it cannot be read as JSON: line 1, column 1: a value was expected here
        it cannot be read as JSON: line 1, column 65: nested too deeply
        it cannot be read as JSON: line 1, column 70: nested too deeply"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn only_what_is_ours_goes() {
    let (setup, _) = of("claude");
    let old = br#"{
  "hooks": {
    "Stop": [
      {"hooks": [
        {"type": "command", "command": "say hi"},
        {"type": "command", "command": "'/old/kittymux' hook claude"},
        {"type": "command", "command": "kittymux hook claude"}
      ]},
      {"hooks": [{"type": "command", "command": "kittymux hook claude; rm x"}]},
      {"hooks": [{"type": "command", "command": "kittymux hook codex"}]}
    ]
  }
}
"#;
    assert_eq!(
        standing(&setup, who("claude", PROGRAM), old),
        Ok(Standing::Differs)
    );
    let new = put_in(&setup, who("claude", PROGRAM), Some(old)).expect("put in");
    let new = from_bytes(&new);
    assert_eq!(
        new.matches("/usr/bin/kittymux hook claude").count(),
        5,
        "{new}"
    );
    let Rest::Text(rest) = take_out(&setup, "claude", old).expect("taken out") else {
        panic!("others are in it");
    };
    expect_test::expect![[r#"
        {
          "hooks": {
            "Stop": [
              {"hooks": [
                {"type": "command", "command": "say hi"}
              ]},
              {"hooks": [{"type": "command", "command": "kittymux hook claude; rm x"}]},
              {"hooks": [{"type": "command", "command": "kittymux hook codex"}]}
            ]
          }
        }
    "#]]
    .assert_eq(&from_bytes(&rest));
}

#[test]
fn a_new_file_holds_what_the_agent_needs_and_goes_again() {
    let mut said = String::new();
    for agent in ["claude", "gemini", "copilot", "codex"] {
        let (setup, more) = of(agent);
        for mut setup in [Some(setup), more].into_iter().flatten() {
            setup.events.truncate(2);
            let new = put_in(&setup, who(agent, "/opt/it's a/kittymux"), None).expect("made");
            said.push_str(&from_bytes(&new));
            assert_eq!(take_out(&setup, agent, &new), Ok(Rest::Nothing));
            assert_eq!(
                program_in(&setup, agent, &new).expect("read").as_deref(),
                Some("/opt/it's a/kittymux")
            );
        }
    }
    expect_test::expect![[r#"
        {
          "hooks": {
            "SessionStart": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook claude" }] }
            ],
            "UserPromptSubmit": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook claude" }] }
            ]
          }
        }
        {
          "hooks": {
            "SessionStart": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook gemini", "name": "kittymux" }] }
            ],
            "BeforeAgent": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook gemini", "name": "kittymux" }] }
            ]
          }
        }
        {
          "version": 1,
          "hooks": {
            "sessionStart": [
              { "type": "command", "bash": "'/opt/it'\\''s a/kittymux' hook copilot sessionStart", "timeoutSec": 5 }
            ],
            "userPromptSubmitted": [
              { "type": "command", "bash": "'/opt/it'\\''s a/kittymux' hook copilot userPromptSubmitted", "timeoutSec": 5 }
            ]
          }
        }
        notify = ["/opt/it's a/kittymux", "hook", "codex"]
        {
          "hooks": {
            "SessionStart": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook codex" }] }
            ],
            "UserPromptSubmit": [
              { "hooks": [{ "type": "command", "command": "'/opt/it'\\''s a/kittymux' hook codex" }] }
            ]
          }
        }
    "#]].assert_eq(&said);
}

#[test]
fn a_file_of_ours_that_somebody_changed_is_left_alone() {
    for agent in ["opencode", "pi", "hermes"] {
        let (setup, _) = of(agent);
        let new = put_in(&setup, who(agent, PROGRAM), None).expect("made");
        assert_eq!(
            standing(&setup, who(agent, PROGRAM), &new),
            Ok(Standing::Whole)
        );
        assert_eq!(
            standing(&setup, who(agent, "/b/kittymux"), &new),
            Ok(Standing::Differs)
        );
        assert_eq!(take_out(&setup, agent, &new), Ok(Rest::Nothing));
        assert!(put_in(&setup, who(agent, "/b/kittymux"), Some(&new)).is_ok());
        let changed = [&new[..], b"// mine\n"].concat();
        assert!(put_in(&setup, who(agent, PROGRAM), Some(&changed)).is_err());
        assert!(take_out(&setup, agent, &changed).is_err());
        assert!(put_in(&setup, who(agent, PROGRAM), Some(b"export default 1\n")).is_err());
        assert_eq!(program_in(&setup, agent, b"export default 1\n"), Ok(None));
        let there = program_in(&setup, agent, &new).expect("read");
        assert_eq!(there.as_deref(), Some(PROGRAM));
    }
    // What stands beside a program of ours names none.
    let defs = Definitions::shipped();
    let hooks = defs.get("hermes").and_then(|d| d.hooks.clone());
    let setup = hooks.and_then(|h| h.beside).expect("a manifest");
    let new = put_in(&setup, who("hermes", PROGRAM), None).expect("made");
    expect_test::expect![[r##"
        # kittymux hooks ccca5fa9c99636b9
        name: kittymux
        version: "1"
        description: Tells kittymux which conversation this is and what it is at
        kind: standalone
    "##]]
    .assert_eq(&from_bytes(&new));
    let elsewhere = who("hermes", "/b/kittymux");
    assert_eq!(standing(&setup, elsewhere, &new), Ok(Standing::Whole));
    assert_eq!(take_out(&setup, "hermes", &new), Ok(Rest::Nothing));
    let mine = b"name: kittymux\n";
    assert_eq!(standing(&setup, elsewhere, mine), Ok(Standing::Absent));
    assert!(put_in(&setup, elsewhere, Some(mine)).is_err());
}

#[test]
fn a_path_is_one_word_of_a_command_and_read_back() {
    for path in [
        "/usr/bin/kittymux",
        "/a b/kittymux",
        "/it's/\"a/kittymux",
        "/$x/kittymux-1",
    ] {
        let command = format!("{} hook claude", shell_word(path));
        let read = program_of(&command, "claude");
        assert_eq!(read.as_deref(), Some(path), "{command}");
    }
    for other in [
        "kittymux hook codex",
        "kittymux hook claude | tee x",
        "kittymux hook claude && x",
        "kittymux \"$x\" hook claude",
        "other hook claude",
        "kittymux hook claude a b",
        "kittymux 'hook claude",
        "",
    ] {
        assert_eq!(program_of(other, "claude"), None, "{other}");
    }
    // Python reads a pair of `\u` as two characters; `{event}` in a path is no place for ours.
    for agent in ["hermes", "copilot"] {
        let path = "/é😀/a{event}b/kittymux";
        let text = put_in(&of(agent).0, who(agent, path), None).expect("put in");
        assert!(String::from_utf8_lossy(&text).contains(path), "{agent}");
    }
}
