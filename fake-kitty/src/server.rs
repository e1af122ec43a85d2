//! The socket: where it is, who may connect, and how frames come and go.

use crate::commands;
use crate::config::{Config, Misbehave, RemoteControl};
use crate::engine::Kitty;
use crate::frame;
use crate::model::lock;
use crate::text;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{self, AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a thread waits before it looks whether the emulator was stopped.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// As many peers may be connected at once.
const MOST_PEERS: usize = 256;

/// A bound socket.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    /// The address as `KITTY_LISTEN_ON` has it.
    pub address: String,
    /// The file to remove at the end.
    file: Option<std::path::PathBuf>,
}

impl Listener {
    /// Removes the socket's file, if it has one.
    pub fn remove(&self) {
        if let Some(file) = &self.file {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// The address to listen on, or nothing; an address kitty would refuse is an error with its log line.
///
/// # Errors
/// kitty's log line.
pub fn address(config: &Config, temp: &Path) -> Result<Option<String>, String> {
    if config.remote_control == RemoteControl::No {
        return Ok(None);
    }
    let Some(spec) = config
        .listen_on
        .as_deref()
        .filter(|s| !s.is_empty() && *s != "none")
    else {
        return Ok(None);
    };
    let pid = std::process::id().to_string();
    let Some(path) = spec.strip_prefix("unix:") else {
        return Err(format!("Invalid listen_on={spec}, ignoring"));
    };
    let mut path = text::expand_path_vars(path, &|n| config.var(n));
    if path.contains("{kitty_pid}") {
        path = path.replace("{kitty_pid}", &pid);
    } else if config.listen_from_conf {
        path = format!("{path}-{pid}");
    }
    path = text::expand_user(&path, &config.home());
    if !path.starts_with(['/', '@']) {
        path = format!("{}/{path}", temp.display());
    }
    Ok(Some(format!("unix:{path}")))
}

/// Looks whether an address could be bound, without making anything yet.
///
/// # Errors
/// kitty's log line.
pub fn probe(address: &str) -> Result<(), String> {
    let path = address.strip_prefix("unix:").unwrap_or(address);
    let good = path.starts_with('@') || {
        let file = Path::new(path);
        file.parent().is_some_and(Path::is_dir)
            && std::os::unix::net::UnixStream::connect(file).is_err()
    };
    if good {
        Ok(())
    } else {
        Err(format!("Invalid listen_on={address}, ignoring"))
    }
}

/// Binds an address (`unix:/path` or `unix:@name`). A dead socket file is replaced, a live one is not.
///
/// # Errors
/// kitty's log line.
pub fn bind(address: &str) -> Result<Listener, String> {
    let refused = |_: io::Error| format!("Invalid listen_on={address}, ignoring");
    let path = address.strip_prefix("unix:").unwrap_or(address);
    let listen = || -> io::Result<Listener> {
        let flags = SocketFlags::CLOEXEC;
        let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let file = match path.strip_prefix('@') {
            Some(name) => {
                net::bind(&fd, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
                net::listen(&fd, 128)?;
                None
            }
            None => {
                let bytes = text::to_os(path).map_err(io::Error::other)?;
                let file = Path::new(std::ffi::OsStr::from_bytes(&bytes));
                if std::os::unix::net::UnixStream::connect(file).is_ok() {
                    return Err(io::ErrorKind::AddrInUse.into());
                }
                // Bound under another name first: the file is there only when it can be connected to.
                static NEXT: AtomicUsize = AtomicUsize::new(0);
                let n = NEXT.fetch_add(1, Ordering::Relaxed);
                let pid = std::process::id();
                let new = file.with_file_name(format!(".fk{pid}-{n}"));
                let _ = std::fs::remove_file(&new);
                match SocketAddrUnix::new(&new) {
                    Ok(address) => {
                        net::bind(&fd, &address)?;
                        net::listen(&fd, 128)?;
                        std::fs::rename(&new, file)?;
                    }
                    // The other name is too long for a socket.
                    Err(_) => {
                        let _ = std::fs::remove_file(file);
                        net::bind(&fd, &SocketAddrUnix::new(file)?)?;
                        net::listen(&fd, 128)?;
                    }
                }
                Some(file.to_owned())
            }
        };
        Ok(Listener {
            fd,
            address: address.to_owned(),
            file,
        })
    };
    listen().map_err(refused)
}

/// Serves a socket in threads until the emulator is stopped.
pub fn serve(kitty: &Arc<Kitty>, listener: Listener) -> std::thread::JoinHandle<()> {
    let kitty = Arc::clone(kitty);
    std::thread::spawn(move || {
        while !kitty.stopping.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(&listener.fd, PollFlags::IN)];
            if !matches!(poll(&mut fds, Some(&TICK)), Ok(n) if n > 0) {
                continue;
            }
            let Ok(peer) = net::accept_with(&listener.fd, SocketFlags::CLOEXEC) else {
                continue;
            };
            let own = rustix::process::getuid();
            if let Ok(who) = net::sockopt::socket_peercred(&peer)
                && who.uid != own
            {
                kitty.log(format!(
                    "Denying access to peer because its uid ({}) does not match our uid ({})",
                    who.uid.as_raw(),
                    own.as_raw()
                ));
                reset(&peer);
                continue;
            }
            if kitty.peers.fetch_add(1, Ordering::Relaxed) >= MOST_PEERS {
                kitty.peers.fetch_sub(1, Ordering::Relaxed);
                kitty.log("Too many peers want to talk, ignoring one.");
                continue;
            }
            let kitty = Arc::clone(&kitty);
            std::thread::spawn(move || {
                converse(&kitty, &peer, &|k, json| {
                    commands::over_socket(k, json, false)
                });
                kitty.peers.fetch_sub(1, Ordering::Relaxed);
            });
        }
        listener.remove();
    })
}

/// Serves one end of a socket pair (`KITTY_LISTEN_ON=fd:N`).
pub fn serve_pair(kitty: Arc<Kitty>, peer: OwnedFd, refused: bool) {
    std::thread::spawn(move || {
        converse(&kitty, &peer, &|k, json| {
            commands::over_pair(k, json, refused)
        });
    });
}

/// Waits until something can be read and closes without reading, which resets a unix socket.
fn reset(peer: &OwnedFd) {
    let mut fds = [PollFd::new(peer, PollFlags::IN)];
    let _ = poll(
        &mut fds,
        Some(&Timespec {
            tv_sec: 2,
            tv_nsec: 0,
        }),
    );
}

type Handler<'a> = dyn Fn(&Arc<Kitty>, &[u8]) -> Option<String> + 'a;

/// One connection: frames in, replies out, strictly in order.
fn converse(kitty: &Arc<Kitty>, peer: &OwnedFd, handle: &Handler<'_>) {
    let mut buffer: Vec<u8> = Vec::new();
    let mut chunk = vec![0; frame::LONGEST];
    loop {
        while let Some(inside) = frame::take(&mut buffer) {
            let n = commands::count(kitty);
            let stopped = kitty
                .config
                .misbehave
                .iter()
                .any(|m| matches!(m, Misbehave::StopAfter(k) if n >= *k));
            let reply = handle(kitty, &inside);
            let Some(reply) = reply.filter(|_| !stopped && !kitty.is(&Misbehave::Silent)) else {
                continue;
            };
            for how in &kitty.config.misbehave {
                if let Misbehave::Slow(time) = how {
                    nap(kitty, *time);
                }
            }
            let mut bytes = frame::wrap(&reply);
            let half = kitty.is(&Misbehave::HalfFrame);
            if half {
                bytes.truncate(bytes.len() / 2);
            }
            if !send(peer, &bytes) {
                kitty.log("write() to peer socket failed with error: Broken pipe");
            }
            if half {
                return;
            }
        }
        if buffer.len() >= frame::LONGEST {
            kitty.log("Reading from peer failed: Ignoring too large message from peer");
            return reset(peer);
        }
        let mut fds = [PollFd::new(peer, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&TICK));
        if kitty.stopping.load(Ordering::Relaxed) {
            return;
        }
        if !matches!(ready, Ok(n) if n > 0) {
            continue;
        }
        if kitty.is(&Misbehave::Reset) {
            return;
        }
        // Never more than the longest frame: what is over it stays unread, so that closing resets.
        let room = frame::LONGEST - buffer.len();
        match rustix::io::read(peer, &mut chunk[..room]) {
            Ok(0) => {
                if !buffer.is_empty() {
                    kitty.log("Malformatted remote control message received from peer, ignoring");
                }
                return;
            }
            Ok(n) => buffer.extend_from_slice(&chunk[..n]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

fn nap(kitty: &Kitty, time: Duration) {
    let end = std::time::Instant::now() + time;
    while std::time::Instant::now() < end && !kitty.stopping.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(10).min(time));
    }
}

fn send(peer: &OwnedFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match net::send(peer, bytes, SendFlags::NOSIGNAL) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// The address as a child and the log know it.
pub fn remember(kitty: &Kitty, address: &str) {
    *lock(&kitty.address) = Some(address.to_owned());
}
