//! Talking to kitties: every wait has an end, since some requests get no answer at all (facts 1.4,
//! 1.9), and several kitties are waited for together.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::address::{Address, Peer, peer};
use super::wire::{MAX_REQUEST, Replies, Reply, read_reply};
use crate::sys::clock::Deadline;
use crate::sys::proc::{self, ProcId};

/// Why a kitty did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// Nobody listens there (any more).
    Dead(String),
    /// It belongs to, or runs as, somebody else.
    Foreign(String),
    /// It took the connection and said nothing in time.
    TimedOut,
    /// It broke off, or answered something that is not kitty's protocol.
    Broken(String),
}

impl std::fmt::Display for Silence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dead(why) => write!(f, "nobody listens there ({why})"),
            Self::Foreign(why) => f.write_str(why),
            Self::TimedOut => f.write_str("it does not answer"),
            Self::Broken(why) => f.write_str(why),
        }
    }
}

fn broke(e: rustix::io::Errno) -> Silence {
    let cause = crate::sys::fault::plain_cause(&e.into());
    Silence::Broken(format!("the connection broke ({cause})"))
}

/// An open connection to one kitty.
#[derive(Debug)]
pub struct Connection {
    fd: OwnedFd,
    address: Address,
    peer: Peer,
    replies: Replies,
    /// Set once an answer was given up: on a stream that is strictly in order nothing more can be
    /// asked, since the next answer would be the late one.
    spoiled: bool,
}

impl Connection {
    /// Connects to `address`, if a process of ours listens there.
    ///
    /// # Errors
    /// Why not.
    pub fn open(address: &Address) -> Result<Self, Silence> {
        let fd = address.connect().map_err(|e| match e.kind() {
            std::io::ErrorKind::PermissionDenied => {
                Silence::Foreign(crate::sys::fault::plain_cause(&e))
            }
            std::io::ErrorKind::WouldBlock => Silence::TimedOut,
            _ => Silence::Dead(crate::sys::fault::plain_cause(&e)),
        })?;
        let peer = peer(&fd).map_err(|e| Silence::Broken(crate::sys::fault::plain_cause(&e)))?;
        if peer.uid != rustix::process::geteuid().as_raw() {
            return Err(Silence::Foreign(
                "the program that listens there runs as another user".to_owned(),
            ));
        }
        Ok(Self {
            fd,
            address: address.clone(),
            peer,
            replies: Replies::default(),
            spoiled: false,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The pid of the process that listens.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.peer.pid
    }

    /// The process that listens, told apart from a later one with its pid.
    #[must_use]
    pub fn process(&self) -> Option<ProcId> {
        proc::start(self.peer.pid).map(|start| ProcId {
            pid: self.peer.pid,
            start,
        })
    }

    /// One request, one answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn ask(&mut self, frame: &[u8], wait: Duration) -> Result<Reply, Silence> {
        let mut replies = self.ask_all(std::slice::from_ref(&frame), wait)?;
        replies.pop().ok_or(Silence::TimedOut)
    }

    /// All requests in one go, the answers in the same order.
    ///
    /// # Errors
    /// Why not all of them were answered.
    pub fn ask_all(
        &mut self,
        frames: &[impl AsRef<[u8]>],
        wait: Duration,
    ) -> Result<Vec<Reply>, Silence> {
        let mut exchanges = [Exchange::new(self, frames)];
        drive(&mut exchanges, wait);
        let [exchange] = exchanges;
        exchange.result()
    }
}

/// Requests under way on one connection.
#[derive(Debug)]
pub struct Exchange<'a> {
    connection: &'a mut Connection,
    out: Vec<u8>,
    sent: usize,
    wanted: usize,
    got: Vec<Vec<u8>>,
    failed: Option<Silence>,
}

