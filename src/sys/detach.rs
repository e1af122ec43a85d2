//! A foreign program in a session of its own: without our terminal, and ended when we end.
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the program that `command` will start the leader of its own session and process group. On
/// Linux it is killed when the thread that started it ends, however that happens.
pub fn in_own_session(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec only system calls are made, nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            #[cfg(target_os = "linux")]
            {
                let kill = Some(rustix::process::Signal::KILL);
                rustix::process::set_parent_process_death_signal(kill)?;
                // We may have ended before that was set.
                if rustix::process::getppid() != Some(parent) {
                    return Err(std::io::ErrorKind::NotConnected.into());
                }
            }
            let _ = parent;
            Ok(())
        });
    }
}
