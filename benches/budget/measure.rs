//! What is measured, in the order of the table.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use kittymux::sys::clock;
use kittymux::sys::json::Object;

use super::child::{self, Run};
use super::desk::{Conversation, Desk, Programs};
use super::hook;
use super::report::{Row, left_out, markdown, median, plain, row};
use super::rewrite;

/// How often a small program is started.
const STARTS: usize = 400;
/// How often windows are listed, by number of windows.
const LISTS: [(usize, usize); 3] = [(30, 200), (100, 100), (500, 30)];
/// How often a prompt is painted.
const PROMPTS: usize = 100;
/// How often a save is rewritten.
const REWRITES: usize = 200;

/// What the command line says.
#[derive(Default)]
struct Options {
    programs: Option<Programs>,
    empty_c: Option<PathBuf>,
    empty_rust: Option<PathBuf>,
    /// How many idle programs run beside, as on a desktop.
    idle: usize,
    /// The real kitty's figures, as Markdown lines.
    real: String,
    /// Where the results are written.
    write: Option<PathBuf>,
}

/// Measures and prints. How long things took never changes the exit code.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|w| w != "--bench")
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        // Small programs of ours for a clean process or a clean environment.
        ["peak", program, rest @ ..] => peak(program, rest),
        ["rewrite"] => rewrites(),
        ["stand", windows, rest @ ..] => stand(windows, rest),
        _ => parse(&words).and_then(|options| all(&options)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    let value = |name: &str| {
        let at = words.iter().position(|w| *w == name)?;
        words.get(at + 1).copied().filter(|v| !v.is_empty())
    };
    let path = |name: &str| value(name).map(PathBuf::from);
    let needed =
        |name: &str| path(name).ok_or_else(|| format!("{name} is missing; start benches/run.sh"));
    options.programs = Some(Programs {
        kittymux: needed("--kittymux")?,
        kitty: needed("--kitty")?,
        agent: needed("--agent")?,
    });
    options.empty_c = path("--empty-c");
    options.empty_rust = path("--empty-rust");
    if let Some(real) = path("--real") {
        options.real = std::fs::read_to_string(real).unwrap_or_default();
    }
    options.idle = value("--idle").and_then(|n| n.parse().ok()).unwrap_or(0);
    options.write = path("--write");
    Ok(options)
}

