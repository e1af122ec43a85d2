//! Programs that no kitty above the tests is an ancestor of.

use std::process::{Command, Output, Stdio};

/// Runs a command that no kitty above the tests can be found from: its parent is gone before it
/// begins. A person may run the tests in a kitty of their own.
pub fn detached(command: &Command) -> Output {
    const THEN: &str =
        "(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; \"$@\"; echo $? >\"$0\") &";
    let status = tempfile::NamedTempFile::new().expect("a file");
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(THEN)
        .arg(status.path())
        .arg(command.get_program())
        .args(command.get_args());
    shell
        .env_clear()
        .envs(command.get_envs().filter_map(|(n, v)| Some((n, v?))));
    shell.current_dir(command.get_current_dir().expect("a directory"));
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = shell.spawn().expect("a shell");
    child.wait().expect("the shell ends");
    let read = |from: Option<&mut dyn std::io::Read>| {
        let mut bytes = Vec::new();
        from.expect("a pipe")
            .read_to_end(&mut bytes)
            .expect("readable");
        bytes
    };
    let (stdout, stderr) = (
        read(child.stdout.as_mut().map(|o| o as _)),
        read(child.stderr.as_mut().map(|e| e as _)),
    );
    let code: i32 = std::fs::read_to_string(status.path())
        .expect("a status")
        .trim()
        .parse()
        .expect("a number");
    Output {
        status: std::os::unix::process::ExitStatusExt::from_raw(code << 8),
        stdout,
        stderr,
    }
}
