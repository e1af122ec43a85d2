//! A stand-in for a coding agent; see the library.

fn main() -> std::process::ExitCode {
    fake_agents::run(std::env::args_os().collect())
}
