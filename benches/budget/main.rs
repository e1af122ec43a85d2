//! Measures what the budget names: `make bench`. Whole processes take turns (A B A B), so that a busy
//! moment of the machine hits both sides of a ratio; every figure is the median of many runs.

#[cfg(target_os = "linux")]
// The rewrite is measured in this process, so it has the allocator of the program.
#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

mod child;
#[cfg(target_os = "linux")]
mod desk;
#[cfg(target_os = "linux")]
mod hook;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod rewrite;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    measure::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the budget is measured on Linux only");
}
