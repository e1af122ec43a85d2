//! The texts of `keep::units` before their real readers: systemd's own check and a user manager,
//! and Python's reader of property lists.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kittymux::keep::units;

/// Directories in which a person may keep programs.
const PLACES: [&[u8]; 14] = [
    b"plain",
    b"with a blank",
    b"100%h",
    b"a;b",
    b"#c",
    b"=d",
    b"-e",
    b"~",
    b"it's",
    b"a \"quoted\" one",
    b"$HOME and ${HOME}",
    b"back\\slash",
    b"\xc3\xa9 <&>",
    b"\xff",
];

/// `kittymux` in each of them, as a program that `text` makes.
fn programs(home: &Path, text: &str) -> Vec<PathBuf> {
    let install = |place: &&[u8]| {
        let dir = home.join(OsStr::from_bytes(place));
        std::fs::create_dir(&dir).expect("a directory");
        let program = dir.join("kittymux");
        std::fs::write(&program, text).expect("a program");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a mode");
        program
    };
    PLACES.iter().map(install).collect()
}

/// Runs `command`; `None`, and a line that says so, where its program is not installed.
fn output(command: &mut Command) -> Option<Output> {
    let Ok(output) = command.output() else {
        let name = command.get_program().display();
        println!("left out: {name} is not installed here");
        return None;
    };
    Some(output)
}

fn write_units(dir: &Path, program: &Path) {
    std::fs::create_dir_all(dir).expect("a directory");
    std::fs::write(dir.join(units::SERVICE), units::service(program)).expect("a file");
    std::fs::write(dir.join(units::TIMER), units::timer()).expect("a file");
}

#[test]
fn systemd_finds_no_fault_in_the_units_and_finds_the_program() {
    let home = tempfile::tempdir().expect("a directory");
    let verify = |program: &Path| {
        let dir = home.path().join("units");
        write_units(&dir, program);
        output(
            Command::new("systemd-analyze")
                .args(["verify", "--user", "--man=no"])
                .args([dir.join(units::SERVICE), dir.join(units::TIMER)])
                .env("XDG_RUNTIME_DIR", home.path())
                .env("HOME", home.path()),
        )
    };
    for program in programs(home.path(), "#!/bin/sh\n") {
        let Some(out) = verify(&program) else { return };
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.success() && said.is_empty(),
            "{program:?}: {said}"
        );
    }
    let missing = verify(Path::new("/nowhere/kittymux")).expect("it is installed");
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(
        said.contains("/nowhere/kittymux is not executable"),
        "{said}"
    );
}

