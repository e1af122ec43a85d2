//! A stand-in for nushell, which no package of this system brings: a shell of its own that is no
//! bash, zsh or fish. It reads lines, runs each program as a job in a process group of its own with
//! the terminal, and knows `cd`, `echo`, `fg`, `exit` and `$env.NAME = "value"`.
#![allow(unsafe_code)]

use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process_group, setpgid, waitpid};
use rustix::termios::tcsetpgrp;

unsafe extern "C" {
    fn signal(number: i32, handler: usize) -> usize;
}

const DEFAULT: usize = 0;
const IGNORE: usize = 1;

/// What a terminal sends to a group that is not in front, and ^C and ^Z at the prompt.
const AT_THE_PROMPT: [i32; 4] = [
    signal_hook::consts::SIGTTOU,
    signal_hook::consts::SIGTTIN,
    signal_hook::consts::SIGTSTP,
    signal_hook::consts::SIGINT,
];

fn handle(handler: usize) {
    for number in AT_THE_PROMPT {
        // SAFETY: `signal` with these two handlers touches no memory of ours.
        unsafe { signal(number, handler) };
    }
}

/// Runs the shell; `--config FILE` has lines that are run first.
pub fn run(words: &[String]) -> ExitCode {
    handle(IGNORE);
    let _ = setpgid(None, None);
    in_front(getpid());
    let mut stopped = None;
    let config = words.iter().position(|w| w == "--config");
    if let Some(text) = config.and_then(|at| std::fs::read_to_string(words.get(at + 1)?).ok()) {
        for line in text.lines() {
            let _ = run_line(line, &mut stopped);
        }
    }
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print!("nu> ");
        let _ = std::io::stdout().flush();
        let Some(Ok(line)) = lines.next() else {
            return ExitCode::SUCCESS;
        };
        if let Some(code) = run_line(&line, &mut stopped) {
            return code;
        }
    }
}

/// Runs one line; a status where it ends the shell.
fn run_line(line: &str, stopped: &mut Option<Pid>) -> Option<ExitCode> {
    let words = split(line);
    let (program, rest) = words.split_first()?;
    if let (Some(name), [equals, value]) = (program.strip_prefix("$env."), rest)
        && equals == "="
    {
        // SAFETY: this program has one thread.
        unsafe { std::env::set_var(name, value) };
        return None;
    }
    match program.as_str() {
        "exit" => return Some(ExitCode::SUCCESS),
        "echo" => println!("{}", rest.join(" ")),
        "cd" => {
            if let Some(dir) = rest.first()
                && let Err(e) = std::env::set_current_dir(dir)
            {
                println!("cd: {dir}: {e}");
            }
        }
        "fg" => match stopped.take() {
            Some(pid) => {
                in_front(pid);
                let _ = kill_process_group(pid, Signal::CONT);
                wait(pid, stopped);
            }
            None => println!("fg: no job"),
        },
        _ => start(program, rest, stopped),
    }
    None
}

fn start(program: &str, rest: &[String], stopped: &mut Option<Pid>) {
    let mut command = Command::new(program);
    command.args(rest).process_group(0);
    // SAFETY: only system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            // While the signal is still ignored: a group in the background may not take the terminal.
            in_front(getpid());
            handle(DEFAULT);
            Ok(())
        });
    }
    match command.spawn() {
        Ok(child) => {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                wait(pid, stopped);
            }
        }
        Err(e) => println!("{program}: {e}"),
    }
}

/// Waits until the job ends or is stopped, and takes the terminal back.
fn wait(pid: Pid, stopped: &mut Option<Pid>) {
    if let Ok(Some((_, status))) = waitpid(Some(pid), WaitOptions::UNTRACED)
        && status.stopped()
    {
        *stopped = Some(pid);
        println!("stopped");
    }
    in_front(getpid());
}

fn in_front(group: Pid) {
    let _ = tcsetpgrp(rustix::stdio::stdin(), group);
}

/// Words between blanks; what stands between quotes is as it is.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