fn all(options: &Options) -> Result<(), String> {
    let programs = options.programs.as_ref().ok_or("no programs")?;
    let plain_error = |e: io::Error| e.to_string();
    let _idle = Idle::start(options.idle).map_err(plain_error)?;
    let mut rows = starts(options, programs).map_err(plain_error)?;
    rows.push(hook::measure(programs, options.empty_c.as_deref()).map_err(plain_error)?);
    for (windows, times) in LISTS {
        let desk = match Desk::open(programs, windows) {
            Ok(desk) => desk,
            Err(why) => {
                rows.push(left_out(
                    &format!("a desk of {windows} windows"),
                    &why.to_string(),
                ));
                continue;
            }
        };
        rows.extend(list(&desk, windows, times).map_err(plain_error)?);
        rows.push(tick(&desk, windows, times).map_err(plain_error)?);
        if windows == 100 {
            rows.push(rewrite_row(&desk)?);
        }
        if windows == 30 {
            let conversation = desk.conversation().ok_or("no conversation is known")?;
            rows.push(prompt(&desk, &conversation).map_err(plain_error)?);
        }
    }
    let size = std::fs::metadata(&programs.kittymux)
        .map_err(plain_error)?
        .len();
    #[allow(clippy::cast_precision_loss)]
    rows.push(row("binary", size as f64 / 1000.0, Some(900.0), "KB"));
    let about = machine();
    println!("{about}\n\n{}", plain(&rows));
    if let Some(path) = &options.write {
        let text = format!(
            "# What it costs\n\n`make bench` measures this; `benches/run.sh --write` writes it here.\n\n{about}\n\n{}\n{}",
            markdown(&rows),
            options.real
        );
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Programs that do nothing: a person's desktop has some hundred, and a look at all processes sees
/// them.
struct Idle(Vec<Child>);

impl Idle {
    fn start(how_many: usize) -> io::Result<Self> {
        let mut command = Command::new("/bin/sleep");
        command.arg("3600").stdin(Stdio::null());
        let started: io::Result<_> = (0..how_many).map(|_| command.spawn()).collect();
        started.map(Self)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The machine in general words, and how much it swings.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let vendor = match cpu.lines().find(|l| l.starts_with("vendor_id")) {
        Some(l) if l.contains("Intel") => "an Intel",
        Some(l) if l.contains("AMD") => "an AMD",
        _ => "some other",
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    let kernel: Vec<&str> = kernel.trim().split(['.', '-']).take(2).collect();
    let mut spins: Vec<Duration> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box((0..200_000u64).fold(0, |a, b| std::hint::black_box(a ^ b)));
            begin.elapsed()
        })
        .collect();
    spins.sort_unstable();
    let swing = spins[180].as_secs_f64() / spins[20].as_secs_f64();
    let date = clock::rfc3339(clock::wall_ns());
    format!(
        "{}; Linux {}, {vendor} processor, {cores} cores. Noise: of equal pieces of work the slowest tenth takes at least {swing:.1} × what the fastest tenth takes at most.",
        &date[..10],
        kernel.join("."),
    )
}

/// Starts of the smallest programs there are, and of ours.
fn starts(options: &Options, programs: &Programs) -> io::Result<Vec<Row>> {
    let mut version = Command::new(&programs.kittymux);
    version.arg("--version");
    let home = std::env::temp_dir().join(format!("kmxb-{:x}-home", clock::wall_ns()));
    std::fs::create_dir_all(&home)?;
    let mut tick = Command::new(&programs.kittymux);
    tick.arg("--tick").env_clear().env("HOME", &home);
    must(child::run(&mut tick)?)?;
    let mut all = vec![version, tick];
    let mut at = |path: &Option<PathBuf>| {
        let path = path.as_ref()?;
        all.push(Command::new(path));
        Some(all.len() - 1)
    };
    let (c, rust) = (at(&options.empty_c), at(&options.empty_rust));
    let mut walls: Vec<Vec<Duration>> = vec![Vec::new(); all.len()];
    for _ in 0..STARTS {
        for (command, walls) in all.iter_mut().zip(&mut walls) {
            walls.push(must(child::run(command)?)?.wall);
        }
    }
    std::fs::remove_dir_all(&home)?;
    let mut rows = vec![row(
        "--version, whole process",
        median(&walls[0]),
        None,
        "ms",
    )];
    let Some(c) = c else {
        rows.push(left_out(
            "--version : an empty static C program",
            "musl-gcc is not installed here",
        ));
        return Ok(rows);
    };
    rows.push(row(
        "an empty static C program",
        median(&walls[c]),
        None,
        "ms",
    ));
    let ratio = |n: usize| median(&walls[n]) / median(&walls[c]);
    rows.push(row("--version : empty C", ratio(0), Some(1.8), "×"));
    rows.push(row("--tick, no kitty : empty C", ratio(1), Some(2.5), "×"));
    match rust {
        Some(rust) => rows.push(row(
            "an empty Rust program : empty C",
            ratio(rust),
            None,
            "×",
        )),
        None => rows.push(left_out(
            "an empty Rust program : empty C",
            "there is no musl target here",
        )),
    }
    Ok(rows)
}

fn must(run: Run) -> io::Result<Run> {
    if run.ok {
        Ok(run)
    } else {
        Err(io::Error::other("a measured program failed"))
    }
}

/// `sessions list`, in turn with kitty's own answer.
fn list(desk: &Desk, windows: usize, times: usize) -> io::Result<Vec<Row>> {
    let mut command = desk.kittymux(&["sessions", "list"]);
    let (mut cpu, mut wall, mut answer) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times {
        let run = must(child::run(&mut command)?)?;
        cpu.push(run.cpu);
        wall.push(run.wall);
        let begin = Instant::now();
        desk.answer()?;
        answer.push(begin.elapsed());
    }
    let budget = |most: f64| (windows == 30).then_some(most);
    let name = format!("list, {windows} windows, {} agents", windows.div_ceil(3));
    let peak = desk
        .command(&std::env::current_exe()?)
        .args(["peak", "kittymux", "sessions", "list"])
        .output()?;
    let peak: f64 = String::from_utf8_lossy(&peak.stdout)
        .trim()
        .parse()
        .unwrap_or(f64::NAN);
    let most = match windows {
        30 => Some(4.0),
        500 => Some(12.0),
        _ => None,
    };
    Ok(vec![
        row(&format!("{name}: own CPU"), median(&cpu), budget(1.0), "ms"),
        row(
            &format!(
                "{name}: wall beyond kitty's own answer of {:.2} ms",
                median(&answer)
            ),
            median(&wall) - median(&answer),
            budget(1.5),
            "ms",
        ),
        row(&format!("{name}: peak memory"), peak, most, "MB"),
    ])
}

/// `--tick` while nothing changes.
fn tick(desk: &Desk, windows: usize, times: usize) -> io::Result<Row> {
    let mut command = desk.kittymux(&["--tick"]);
    // The first two see everything for the first time.
    for _ in 0..2 {
        must(child::run(&mut command)?)?;
    }
    let mut cpu = Vec::new();
    for _ in 0..times {
        cpu.push(must(child::run(&mut command)?)?.cpu);
    }
    let most = match windows {
        30 => Some(0.5),
        500 => Some(5.0),
        _ => None,
    };
    let name = format!("--tick, {windows} windows, nothing changed: own CPU");
    Ok(row(&name, median(&cpu), most, "ms"))
}

/// Prints the peak memory of a program, MB: the kernel counts what a process was before it became
/// its program, so it is started from this small process and not from the large one.
fn peak(program: &str, words: &[&str]) -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let program = path
        .split(':')
        .map(|dir| PathBuf::from(dir).join(program))
        .find(|p| p.exists())
        .ok_or("no such program")?;
    let run = child::run(Command::new(program).args(words)).and_then(must);
    let kib = run.map_err(|e| e.to_string())?.peak_kib;
    #[allow(clippy::cast_precision_loss)]
    let mb = kib as f64 * 1024.0 / 1e6;
    println!("{mb:.3}");
    Ok(())
}

/// Opens a desk of so many windows and runs a command in it, for a profiler:
/// `stand 30 --kittymux … --kitty … --agent … -- perf stat kittymux sessions list`.
fn stand(windows: &str, rest: &[&str]) -> Result<(), String> {
    let programs = parse(rest)?.programs.ok_or("no programs")?;
    let windows = windows.parse().map_err(|_| "how many windows?")?;
    let at = rest.iter().position(|w| *w == "--").ok_or("no command")?;
    let desk = Desk::open(&programs, windows).map_err(|e| e.to_string())?;
    let (program, words) = rest[at + 1..].split_first().ok_or("no command")?;
    let status = desk
        .command(Path::new("/usr/bin/env"))
        .arg(program)
        .args(words)
        .status();
    status.map(drop).map_err(|e| e.to_string())
}

/// Prints the median time of a rewrite, ms for 100 windows.
fn rewrites() -> Result<(), String> {
    let (windows, spans) = rewrite::times(REWRITES)?;
    #[allow(clippy::cast_precision_loss)]
    let share = 100.0 / windows as f64;
    println!("{:.4}", median(&spans) * share);
    Ok(())
}

fn rewrite_row(desk: &Desk) -> Result<Row, String> {
    let itself = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = desk.command(&itself).arg("rewrite").output();
    let output = output.map_err(|e| e.to_string())?;
    let figure = String::from_utf8_lossy(&output.stdout).trim().parse();
    let figure = figure.map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    Ok(row("rewrite, 100 windows", figure, Some(2.0), "ms"))
}

/// From the start of `resume-prompt` to its question on the terminal.
fn prompt(desk: &Desk, conversation: &Conversation) -> io::Result<Row> {
    let Conversation { agent, sid, cwd } = conversation;
    let record = Object::new()
        .number("v", 1)
        .text("agent", agent)
        .text("mode", "exact")
        .text("sid", sid)
        .texts("orig", &[agent])
        .texts("resume", &[agent, "--resume", sid])
        .text("exe", "")
        .text("cwd", cwd)
        .text("tab", "work")
        .text("save", "bench")
        .text("at", &clock::rfc3339(clock::wall_ns()))
        .texts::<&str>("was", &[])
        .finish();
    let mut times = Vec::new();
    for _ in 0..PROMPTS {
        let mut command = desk.kittymux(&["resume-prompt", "--info", &record]);
        times.push(child::time_to_text(
            &mut command,
            &format!("{agent} was running here"),
        )?);
    }
    Ok(row(
        "prompt painted after its start",
        median(&times),
        Some(5.0),
        "ms",
    ))
}