#[test]
fn a_property_list_reader_gives_the_path_back() {
    let read = "import plistlib, sys; p = plistlib.load(sys.stdin.buffer); \
        print(ascii([p['Label'], p['ProgramArguments'] == [sys.argv[1], '--tick'], p['RunAtLoad'], \
        p['StartInterval'], p['LowPriorityIO'], p['Nice'], p['StandardOutPath'], p['StandardErrorPath']]))";
    for place in PLACES {
        let path = Path::new("/opt")
            .join(OsStr::from_bytes(place))
            .join("kittymux");
        let Ok(text) = units::launch_agent(&path) else {
            assert_eq!(place, b"\xff", "only what is no text is refused");
            continue;
        };
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("plist");
        std::fs::write(&file, text).expect("a file");
        let mut command = Command::new("python3");
        command
            .args([OsStr::new("-c"), OsStr::new(read), path.as_os_str()])
            .stdin(std::fs::File::open(&file).expect("the file"));
        let Some(out) = output(&mut command) else {
            return;
        };
        assert_eq!(
            String::from_utf8_lossy(&out.stdout),
            "['io.github.kittymux.tick', True, True, 10, True, 5, '/dev/null', '/dev/null']\n",
            "{path:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

/// Stands where kittymux would: notes each run and what it may do. The person's shell has its pid in
/// the home, and listens on a socket in /tmp.
const SEES: &str = r#"#!/usr/bin/env python3
import errno, json, mmap, os, socket, sys
home = os.environ['HOME']
def may(what):
    try:
        return what() and True
    except OSError as e:
        return errno.errorcode[e.errno]
person = open(home + '/person').read()
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
note = [sys.argv[1:], {
    'exe': may(lambda: os.readlink(f'/proc/{person}/exe')), 'cwd': may(lambda: os.readlink(f'/proc/{person}/cwd')),
    'fd': may(lambda: os.listdir(f'/proc/{person}/fd')), 'environ': may(lambda: open(f'/proc/{person}/environ', 'rb').read()),
    'socket': may(lambda: not socket.socket(socket.AF_UNIX).connect(open(home + '/socket').read())),
    'state': may(lambda: open(home + '/state', 'w')),
    'network': may(lambda: socket.socket(socket.AF_INET)),
    'code': may(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)),
    'new privileges': int(status['NoNewPrivs']) == 0}]
with open(home + '/runs', 'a') as f:
    f.write(json.dumps(note) + '\n')
"#;

/// The person: enables the timer and waits for the second run, which the interval makes; logged in
/// anew, waits for the one that the login makes.
const PERSON: &str = r#"
import os, socket, subprocess, sys, time
home = os.environ['HOME']
with socket.socket(socket.AF_UNIX) as s:
    address = f'/tmp/kittymux-test-{os.urandom(6).hex()}'
    s.bind(address)
    s.listen()
    for name, text in (('person', str(os.getpid())), ('socket', address)):
        with open(f'{home}/{name}', 'w') as f:
            f.write(text)
    for words in (['daemon-reload'], ['enable', '--now', 'kittymux.timer']) if sys.argv[1] == 'first' else ():
        subprocess.run(['systemctl', '--user', *words], check=True, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 40
    while time.monotonic() < end:
        if os.path.exists(home + '/runs') and open(home + '/runs').read().count('\n') >= (2 if sys.argv[1] == 'first' else 1):
            break
        time.sleep(0.1)
    subprocess.run(['systemctl', '--user', 'start', 'loud.service'], check=True)
    os.unlink(address)
"#;

#[test]
fn the_installed_service_runs_and_may_do_what_a_tick_must() {
    let home = tempfile::tempdir().expect("a directory");
    let programs = programs(home.path(), SEES);
    let below = |place: &str| {
        programs
            .iter()
            .find(|p| p.parent().is_some_and(|d| d.ends_with(place)))
    };
    for (login, place) in [("first", "with a blank"), ("second", "$HOME and ${HOME}")] {
        let program = below(place).expect("a program");
        let units = home.path().join(".config/systemd/user");
        write_units(&units, program);
        let loud = "[Unit]\nDescription=loud\n[Service]\nType=oneshot\nExecStart=/bin/true\n";
        std::fs::write(units.join("loud.service"), loud).expect("a file");
        let words: [OsString; 5] = [
            home.path().into(),
            "python3".into(),
            "-c".into(),
            PERSON.into(),
            login.into(),
        ];
        let manager = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/user_manager.sh");
        let out = Command::new(manager)
            .args(words)
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&out.stderr);
        if out.status.code() == Some(77) {
            println!("{}", said.trim_end());
            return;
        }
        assert!(out.status.success(), "{said}");
        let journal = std::fs::read(home.path().join("journal")).unwrap_or_default();
        let journal = String::from_utf8_lossy(&journal);
        let runs = std::fs::read_to_string(home.path().join("runs")).unwrap_or_default();
        let wanted = "[[\"--tick\"], {\"exe\": true, \"cwd\": true, \"fd\": true, \"environ\": true, \
            \"socket\": true, \"state\": true, \"network\": \"EAFNOSUPPORT\", \"code\": \"EPERM\", \
            \"new privileges\": false}]\n";
        if login == "second" {
            assert!(
                runs.starts_with("[[\"--tick\"], {"),
                "{runs}: {said}{journal}"
            );
            return;
        }
        assert_eq!(runs, wanted.repeat(2), "{said}{journal}");
        let told: Vec<(&str, bool)> = journal
            .lines()
            .filter_map(|l| l.strip_prefix("MESSAGE="))
            .filter(|l| l.contains("kittymux") || l.contains("loud"))
            .filter_map(|l| Some((l.split_once(' ')?.0, l.contains("kittymux"))))
            .filter(|(word, _)| matches!(*word, "Started" | "Starting" | "Finished"))
            .collect();
        assert_eq!(
            told,
            [("Started", true), ("Starting", false), ("Finished", false)],
            "the timer once, none of our runs, and a run of another service"
        );
        std::fs::remove_file(home.path().join("journal")).expect("it was written");
        std::fs::remove_file(home.path().join("runs")).expect("it was written");
    }
}
