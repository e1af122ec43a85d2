//! Processes on macOS, from a few libSystem calls. What needs foreign descriptors is *could not look*.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{ProcId, Process, Stat};
use crate::sys::bytes::from_bytes;
use crate::sys::look::Look;

const PROC_PIDTBSDINFO: c_int = 3;
const PROC_PIDVNODEPATHINFO: c_int = 9;
const PROC_UID_ONLY: u32 = 4;
const PROC_PPID_ONLY: u32 = 6;
const CTL_KERN: c_int = 1;
const KERN_PROCARGS2: c_int = 49;
const PATH_MAX: usize = 1024;
const ESRCH: i32 = 3;

/// `struct proc_bsdinfo` of <sys/proc_info.h>.
#[repr(C)]
#[derive(Clone, Copy)]
struct BsdInfo {
    flags: u32,
    status: u32,
    xstatus: u32,
    pid: u32,
    ppid: u32,
    uid: u32,
    gid: u32,
    ruid: u32,
    rgid: u32,
    svuid: u32,
    svgid: u32,
    reserved: u32,
    comm: [u8; 16],
    name: [u8; 32],
    nfiles: u32,
    pgid: u32,
    pjobc: u32,
    tdev: u32,
    tpgid: u32,
    nice: i32,
    start_sec: u64,
    start_usec: u64,
}

unsafe extern "C" {
    fn proc_pidinfo(pid: c_int, flavor: c_int, arg: u64, buf: *mut c_void, size: c_int) -> c_int;
    fn proc_pidpath(pid: c_int, buf: *mut c_void, size: u32) -> c_int;
    fn proc_listpids(kind: u32, info: u32, buf: *mut c_void, size: c_int) -> c_int;
    fn sysctl(
        name: *mut c_int,
        len: c_uint,
        old: *mut c_void,
        oldlen: *mut usize,
        new: *mut c_void,
        newlen: usize,
    ) -> c_int;
    fn sysctlbyname(
        name: *const c_char,
        old: *mut c_void,
        oldlen: *mut usize,
        new: *mut c_void,
        newlen: usize,
    ) -> c_int;
    fn getsid(pid: c_int) -> c_int;
}

fn bsd_info(pid: i32) -> Option<BsdInfo> {
    let size = size_of::<BsdInfo>();
    let mut info = std::mem::MaybeUninit::<BsdInfo>::zeroed();
    // SAFETY: the buffer is as large as we say, and all-zero is a valid BsdInfo.
    let got = unsafe {
        proc_pidinfo(
            pid,
            PROC_PIDTBSDINFO,
            0,
            info.as_mut_ptr().cast(),
            size as c_int,
        )
    };
    // SAFETY: zeroed before, and any bytes are a valid BsdInfo.
    (got == size as c_int).then(|| unsafe { info.assume_init() })
}

/// A process, known by its start time.
#[derive(Debug)]
pub struct Held(ProcId);

impl Held {
    pub fn open(pid: i32) -> Option<Self> {
        stat(pid).map(|s| Self(s.id))
    }

    pub fn stat(&self) -> Option<Stat> {
        stat(self.0.pid).filter(|s| s.id == self.0)
    }

    pub fn process(&self, stat: &Stat) -> Option<Process> {
        let pid = self.0.pid;
        let process = Process {
            stat: stat.clone(),
            argv: argv(pid),
            exe: exe(pid),
            cwd: cwd(pid),
        };
        self.stat().is_some().then_some(process)
    }

    pub fn children(&self, pid: i32) -> Vec<i32> {
        children(pid)
    }
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len())]
}

pub fn stat(pid: i32) -> Option<Stat> {
    let info = bsd_info(pid)?;
    // SAFETY: takes and gives plain integers.
    let session = unsafe { getsid(pid) };
    Some(Stat {
        id: ProcId {
            pid,
            start: info.start_sec * 1_000_000 + info.start_usec,
        },
        comm: from_bytes(until_nul(&info.comm)),
        state: match info.status {
            2 => 'R',
            4 => 'T',
            5 => 'Z',
            _ => 'S',
        },
        parent: info.ppid as i32,
        group: info.pgid as i32,
        session,
        tty: info.tdev as i32,
        foreground: info.tpgid as i32,
    })
}

