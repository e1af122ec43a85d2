use super::*;

fn data(name: &str) -> Vec<u8> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/help");
    std::fs::read(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What was read, one option a line.
fn shown(bytes: &[u8]) -> String {
    let lines: Vec<String> = options(bytes)
        .iter()
        .map(|k| format!("{} {:?}", k.names.join(" "), k.takes))
        .collect();
    lines.join("\n")
}

fn read(name: &str) -> String {
    shown(&data(name))
}

#[test]
fn clap_with_descriptions_below() {
    expect_test::expect![[r#"
        -c --config One
        --enable One
        -i --image Several
        --color Nothing
        -s --sandbox One
        --dangerously-skip-questions --yolo Nothing
        -l --log Maybe
        -v Nothing
        -h --help Nothing
        -V --version Nothing"#]]
    .assert_eq(&read("clap.txt"));
}

#[test]
fn clap_with_descriptions_beside() {
    expect_test::expect![[r#"
        --last Nothing
        --all Nothing
        -m --model One
        -C --cd One
        --add-dir Several
        -o --output One
        -k --keep -K Nothing
        -h --help Nothing"#]]
    .assert_eq(&read("clap-short.txt"));
}

#[test]
fn commander() {
    expect_test::expect![[r#"
        --add-dir Several
        --allowedTools --allowed-tools Several
        -c --continue Nothing
        -d --debug Maybe
        --fork-session Nothing
        --effort One
        -n --name One
        --no-chrome Nothing
        -r --resume Maybe
        --tags Several
        -h --help Nothing"#]]
    .assert_eq(&read("commander.txt"));
}

#[test]
fn yargs() {
    expect_test::expect![[r#"
        -h --help Nothing
        -m --model Maybe
        -s --sandbox Nothing
        --log-level Maybe
        --port Maybe
        -i --include-dirs --dirs Several
        -v --loud Nothing
        -r --resume Maybe"#]]
    .assert_eq(&read("yargs.txt"));
}

#[test]
fn argparse() {
    expect_test::expect![[r#"
        -h --help Nothing
        -m --model One
        --fast-model One
        --mode One
        --tools Several
        --skip Several
        --pair Several
        --resume Maybe
        -c --continue Nothing
        -j --jobs One
        --git --no-git Nothing
        --set-env One"#]]
    .assert_eq(&read("argparse.txt"));
}

#[test]
fn cobra() {
    expect_test::expect![[r#"
        -c --continue Nothing
        --color Nothing
        -d --debug Nothing
        -e --env One
        -h --help Nothing
        -m --model One
        --timeout One
        -v --verbose Nothing
        --config One
        -s --session One"#]]
    .assert_eq(&read("cobra.txt"));
}

#[test]
fn boxes_and_colours() {
    expect_test::expect![[r#"
        --name -n One
        --resume -r One
        --mode Maybe
        --count One
        --yes -y Nothing
        --color --no-color Nothing
        --help Nothing"#]]
    .assert_eq(&read("boxes.txt"));
}

#[test]
fn written_by_hand() {
    expect_test::expect![[r#"
        -r --resume One
        -f --fork One
        --model One
        -w --work Nothing
        -O One
        --history --no-history Nothing
        --print-timing Nothing
        --no-tools Nothing
        -q --quiet Nothing
        --depth Maybe
        --theme -t One
        --key One
        --session One
        --loud Nothing
        -z One
        -y Nothing
        --conditions One
        --weight One
        --ciphers One
        --cert One
        --yes Nothing"#]]
    .assert_eq(&read("hand.txt"));
}

#[test]
fn bytes_that_are_not_utf8_and_overstrikes() {
    expect_test::expect![[r#"
        --ok Nothing
        --bold One"#]]
    .assert_eq(&read("raw.txt"));
}

#[test]
fn an_option_said_in_two_ways_is_left_out() {
    expect_test::expect![[r#"
        --y Nothing
        --zed Nothing"#]].assert_eq(&shown(
        b"a:\n  --x <n>  one\n  --y  one\n  -z, --zed  one\n\nb:\n  --x  two\n  --y  two\n  -z <n>  two\n",
    ));
}

#[test]
fn an_expected_option_counts_as_a_whole_word_and_texts_may_be_wrapped() {
    let text = clean(
        "  -r, --resume=[id]  in the current\n                     directory\n  --last-n"
            .as_bytes(),
    );
    for said in ["--resume", "-r", "current directory", "--last-n", ""] {
        assert!(says(&text, said), "{said}");
    }
    for not in ["--res", "--last", "-n", "Current directory", "--resume=id"] {
        assert!(!says(&text, not), "{not}");
    }
}

#[test]
fn no_text_is_too_odd_or_too_long() {
    let pool: Vec<char> = "--ab <>[]{}|=,./:*\n\t \u{1b}\u{8}[m]A…│(\u{9b}"
        .chars()
        .collect();
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..5000 {
        let text: String = (0..rng.usize(0..120))
            .map(|_| *rng.choice(&pool).unwrap_or(&'-'))
            .collect();
        for known in options(text.as_bytes()) {
            assert!(
                known
                    .names
                    .iter()
                    .all(|n| n.starts_with('-') && n.len() > 1),
                "{text:?}"
            );
        }
    }
    let line = "  --option-with-a-name <VALUE>  and what it does, \u{1b}[1mbold\u{1b}[0m\n";
    // A reader that goes over its text again and again would not come to an end here.
    assert_eq!(
        options(line.repeat(3_000_000 / line.len()).as_bytes()).len(),
        1
    );
    assert_eq!(options(&vec![b'-'; 10_000_000]).len(), 0);
    assert_eq!(options(&vec![b'['; 1_000_000]).len(), 0);
    let dashes = format!("--a{}", " --b".repeat(200_000));
    assert!(!options(dashes.as_bytes()).is_empty());
}
