//! Properties over random input: reading and writing is the identity, a command comes back through
//! a launch line, and the guard lets through what the parsers survive and nothing else.

use fastrand::Rng;
use kittymux::kitty::launch_line::{LaunchLine, Startup};
use kittymux::kitty::session_file::{Origin, SessionFile};
use kittymux::kitty::words::{can_stand, quote};
use kittymux::sys::json::{self, JsonValue};

const ROUNDS: usize = 20_000;

/// A random text out of pieces that matter.
fn text_of(rng: &mut Rng, pieces: &[&str], most: usize) -> String {
    (0..rng.usize(0..most))
        .map(|_| *rng.choice(pieces).expect("one"))
        .collect()
}

#[test]
fn any_text_is_read_and_written_back_byte_for_byte() {
    let pieces = [
        "launch ",
        "new_tab ",
        "cd ",
        "focus",
        "focus_tab 1",
        "new_os_window",
        "layout tall",
        "set_layout_state {}",
        "#c",
        "\n",
        "\r\n",
        "\r",
        "\u{b}",
        "\u{2028}",
        "\u{85}",
        " ",
        "\t",
        "'",
        "\"",
        "\\",
        "$",
        "kitty-unserialize-data={\"id\": 1}",
        "--cwd=/x",
        "--var=a=b",
        "--hold",
        "--",
        "a",
        "é",
        "日本",
        "\0",
        "''",
        "-x",
        "=",
        "\u{feff}",
    ];
    let mut rng = Rng::with_seed(11);
    for _ in 0..ROUNDS {
        let text = text_of(&mut rng, &pieces, 40);
        for origin in [Origin::Kitty, Origin::Person] {
            assert_eq!(
                SessionFile::read(&text, origin, &["a\nb".to_owned()]).text(),
                text
            );
        }
    }
}

#[test]
fn what_was_repaired_once_loads_and_stays_as_it_is() {
    let pieces = [
        "a", "b$c", "it's", "\n", "\u{2028}", " ", "$HOME", "é", "-", "#", "\u{c}", "~",
    ];
    let mut rng = Rng::with_seed(12);
    for _ in 0..ROUNDS / 4 {
        let mut value = |most| text_of(&mut rng, &pieces, most);
        let (title, dir, var, argument) = (value(5), format!("/{}", value(4)), value(5), value(6));
        let text = format!(
            "\nnew_tab {}\nlayout tall\ncd {dir}\n\nlaunch 'kitty-unserialize-data={{\"id\": 1}}' {} {} prog {}\nfocus\n\nfocus_tab 0",
            title.trim_end(),
            quote(&format!("--var=v={var}")),
            quote(&format!("--cwd={dir}x")),
            quote(&argument),
        );
        let several = [title.clone(), dir.clone()];
        let mut file = SessionFile::read(&text, Origin::Kitty, &several);
        file.repair(&|name| name == "HOME");
        let repaired = file.text();
        let loaded = SessionFile::read(&repaired, Origin::Person, &[]);
        assert_eq!(loaded.refusal(), None, "{text:?} → {repaired:?}");
        assert_eq!(loaded.launches().count(), 1, "{text:?} → {repaired:?}");
        assert_eq!(loaded.text(), repaired);
        let launch = loaded.launches().next().expect("one");
        match launch.startup() {
            Some(Startup::Words(words)) => assert_eq!(words, ["prog", &argument]),
            _ => assert_eq!(launch.program(), ["prog", &argument]),
        }
    }
}

#[test]
fn every_command_comes_back_through_a_launch_line() {
    let pieces = [
        "a", " ", "'", "\"", "\\", "$", "`", "#", "é", "日", "-", "--", "=", "\t", "~", "*", ";",
        "\u{7f}", "\u{a0}", "😀",
    ];
    let mut rng = Rng::with_seed(13);
    for _ in 0..ROUNDS {
        let words: Vec<String> = (0..rng.usize(1..6))
            .map(|_| text_of(&mut rng, &pieces, 7))
            .collect();
        let mut launch = LaunchLine::new(Some(7));
        launch.add_option("--hold");
        launch.set_program(&words);
        let loaded = LaunchLine::parse(&launch.text()).expect("balanced");
        assert_eq!(loaded.program(), words);
        assert_eq!((loaded.id(), loaded.has("--hold")), (Some(7), true));
        let exotic: Vec<String> = words.iter().map(|w| format!("{w}\n\u{2028}{w}")).collect();
        launch.set_startup(Some(&Startup::Words(exotic.clone())));
        assert!(can_stand(&launch.text()));
        assert_eq!(
            LaunchLine::parse(&launch.text())
                .expect("balanced")
                .startup(),
            Some(Startup::Words(exotic))
        );
    }
}

#[test]
fn the_guard_lets_through_exactly_what_the_parsers_survive() {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"b\\\"",
        "\\",
        "\\u",
        "\\ud83d\\ude00",
        "\\udc80",
        "\\u0000",
        "0",
        "1",
        "-1",
        "1.5",
        "1e9",
        "01",
        "-",
        "true",
        "false",
        "null",
        "nul",
        " ",
        "\n",
        "é",
        "\u{2028}",
        "\"id\":1",
        "/",
        "\u{1}",
        "{\"x\":[",
        "]}",
    ];
    let mut rng = Rng::with_seed(14);
    let (mut passed, mut refused) = (0, 0);
    for _ in 0..ROUNDS * 10 {
        let text = text_of(&mut rng, &pieces, 12);
        match json::guard(text.as_bytes(), 1 << 16) {
            Ok(clean) => {
                passed += 1;
                let value: Result<JsonValue, _> = clean.parse();
                assert!(value.is_ok(), "tinyjson refuses {clean:?}");
                // Typed reading may find a wrong type; what it must do is come back.
                let _ = json::decode_guarded::<Vec<String>>(&clean);
                if clean.trim_start().starts_with('{') {
                    assert!(json::members(&clean).is_some(), "{clean:?}");
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(passed > 2_000 && refused > 2_000, "{passed} {refused}");
    // A second opinion on what is JSON: the parser itself, on texts it survives.
    for good in [
        "[]",
        "{}",
        "\"\\u00e9\"",
        "[1,2.5e-3,null]",
        "{\"a\":{\"b\":[true]}}",
    ] {
        assert!(json::guard(good.as_bytes(), 100).is_ok());
    }
}