/// The block of KERN_PROCARGS2: argc, the program's path, NULs, the words, the environment.
fn arguments(pid: i32) -> Look<(usize, Vec<u8>)> {
    let mut name = [CTL_KERN, KERN_PROCARGS2, pid];
    let mut len = 1 << 20;
    let mut buf = vec![0u8; len];
    // SAFETY: `buf` has `len` bytes, and the kernel writes at most that many.
    let rc = unsafe {
        sysctl(
            name.as_mut_ptr(),
            3,
            buf.as_mut_ptr().cast(),
            &raw mut len,
            std::ptr::null_mut(),
            0,
        )
    };
    if rc != 0 {
        let e = std::io::Error::last_os_error();
        return if e.raw_os_error() == Some(ESRCH) {
            Look::Nothing
        } else {
            Look::Unknown(e.to_string())
        };
    }
    buf.truncate(len);
    if buf.len() < 4 {
        return Look::Nothing;
    }
    let argc = i32::from_ne_bytes([buf[0], buf[1], buf[2], buf[3]]);
    let rest = &buf[4..];
    let after_path = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
    let begin = rest[after_path..]
        .iter()
        .position(|b| *b != 0)
        .map_or(rest.len(), |n| after_path + n);
    Look::Found((usize::try_from(argc).unwrap_or(0), rest[begin..].to_vec()))
}

pub fn argv(pid: i32) -> Look<Vec<String>> {
    match arguments(pid) {
        Look::Found((argc, bytes)) if argc > 0 => Look::Found(
            bytes
                .split(|b| *b == 0)
                .take(argc)
                .map(from_bytes)
                .collect(),
        ),
        Look::Found(_) | Look::Nothing => Look::Nothing,
        Look::Unknown(why) => Look::Unknown(why),
    }
}

pub fn environ(pid: i32, names: &[&str]) -> Look<Vec<(String, String)>> {
    arguments(pid).map(|(argc, bytes)| {
        bytes
            .split(|b| *b == 0)
            .skip(argc)
            .filter_map(|entry| {
                let at = entry.iter().position(|b| *b == b'=')?;
                let name = std::str::from_utf8(&entry[..at]).ok()?;
                names
                    .contains(&name)
                    .then(|| (name.to_owned(), from_bytes(&entry[at + 1..])))
            })
            .collect()
    })
}

pub fn exe(pid: i32) -> Look<String> {
    let mut buf = [0u8; 4 * PATH_MAX];
    // SAFETY: the buffer is as large as we say.
    let n = unsafe { proc_pidpath(pid, buf.as_mut_ptr().cast(), buf.len() as u32) };
    match usize::try_from(n) {
        Ok(n) if n > 0 => Look::Found(from_bytes(&buf[..n])),
        _ => Look::Unknown(std::io::Error::last_os_error().to_string()),
    }
}

/// `struct proc_vnodepathinfo`: two `vnode_info_path`, each 152 bytes of `vnode_info` and a path.
pub fn cwd(pid: i32) -> Look<String> {
    const INFO: usize = 152;
    let mut buf = [0u8; 2 * (INFO + PATH_MAX)];
    // SAFETY: the buffer is as large as we say.
    let n = unsafe {
        proc_pidinfo(
            pid,
            PROC_PIDVNODEPATHINFO,
            0,
            buf.as_mut_ptr().cast(),
            buf.len() as c_int,
        )
    };
    let path = until_nul(&buf[INFO..INFO + PATH_MAX]);
    if n <= 0 || path.is_empty() {
        return Look::Unknown(std::io::Error::last_os_error().to_string());
    }
    Look::Found(from_bytes(path))
}

pub fn open_files(_pid: i32) -> Look<Vec<String>> {
    Look::Unknown("macOS does not show the open files of another process".to_owned())
}

fn list(kind: u32, info: u32) -> Vec<i32> {
    let mut pids = vec![0i32; 8192];
    let size = (pids.len() * size_of::<i32>()) as c_int;
    // SAFETY: the buffer is as large as we say.
    let got = unsafe { proc_listpids(kind, info, pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(got).unwrap_or(0) / size_of::<i32>());
    pids.retain(|p| *p > 0);
    pids.sort_unstable();
    pids
}

pub fn children(pid: i32) -> Vec<i32> {
    list(PROC_PPID_ONLY, pid as u32)
}

pub fn own_pids() -> Vec<i32> {
    list(PROC_UID_ONLY, rustix::process::geteuid().as_raw())
}

pub fn own_named(is: &dyn Fn(&[u8]) -> bool) -> Vec<i32> {
    let named = |pid: &i32| stat(*pid).is_some_and(|s| is(s.comm.as_bytes()));
    own_pids().into_iter().filter(named).collect()
}

pub fn started_wall_ns(id: ProcId) -> Option<u64> {
    id.start.checked_mul(1000)
}

/// `kern.bootsessionuuid`: changes with every boot.
#[must_use]
pub fn boot_session() -> String {
    let mut buf = [0u8; 64];
    let mut len = buf.len();
    // SAFETY: the name ends in NUL, and the kernel writes at most `len` bytes.
    let rc = unsafe {
        sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            buf.as_mut_ptr().cast(),
            &raw mut len,
            std::ptr::null_mut(),
            0,
        )
    };
    if rc == 0 {
        from_bytes(until_nul(&buf))
    } else {
        String::new()
    }
}
