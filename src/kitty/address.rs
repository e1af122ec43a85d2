//! Where a kitty listens, and who is there (facts 2.2–2.7).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};

use crate::sys::bytes::{from_bytes, to_bytes};
use crate::sys::clock::Deadline;

/// An address as kitty writes it in `KITTY_LISTEN_ON`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// `unix:/path`
    Path(PathBuf),
    /// `unix:@name` (Linux only)
    Abstract(String),
    /// `fd:N`: one end of a socket pair, inherited from kitty.
    Inherited(i32),
}

impl Address {
    /// Reads an address; anything but the three forms is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(number) = text.strip_prefix("fd:") {
            return number.parse().ok().filter(|n| *n > 2).map(Self::Inherited);
        }
        let rest = text.strip_prefix("unix:")?;
        if rest.contains('\0') {
            return None;
        }
        match rest.strip_prefix('@') {
            Some("") => None,
            Some(name) => Some(Self::Abstract(name.to_owned())),
            None if rest.starts_with('/') => Some(Self::Path(crate::sys::bytes::to_path(rest))),
            None => None,
        }
    }

    /// Connects; a kitty that is too busy to take connections is given a moment, and then *would block*.
    ///
    /// # Errors
    /// When nobody listens, or the socket belongs to somebody else.
    pub fn connect(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Inherited(number) => {
                let fd = inherited(*number)?;
                rustix::io::ioctl_fionbio(&fd, true)?;
                Ok(fd)
            }
            Self::Path(path) => {
                let stat = rustix::fs::stat(path)?;
                if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Socket
                {
                    return Err(io::Error::other("not a socket"));
                }
                if stat.st_uid != rustix::process::geteuid().as_raw() {
                    return Err(io::Error::new(
                        io::ErrorKind::PermissionDenied,
                        "the socket belongs to another user",
                    ));
                }
                let fd = new_socket()?;
                connect(&fd, &SocketAddrUnix::new(path)?)?;
                Ok(fd)
            }
            Self::Abstract(name) => {
                let fd = new_socket()?;
                connect(&fd, &abstract_address(&to_bytes(name))?)?;
                Ok(fd)
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(
                f,
                "unix:{}",
                from_bytes(path.as_os_str().as_encoded_bytes())
            ),
            Self::Abstract(name) => write!(f, "unix:@{name}"),
            Self::Inherited(number) => write!(f, "fd:{number}"),
        }
    }
}

/// How long a full queue of connections is waited for: kitty takes none while it starts or saves.
const QUEUE: Duration = Duration::from_millis(300);

fn connect(fd: &OwnedFd, address: &SocketAddrUnix) -> io::Result<()> {
    let end = Deadline::after(QUEUE);
    loop {
        match net::connect(fd, address) {
            Err(rustix::io::Errno::AGAIN) if !end.is_over() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return Ok(done?),
        }
    }
}

/// A socket that no program we start inherits and no call waits for.
#[cfg(target_os = "linux")]
fn new_socket() -> io::Result<OwnedFd> {
    let flags = net::SocketFlags::CLOEXEC | net::SocketFlags::NONBLOCK;
    Ok(net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        flags,
        None,
    )?)
}

/// A socket that no program we start inherits and no call waits for.
#[cfg(not(target_os = "linux"))]
fn new_socket() -> io::Result<OwnedFd> {
    let fd = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}

#[cfg(target_os = "linux")]
fn abstract_address(name: &[u8]) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn abstract_address(_name: &[u8]) -> io::Result<SocketAddrUnix> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "abstract sockets exist on Linux only",
    ))
}

/// A copy of the inherited descriptor, close-on-exec; refused when it is no connected unix socket.
#[allow(unsafe_code)]
fn inherited(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: borrowed for one fcntl; a number that is no open descriptor gives EBADF.
    let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    let copy = rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?;
    if net::sockopt::socket_type(&copy)? != SocketType::STREAM {
        return Err(io::Error::other("not a stream socket"));
    }
    net::getpeername(&copy)?;
    Ok(copy)
}

/// Closes the inherited descriptor itself, as must happen before an `exec`.
#[allow(unsafe_code)]
pub fn close_inherited(number: i32) {
    if number > 2 {
        // SAFETY: the descriptor was handed to this process for this use, and nothing else owns it.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The process that listens (for a socket pair: that made it).
    pub pid: i32,
    /// Whose it is.
    pub uid: u32,
}

/// The process at the other end of a connected socket.
///
/// # Errors
/// When the system cannot say.
#[cfg(target_os = "linux")]
pub fn peer(fd: impl AsFd) -> io::Result<Peer> {
    let cred = net::sockopt::socket_peercred(fd)?;
    Ok(Peer {
        pid: cred.pid.as_raw_nonzero().get(),
        uid: cred.uid.as_raw(),
    })
}

/// The process at the other end of a connected socket.
///
/// # Errors
/// When the system cannot say.
#[cfg(target_os = "macos")]
#[allow(unsafe_code)]
pub fn peer(fd: impl AsFd) -> io::Result<Peer> {
    use std::ffi::{c_int, c_void};
    use std::os::fd::AsRawFd;
    unsafe extern "C" {
        fn getpeereid(fd: c_int, uid: *mut u32, gid: *mut u32) -> c_int;
        fn getsockopt(
            fd: c_int,
            level: c_int,
            name: c_int,
            value: *mut c_void,
            len: *mut u32,
        ) -> c_int;
    }
    const SOL_LOCAL: c_int = 0;
    const LOCAL_PEERPID: c_int = 2;
    let raw = fd.as_fd().as_raw_fd();
    let (mut uid, mut gid, mut pid, mut len) = (0u32, 0u32, 0 as c_int, 4u32);
    // SAFETY: all four point to values of the sizes the calls expect.
    let rc = unsafe { getpeereid(raw, &raw mut uid, &raw mut gid) };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    let rc = unsafe {
        getsockopt(
            raw,
            SOL_LOCAL,
            LOCAL_PEERPID,
            (&raw mut pid).cast(),
            &raw mut len,
        )
    };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Peer { pid, uid })
}

/// Whether `path` looks like a socket file.
#[must_use]
pub fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|m| m.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for good in ["unix:/run/user/1/kitty-5", "unix:@kitty-7", "fd:17"] {
            assert_eq!(
                Address::parse(good).map(|a| a.to_string()).as_deref(),
                Some(good)
            );
        }
        for bad in [
            "",
            "unix:",
            "unix:@",
            "unix:relative",
            "tcp:localhost:1",
            "fd:",
            "fd:x",
            "fd:-1",
            "fd:0",
            "/tmp/x",
            "unix:/a\0b",
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_a_connected_socket_is_inherited() {
        assert!(Address::Inherited(9_999).connect().is_err());
        let file = std::fs::File::open("/dev/null").expect("/dev/null");
        assert!(
            Address::Inherited(std::os::fd::AsRawFd::as_raw_fd(&file))
                .connect()
                .is_err()
        );
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let copy = Address::Inherited(std::os::fd::AsRawFd::as_raw_fd(&ours))
            .connect()
            .expect("connected");
        assert_eq!(
            peer(&copy).expect("a peer").uid,
            rustix::process::geteuid().as_raw()
        );
    }
}
