use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::fault_point::{STEPS, arm};
use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path)
        .map(|m| m.permissions().mode() & 0o7777)
        .unwrap_or(0)
}

#[test]
fn a_write_stopped_at_any_system_call_leaves_the_old_or_the_new_file_whole() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let mut stopped = 0;
    for step in 0..STEPS + 4 {
        let dir = PrivateDir::open(&top.path().join(format!("s{step}"))).expect("open");
        let previous = dir.sub(".previous").expect("sub");
        dir.write("a", b"old").expect("first write");
        arm(Some(step));
        let done = dir.replace("a", b"the new one", Some(&previous));
        arm(None);
        let now = dir.read("a", 100).expect("read").expect("there");
        let names = dir.names().expect("names");
        assert_eq!(names, [".previous", "a"], "no litter after step {step}");
        match done {
            Ok(()) => {
                assert_eq!(now, b"the new one");
                assert_eq!(
                    previous.read("a", 100).expect("read"),
                    Some(b"old".to_vec())
                );
            }
            Err(e) => {
                stopped += 1;
                assert!(
                    now == b"old" || e.to_string().contains("sync"),
                    "step {step}: {e}"
                );
            }
        }
        assert!(
            previous.names().expect("names").iter().all(|n| n == "a"),
            "step {step}"
        );
    }
    assert_eq!(stopped, STEPS, "every step was stopped once");
}

#[test]
fn modes_are_private_from_the_start_and_loose_ones_are_tightened() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let path = top.path().join("x/state");
    let dir = PrivateDir::open(&path).expect("open");
    dir.write("f", b"1").expect("write");
    assert_eq!((mode(&path), mode(&path.join("f"))), (0o700, 0o600));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("chmod");
    std::fs::set_permissions(path.join("f"), PermissionsExt::from_mode(0o644)).expect("chmod");
    let dir = PrivateDir::open(&path).expect("open");
    assert_eq!(dir.read("f", 10).expect("read"), Some(b"1".to_vec()));
    assert_eq!((mode(&path), mode(&path.join("f"))), (0o700, 0o600));
}

#[test]
fn links_pipes_and_large_files_are_refused() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let dir = PrivateDir::open(&top.path().join("state")).expect("open");
    dir.write("real", b"12345").expect("write");
    symlink("real", dir.join("link")).expect("symlink");
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.join("pipe"), Mode::RUSR).expect("mkfifo");
    assert!(dir.read("link", 10).is_err());
    assert!(dir.read("pipe", 10).is_err());
    assert!(dir.read("real", 4).is_err());
    assert!(dir.read("absent", 4).expect("read").is_none());
    symlink(dir.path(), top.path().join("way")).expect("symlink");
    let fault = PrivateDir::open(&top.path().join("way"))
        .expect_err("a link")
        .to_string();
    assert!(fault.contains("symbolic link"), "{fault}");
}

#[test]
fn temporary_files_of_dead_writers_are_swept() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let dir = PrivateDir::open(&top.path().join("state")).expect("open");
    dir.write(".tmp-999999999-dead", b"").expect("write");
    dir.write(&format!(".tmp-{}-live", std::process::id()), b"")
        .expect("write");
    dir.sweep();
    assert_eq!(dir.names().expect("names").len(), 1);
}