impl<'a> Exchange<'a> {
    /// Prepares the requests; nothing is sent yet.
    #[must_use]
    pub fn new(connection: &'a mut Connection, frames: &[impl AsRef<[u8]>]) -> Self {
        let too_long = frames.iter().any(|f| f.as_ref().len() > MAX_REQUEST);
        let failed = if too_long {
            Some(Silence::Broken(format!(
                "a request is longer than kitty takes ({MAX_REQUEST} bytes)"
            )))
        } else if connection.spoiled {
            Some(Silence::TimedOut)
        } else {
            None
        };
        Self {
            connection,
            out: frames
                .iter()
                .flat_map(|f| f.as_ref().iter().copied())
                .collect(),
            sent: 0,
            wanted: frames.len(),
            got: Vec::new(),
            failed,
        }
    }

    fn is_done(&self) -> bool {
        self.failed.is_some() || self.got.len() >= self.wanted
    }

    /// The answers, or why they are not all there.
    ///
    /// # Errors
    /// Why not.
    pub fn result(self) -> Result<Vec<Reply>, Silence> {
        let bodies = self.bodies()?;
        let replies = bodies.iter().map(|body| read_reply(body));
        replies.collect::<Result<_, _>>().map_err(Silence::Broken)
    }

    /// The JSON texts of the answers, as they came.
    ///
    /// # Errors
    /// Why they are not all there.
    pub fn bodies(self) -> Result<Vec<Vec<u8>>, Silence> {
        match self.failed {
            Some(silence) => Err(silence),
            None if self.got.len() < self.wanted => Err(Silence::TimedOut),
            None => Ok(self.got),
        }
    }

    fn write(&mut self) {
        while self.sent < self.out.len() {
            #[cfg(target_os = "linux")]
            let flags = SendFlags::NOSIGNAL;
            #[cfg(not(target_os = "linux"))]
            let flags = SendFlags::empty();
            match send(&self.connection.fd, &self.out[self.sent..], flags) {
                Ok(n) => self.sent += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(e) => {
                    self.failed = Some(broke(e));
                    return;
                }
            }
        }
    }

    fn read(&mut self) {
        loop {
            let room = spare_capacity(self.connection.replies.room());
            match recv(&self.connection.fd, room, RecvFlags::empty()) {
                Ok((0, _)) => {
                    self.failed = Some(Silence::Broken(
                        "the connection was closed before the answer".to_owned(),
                    ));
                    return;
                }
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(rustix::io::Errno::AGAIN) => return,
                Err(e) => {
                    self.failed = Some(broke(e));
                    return;
                }
            }
            while !self.is_done()
                && let Some(reply) = self.take()
            {
                match reply {
                    Ok(reply) => self.got.push(reply),
                    Err(why) => self.failed = Some(Silence::Broken(why)),
                }
            }
            if self.is_done() {
                return;
            }
        }
    }

    fn take(&mut self) -> Option<Result<Vec<u8>, String>> {
        let replies = &mut self.connection.replies;
        match self.wanted - self.got.len() {
            1 => replies.take_last(),
            _ => replies.take(),
        }
    }
}

