//! `fake-kitty`: see the library.

fn main() -> std::process::ExitCode {
    let words = std::env::args_os().skip(1);
    fake_kitty::program::run(words.map(|w| w.to_string_lossy().into_owned()))
}
