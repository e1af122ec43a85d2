use super::*;

fn line(text: &str) -> LaunchLine {
    LaunchLine::parse(text).expect("balanced")
}

const RICH: &str = "  launch  'kitty-unserialize-data={\"id\": 3, \"cmd_at_shell_startup\": \"claude --resume '\"'\"'abc'\"'\"'\", \"new\": [1, {}]}'  --cwd=/p\t'--var=note=a b' --env X=1 --hold --type=overlay /bin/agent 'x y' ''  ";

#[test]
fn an_untouched_line_keeps_every_byte() {
    let launch = line(RICH);
    assert_eq!(launch.text(), RICH);
    assert_eq!(launch.id(), Some(3));
    assert_eq!(
        launch.startup(),
        Some(Startup::Line("claude --resume 'abc'".into()))
    );
    assert_eq!(launch.program(), ["/bin/agent", "x y", ""]);
    assert_eq!(launch.var("note"), Some("a b"));
    assert_eq!(launch.env("X"), Some("1"));
    assert_eq!(launch.option("--cwd"), Some("/p"));
    assert!(launch.has("--hold"));
    assert_eq!(launch.refusal(), None);
}

#[test]
fn only_what_is_meant_changes() {
    let mut launch = line(RICH);
    launch.set_startup(None);
    launch.set_pair("--var", "note", Some("new"));
    launch.set_pair("--env", "X", None);
    launch.set_program(&["/bin/agent", "z"]);
    assert_eq!(
        launch.text(),
        "  launch  'kitty-unserialize-data={\"id\": 3, \"new\": [1, {}]}'  --cwd=/p --hold --type=overlay --var=note=new /bin/agent z  "
    );
    launch.set_startup(Some(&Startup::Words(vec!["a'b".into(), "c\n$d".into()])));
    assert_eq!(
        launch.startup(),
        Some(Startup::Words(vec!["a'b".into(), "c\n$d".into()]))
    );
    launch.set_program::<&str>(&[]);
    assert_eq!(launch.program(), Vec::<&str>::new());
}

#[test]
fn start_up_commands_are_taken_out_wherever_they_stand() {
    for (data, left) in [
        (r#"{"cmd_at_shell_startup": "x", "id": 1}"#, r#"{"id": 1}"#),
        (
            r#"{"id": 1, "cmd_at_shell_startup": ["a,b", "c"]}"#,
            r#"{"id": 1}"#,
        ),
        (r#"{"id": 1}"#, r#"{"id": 1}"#),
        (
            r#"{"id":1,"cmd_at_shell_startup":"x","b":2}"#,
            r#"{"id":1,"b":2}"#,
        ),
    ] {
        let mut launch = line(&format!(
            "launch {}",
            quote(&format!("kitty-unserialize-data={data}"))
        ));
        launch.set_startup(None);
        assert_eq!(launch.unserialize(), Some(left));
    }
}

#[test]
fn a_program_that_looks_like_an_option_is_fenced() {
    let mut launch = line("launch --hold -- --odd x");
    assert_eq!(launch.program(), ["--odd", "x"]);
    launch.add_option("--var=a=b");
    assert_eq!(launch.text(), "launch --hold --var=a=b -- --odd x");
    launch.set_program(&["plain"]);
    assert_eq!(launch.text(), "launch --hold --var=a=b plain");
    launch.set_program(&["-fish"]);
    assert_eq!(launch.text(), "launch --hold --var=a=b -- -fish");
}

#[test]
fn what_kitty_refuses_is_told() {
    for (text, why) in [
        ("launch --frob=1 x", "kitty knows no launch option --frob"),
        ("launch -Z x", "kitty knows no launch option -Z"),
        ("launch --type=frob x", "frob is no value for --type"),
        ("launch --title", "--title has no value"),
        ("launch --help", "--help stands on a launch line"),
        (
            "launch 'kitty-unserialize-data={}'",
            "kitty-unserialize-data has no id",
        ),
        (
            "launch --type=background",
            "--type=background without a program",
        ),
    ] {
        assert_eq!(line(text).refusal().as_deref(), Some(why));
    }
}
