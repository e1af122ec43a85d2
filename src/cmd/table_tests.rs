use super::dispatch::parse;
use super::help::verb_help;
use super::*;
use crate::sys::out;

fn verb(name: &str) -> &'static Verb {
    VERBS
        .iter()
        .find(|v| v.words.join(" ") == name)
        .expect("a verb")
}

fn words(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn options_are_parsed_by_the_table() {
    let args = parse(verb("sessions save"), &words("--all work --direct"))
        .expect("parsed")
        .expect("no help");
    assert_eq!(
        (
            args.words.as_slice(),
            args.has("all"),
            args.has("direct"),
            args.has("x")
        ),
        (["work".to_owned()].as_slice(), true, true, false)
    );
    assert_eq!(
        parse(verb("sessions save"), &words("--help x y z")),
        Ok(None)
    );
    for (text, why) in [
        ("--frob", "it has no option --frob"),
        ("-x", "it has no option -x"),
        ("a b", "\"b\" is one word too many"),
    ] {
        assert_eq!(
            parse(verb("sessions save"), &words(text)),
            Err(why.to_owned())
        );
    }
    assert!(parse(verb("sessions save"), &words("--all=yes")).is_err());
    let dashed = parse(verb("sessions restore"), &words("-- -odd"))
        .expect("parsed")
        .expect("no help");
    assert_eq!(dashed.words, ["-odd"]);
}

#[test]
fn help_fits_eighty_columns_and_names_every_verb() {
    let all = help();
    for verb in VERBS.iter().filter(|v| v.listed) {
        assert!(all.contains(&verb.words.join(" ")));
        assert!(!verb.examples.is_empty() && !verb.about.is_empty());
        for line in verb_help(verb).lines() {
            assert!(out::width(line) <= 80, "{line}");
        }
    }
    for line in all.lines() {
        assert!(out::width(line) <= 80, "{line}");
    }
}
