//! A tick while nothing happens opens next to nothing, and still finds the kitty that comes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::forkless::{STRACE, can_trace};
use crate::rig::{Kitty, Rig, until};
use kittymux::sys::json::{self, JsonValue};
use kittymux::sys::{clock, proc};

/// What the last tick left for the next one.
pub fn tick_text(rig: &Rig) -> String {
    std::fs::read_to_string(rig.state().join("tick.json")).expect("a tick")
}

/// The kitties that the last tick knew: pid and start.
pub fn known(rig: &Rig) -> BTreeSet<(i64, i64)> {
    let text = tick_text(rig);
    let value = json::parse(text.as_bytes(), 1 << 20).expect("JSON");
    let Some(JsonValue::Array(kitties)) = json::member(&value, "kitties") else {
        panic!("{text}");
    };
    let number = |k: &JsonValue, name: &str| json::number_at(k, name).expect("a number") as i64;
    let pair = |k: &JsonValue| (number(k, "pid"), number(k, "start"));
    kitties.iter().map(pair).collect()
}

fn id(kitty: &Kitty) -> (i64, i64) {
    let start = proc::start(kitty.pid).expect("it runs");
    (kitty.pid.into(), i64::try_from(start).expect("small"))
}

/// Ticks until nothing is left to look at: the directories have been still for a moment.
pub fn settle(rig: &Rig) {
    rig.tick(0);
    std::thread::sleep(std::time::Duration::from_millis(150));
    rig.tick(1);
    rig.tick(2);
}

/// What a tick opens while nothing happens.
const QUIET: [&str; 6] = [
    "~/.local/state/kittymux",
    "locks",
    "~/.local/state/kittymux/locks/tick",
    "tick.json",
    "/proc/sys/kernel/random/boot_id",
    "sessions/.exit",
];

/// The files that a tick opens.
fn opened(rig: &Rig, later: i64) -> Vec<String> {
    let file = rig.file("trace", "");
    let mut command: Command = rig.command(Path::new(STRACE));
    command
        .args(["-qq", "-e", "trace=open,openat", "-o"])
        .arg(&file)
        .arg(rig.dir("tools").join("kittymux"))
        .arg("--tick")
        .env("KITTYMUX_BOOT_SHIFT", later.to_string());
    assert!(command.status().expect("strace runs").success());
    let text = std::fs::read_to_string(file).expect("a trace");
    let home = rig.home().display().to_string();
    let paths = text.lines().filter_map(|l| l.split('"').nth(1));
    let ours = paths.filter(|p| !p.starts_with("/etc/ld") && !p.contains("/lib"));
    ours.map(|p| p.replace(&home, "~")).collect()
}

#[test]
fn a_quiet_tick_reads_no_other_process_no_configuration_and_no_directory() {
    if !can_trace() {
        return;
    }
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    let agent = rig.home().join("bin/claude").display().to_string();
    let window = kitty.launch(&rig.dir("p"), &[&agent]);
    kitty.shows(window, "(new)");
    // The first save has been made, and with it the desk to offer.
    settle(&rig);
    rig.tick(40);
    std::thread::sleep(std::time::Duration::from_millis(150));
    rig.tick(45);
    rig.tick(46);
    // A shell may still have started something: then it was no quiet one.
    until("a quiet tick", || (opened(&rig, 47) == QUIET).then_some(()));
    // What is due and not wanted is no reason to look either.
    rig.file(".local/state/kittymux/autosave-off", "");
    rig.tick(2000);
    until("a quiet tick", || {
        (opened(&rig, 2001) == QUIET).then_some(())
    });
}

#[test]
fn a_kitty_that_comes_is_found_at_the_next_tick() {
    let rig = Rig::new("/bin/bash", true);
    let first = rig.start_kitty(&[]);
    settle(&rig);
    assert_eq!(known(&rig), [id(&first)].into());
    let second = rig.start_kitty(&[]);
    rig.tick(3);
    assert_eq!(known(&rig), [id(&first), id(&second)].into());
    let (gone, stays) = (first, second);
    gone.crash();
    rig.tick(4);
    assert_eq!(known(&rig), [id(&stays)].into());
}

#[test]
fn a_kitty_elsewhere_is_found_when_kitty_conf_or_its_watcher_says_where() {
    let rig = Rig::new("/bin/bash", true);
    let first = rig.start_kitty(&[]);
    let conf = rig.home().join(".config/kitty/kitty.conf");
    let elsewhere = rig.home().join("none/k-{kitty_pid}");
    let moved = format!("listen_on unix:{}", elsewhere.display());
    rig.tick(0);
    rig.write_conf(&moved);
    settle(&rig);
    let dated = std::fs::metadata(&conf)
        .and_then(|m| m.modified())
        .expect("its date");
    rig.write_conf("");
    let second = rig.start_kitty(&[]);
    // As if the file had never been touched: then there is nothing that leads to it.
    rig.write_conf(&moved);
    let file = std::fs::File::options()
        .write(true)
        .open(&conf)
        .expect("it opens");
    file.set_modified(dated).expect("dated");
    rig.tick(3);
    assert_eq!(known(&rig), [id(&first)].into());
    let (pid, start) = id(&second);
    let told = format!(
        r#"{{"v":1,"socket":"{}","pid":{pid},"start":{start}}}"#,
        second.address
    );
    let name = format!("kitties/{}-{pid}-{start}", clock::boot8());
    rig.file(&format!(".local/state/kittymux/{name}"), &told);
    rig.tick(4);
    assert_eq!(known(&rig), [id(&first), id(&second)].into());
    rig.write_conf("");
    let third = rig.start_kitty(&[]);
    rig.tick(5);
    assert_eq!(
        known(&rig),
        [id(&first), id(&second), id(&third)].into(),
        "by kitty.conf"
    );
}

#[test]
fn a_kitty_in_place_of_one_with_the_same_pid_is_told_from_it_once_something_rests_on_it() {
    let rig = Rig::new("/bin/bash", true);
    let kitty = rig.start_kitty(&[]);
    settle(&rig);
    // What a tick of an earlier process with this pid left.
    let path = rig.state().join("tick.json");
    let text = std::fs::read_to_string(&path).expect("a tick");
    let (_, start) = id(&kitty);
    let other = text.replace(&format!("\"start\":{start},"), "\"start\":1,");
    assert_ne!(text, other);
    std::fs::write(&path, other).expect("written");
    let window = kitty.launch(&rig.dir("p"), &[]);
    until("its prompt", || {
        kitty.window(window).filter(|w| w.at_prompt).map(|_| ())
    });
    rig.tick(3);
    assert_eq!(known(&rig), [id(&kitty)].into());
    let begin = format!("autosave-{}-{}-{start}", clock::boot8(), kitty.pid);
    let saved = || {
        let names = std::fs::read_dir(rig.state().join("sessions"))
            .expect("there")
            .flatten();
        names
            .filter(|n| n.file_name().to_string_lossy().starts_with(&begin))
            .count()
    };
    rig.tick(4);
    assert_eq!(saved(), 0, "its first look is the baseline");
    rig.tick(30);
    assert_eq!(saved(), 1);
}