/// Drives all exchanges together until each is done or `wait` is over; those that are not done can be
/// driven on.
pub fn drive(exchanges: &mut [Exchange<'_>], wait: Duration) {
    let end = Deadline::after(wait);
    loop {
        for exchange in exchanges.iter_mut().filter(|e| !e.is_done()) {
            exchange.write();
        }
        let mut polled = Vec::new();
        let mut which = Vec::new();
        for (n, exchange) in exchanges.iter().enumerate().filter(|(_, e)| !e.is_done()) {
            let more = if exchange.sent < exchange.out.len() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            polled.push(PollFd::from_borrowed_fd(
                exchange.connection.fd.as_fd(),
                PollFlags::IN | more,
            ));
            which.push(n);
        }
        let left = end.left();
        if polled.is_empty() || left.is_zero() {
            break;
        }
        let limit = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
            tv_nsec: left.subsec_nanos().into(),
        };
        let ready: Vec<usize> = match poll(&mut polled, Some(&limit)) {
            Ok(_) => which
                .iter()
                .zip(&polled)
                .filter(|(_, p)| !p.revents().is_empty())
                .map(|(n, _)| *n)
                .collect(),
            Err(_) => Vec::new(),
        };
        for n in ready {
            exchanges[n].read();
        }
    }
    for exchange in exchanges {
        exchange.connection.spoiled = !exchange.is_done() || exchange.failed.is_some();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    use super::super::wire::request;
    use super::*;

    /// Serves one connection with `answer` in a thread; gives the address.
    fn serve(
        dir: &std::path::Path,
        name: &str,
        answer: impl FnOnce(std::os::unix::net::UnixStream) + Send + 'static,
    ) -> Address {
        let path = dir.join(name);
        let listener = UnixListener::bind(&path).expect("bind");
        std::thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                answer(stream);
            }
        });
        Address::Path(path)
    }

    fn frame(body: &str) -> Vec<u8> {
        format!("\x1bP@kitty-cmd{body}\x1b\\").into_bytes()
    }

    #[test]
    fn answers_split_by_the_byte_and_large_ones_arrive() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let big = "x".repeat(5 << 20);
        let sent = big.clone();
        let address = serve(top.path(), "k", move |mut s| {
            let _ = s.read(&mut [0; 4096]);
            for b in frame(r#"{"ok": true, "data": "one"}"#) {
                let _ = s.write_all(&[b]);
            }
            let _ = s.write_all(&frame(&format!(r#"{{"ok": true, "data": "{sent}"}}"#)));
            let _ = s.read(&mut [0; 4096]);
        });
        let mut kitty = Connection::open(&address).expect("connected");
        let frames = [request("ls", "{}", None), request("ls", "{}", None)];
        let replies = kitty
            .ask_all(&frames, Duration::from_secs(20))
            .expect("answers");
        assert_eq!(replies, [Reply::Ok("one".into()), Reply::Ok(big)]);
    }

    #[test]
    fn a_silent_one_is_given_up_for_good_and_holds_up_nobody() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let silent = serve(top.path(), "silent", |mut s| {
            while s.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
        });
        let cut = serve(top.path(), "cut", |mut s| {
            let _ = s.read(&mut [0; 4096]);
            let _ = s.write_all(b"\x1bP@kitty-cmd{\"ok\": tr");
        });
        let good = serve(top.path(), "good", |mut s| {
            let _ = s.read(&mut [0; 4096]);
            let _ = s.write_all(&frame(r#"{"ok": true}"#));
            let _ = s.read(&mut [0; 4096]);
        });
        let mut kitties: Vec<Connection> = [&silent, &cut, &good]
            .iter()
            .map(|a| Connection::open(a).expect("connected"))
            .collect();
        let frames = [request("ls", "{}", None)];
        let mut exchanges: Vec<Exchange> = kitties
            .iter_mut()
            .map(|k| Exchange::new(k, &frames))
            .collect();
        drive(&mut exchanges, Duration::from_millis(200));
        let results: Vec<_> = exchanges.into_iter().map(Exchange::result).collect();
        assert_eq!(results[0], Err(Silence::TimedOut));
        assert!(matches!(results[1], Err(Silence::Broken(_))));
        assert_eq!(results[2], Ok(vec![Reply::Ok(String::new())]));
        let begin = Instant::now();
        assert_eq!(
            kitties[0].ask(&frames[0], Duration::from_secs(5)),
            Err(Silence::TimedOut)
        );
        assert!(
            begin.elapsed() < Duration::from_secs(1),
            "a spoiled connection is not asked again"
        );
    }

    #[test]
    fn dead_sockets_plain_files_and_long_requests_are_told_apart() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let path = top.path().join("dead");
        drop(UnixListener::bind(&path).expect("bind"));
        assert!(matches!(
            Connection::open(&Address::Path(path)),
            Err(Silence::Dead(_))
        ));
        std::fs::write(top.path().join("file"), "").expect("write");
        assert!(matches!(
            Connection::open(&Address::Path(top.path().join("file"))),
            Err(Silence::Dead(_))
        ));
        assert!(matches!(
            Connection::open(&Address::Path(top.path().join("none"))),
            Err(Silence::Dead(_))
        ));
        let open = serve(top.path(), "open", |mut s| {
            while s.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
        });
        let mut kitty = Connection::open(&open).expect("connected");
        assert!(matches!(
            kitty.ask(&vec![b'x'; MAX_REQUEST + 1], Duration::from_secs(5)),
            Err(Silence::Broken(_))
        ));
    }
}
