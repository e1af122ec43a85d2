//! The emulator as a program, to be put on PATH as `kitty`.

use crate::VERSION_LINE;
use crate::conf::{self, Conf};
use crate::config::{Config, Misbehave};
use crate::kitty::FakeKitty;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const HELP: &str = "fake-kitty [options] [program …]
  --version               what kitty prints
  --listen-on ADDRESS     the socket, taken as it is
  --session FILE          open this session (none: no session)
  -o, --override K=V      an option of kitty.conf
  -c, --config FILE       this instead of kitty.conf (NONE: none)
  -d, --directory DIR     where windows start
  --hold                  keep the window when the program ends
  --class, --name WORD    class and name of OS windows
  --misbehave WORD        silent reset half-frame empty-file no-file wrong-ok slow:MS huge empty-ls
                          no-kitten old stop-after:N";

/// What the command line says.
#[derive(Default)]
struct Args {
    listen_on: Option<String>,
    session: Option<String>,
    overrides: Vec<String>,
    config: Vec<String>,
    directory: Option<String>,
    hold: bool,
    class: Option<String>,
    name: Option<String>,
    misbehave: Vec<Misbehave>,
    command: Vec<String>,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Args>, String> {
    let mut args = Args::default();
    while let Some(word) = words.next() {
        if word == "--" {
            args.command.extend(words.by_ref());
            break;
        }
        // A panel is a kitty that the panel kitten starts.
        if word == "+kitten" {
            words.next();
            continue;
        }
        if !word.starts_with('-') {
            args.command.push(word);
            args.command.extend(words.by_ref());
            break;
        }
        let (name, given) = match word.split_once('=') {
            Some((n, v)) if n.starts_with("--") => (n.to_owned(), Some(v.to_owned())),
            _ => (word, None),
        };
        let mut value = || {
            given
                .clone()
                .or_else(|| words.next())
                .ok_or(format!("{name} needs a value"))
        };
        match name.as_str() {
            "--version" | "-v" => {
                println!("{VERSION_LINE}");
                return Ok(None);
            }
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(None);
            }
            "--listen-on" => args.listen_on = Some(value()?),
            "--session" => args.session = Some(value()?),
            "--override" | "-o" => args.overrides.push(value()?),
            "--config" | "-c" => args.config.push(value()?),
            "--directory" | "--working-directory" | "-d" => args.directory = Some(value()?),
            "--hold" => args.hold = true,
            "--class" | "--app-id" => args.class = Some(value()?),
            "--name" => args.name = Some(value()?),
            // Options about looks and instances are taken and mean nothing here.
            "--title" | "-T" | "--start-as" | "--instance-group" => drop(value()?),
            "--detach" | "--single-instance" | "-1" => {}
            "--misbehave" => {
                let word = value()?;
                args.misbehave
                    .push(Misbehave::parse(&word).ok_or(format!("no such misbehaviour: {word}"))?);
            }
            other => return Err(format!("unknown option: {other}")),
        }
    }
    Ok(Some(args))
}

fn configure(args: Args) -> (Config, Conf) {
    let dir = conf::directory();
    let mut file = Conf::default();
    let files = if args.config.is_empty() {
        vec![dir.join("kitty.conf").display().to_string()]
    } else {
        args.config
    };
    for path in files.iter().filter(|f| *f != "NONE") {
        file = Conf::read(Path::new(path));
    }
    for option in &args.overrides {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        file.set(key.trim(), value.trim());
    }
    let mut config = file
        .apply(Config::new().config_dir(dir))
        .hold(args.hold)
        .command(args.command);
    if let Some(address) = args.listen_on {
        config = config.listen_on(address);
    }
    if let Some(session) = args.session {
        config = config.session(session);
    }
    if let Some(directory) = args.directory {
        config = config.directory(directory);
    }
    if args.class.is_some() || args.name.is_some() {
        let class = args.class.unwrap_or_else(|| "kitty".into());
        config = config.class(&class, args.name.as_deref().unwrap_or(&class));
    }
    for how in args.misbehave {
        config = config.misbehave(how);
    }
    (config, file)
}

/// What the product's watcher does when kitty loads it: note where this kitty can be reached.
fn run_watchers(conf: &Conf, socket: Option<&str>) -> io::Result<()> {
    let Some(socket) = socket else {
        return Ok(());
    };
    if !conf
        .watchers()
        .any(|w| w.rsplit('/').next() == Some("kittymux_watcher.py"))
    {
        return Ok(());
    }
    let var = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let state = var("KITTYMUX_STATE_DIR")
        .or_else(|| {
            var("XDG_STATE_HOME")
                .filter(|d| d.is_absolute())
                .map(|d| d.join("kittymux"))
        })
        .or_else(|| var("HOME").map(|d| d.join(".local/state/kittymux")))
        .ok_or(io::ErrorKind::NotFound)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let boot: String = boot
        .chars()
        .filter(char::is_ascii_hexdigit)
        .take(8)
        .collect();
    let pid = std::process::id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let start: u64 = after
        .split_whitespace()
        .nth(19)
        .and_then(|f| f.parse().ok())
        .unwrap_or(0);
    let dir = state.join("kitties");
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)?;
    let line = serde_json::json!({"v": 1, "socket": socket, "pid": pid, "start": start});
    let file = dir.join(format!("{boot}-{pid}-{start}"));
    let mut options = std::fs::OpenOptions::new();
    let mut out = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)?;
    io::Write::write_all(&mut out, format!("{line}\n").as_bytes())
}

/// Runs the program with its arguments (without its own name) until it ends or gets SIGTERM, SIGHUP or
/// SIGINT. A test binary that starts itself again can call this to be the program.
pub fn run(words: impl IntoIterator<Item = String>) -> ExitCode {
    let args = match parse(words.into_iter()) {
        Ok(Some(args)) => args,
        Ok(None) => return ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [1, 2, 15] {
        if let Err(e) = signal_hook::flag::register(signal, Arc::clone(&stop)) {
            eprintln!("cannot watch signal {signal}: {e}");
        }
    }
    let started = Instant::now();
    let (config, conf) = configure(args);
    let kitty = match FakeKitty::start(config) {
        Ok(kitty) => kitty,
        Err(e) => {
            eprintln!(
                "Traceback (most recent call last):\n  File \"kitty/main.py\", in _main\nValueError: {e}"
            );
            return ExitCode::FAILURE;
        }
    };
    if let Err(e) = run_watchers(&conf, kitty.socket()) {
        eprintln!("Failed to load watcher with error: {e}");
    }
    let mut shown = 0;
    let mut print_messages = || {
        let messages = kitty.messages();
        for line in &messages[shown..] {
            eprintln!("[{:.3}] {line}", started.elapsed().as_secs_f64());
        }
        shown = messages.len();
    };
    while !stop.load(Ordering::Relaxed) && !kitty.wait_for_end(Duration::from_millis(30)) {
        print_messages();
    }
    print_messages();
    drop(kitty);
    ExitCode::SUCCESS
}
