//! Replacing a file in a directory that is not ours: whole or not at all, private, the first
//! original kept beside it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::sys::dirs;
use crate::sys::fault::{Fault, Outcome, shown_path};
use crate::sys::fault_point::pass;
use crate::sys::private_file::read_foreign;
use crate::sys::proc::is_alive;
use crate::sys::token::random_id;

/// What the original is called: FILE.bak.
pub const ENDING: &str = ".bak";

/// What becomes of the original and of the file's mode.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// The ending of the file that keeps the original; `None`: nothing is kept.
    pub keep: Option<&'a str>,
    /// Whether the mode stays, and is not made private.
    pub mode: bool,
}

/// Puts `new` in the place of `path`, which holds `old`, and gives the path of the original. A link
/// stays one: the file it leads to is replaced.
///
/// # Errors
/// When it is not the person's own, was changed meanwhile, or cannot be written; then it stands as
/// it was.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Outcome<PathBuf> {
    let manner = Manner {
        keep: Some(ENDING),
        mode: false,
    };
    replace_so(path, old, new, manner)
}

/// As [`replace`], in this manner.
///
/// # Errors
/// As [`replace`].
pub fn replace_so(path: &Path, old: &[u8], new: &[u8], manner: Manner<'_>) -> Outcome<PathBuf> {
    let real = path
        .canonicalize()
        .map_err(|e| Fault::file("find", path, e))?;
    let now = fs::metadata(&real).map_err(|e| Fault::file("look at", &real, e))?;
    let owner = now.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(Fault::refused(format!(
            "{} belongs to another user; it is left alone",
            shown_path(&real)
        )));
    }
    let original = with_ending(&real, manner.keep.unwrap_or(ENDING));
    // The first one is the original; later ones are files of ours. It is whole or not there at all.
    if manner.keep.is_some() && fs::symlink_metadata(&original).is_err() {
        make(&original, old)?;
    }
    let temp = temp_beside(&real);
    let done = create(&temp)
        .and_then(|file| {
            if manner.mode {
                file.set_permissions(now.permissions())?;
            }
            fill(file, new)
        })
        .map_err(|e| Fault::file("write", &temp, e))
        .and_then(|()| {
            // Longer than it was is another file too.
            if read_foreign(&real, old.len()).is_ok_and(|now| now == old) {
                fs::rename(&temp, &real).map_err(|e| Fault::file("replace", &real, e))
            } else {
                Err(changed(&real))
            }
        });
    if let Err(fault) = done {
        let _ = fs::remove_file(&temp);
        return Err(fault);
    }
    if let Some(dir) = real.parent() {
        File::open(dir)
            .and_then(|d| d.sync_all())
            .map_err(|e| Fault::file("sync", dir, e))?;
    }
    Ok(original)
}

fn changed(path: &Path) -> Fault {
    Fault::refused(format!(
        "{} was changed meanwhile; it is left alone",
        shown_path(path)
    ))
}

/// Where the original of `path` is kept, with this ending.
#[must_use]
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes the file `path`, which is not there, and the directories it needs.
///
/// # Errors
/// When it is there meanwhile, or cannot be written; then nothing is left.
pub fn make(path: &Path, bytes: &[u8]) -> Outcome<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).map_err(|e| Fault::file("create", dir, e))?;
    let temp = temp_beside(path);
    let done = create(&temp)
        .and_then(|file| fill(file, bytes))
        .map_err(|e| Fault::file("write", &temp, e))
        .and_then(|()| {
            if fs::symlink_metadata(path).is_ok() {
                return Err(changed(path));
            }
            fs::rename(&temp, path).map_err(|e| Fault::file("create", path, e))
        });
    if done.is_err() {
        let _ = fs::remove_file(&temp);
    }
    done
}

/// What the names of temporary files begin with; their writer's number follows.
const TEMP: &str = ".kittymux-";

/// A name for a new file beside `path`. What writers that were broken off left there goes.
fn temp_beside(path: &Path) -> PathBuf {
    let dir = path.parent().unwrap_or(Path::new("/"));
    for name in dirs::names(dir) {
        let rest = name.to_str().and_then(|n| n.strip_prefix(TEMP));
        let pid = rest.and_then(|r| r.split_once('-')?.0.parse::<i32>().ok());
        if pid.is_some_and(|pid| !is_alive(pid)) {
            let _ = fs::remove_file(dir.join(&name));
        }
    }
    path.with_file_name(format!("{TEMP}{}-{}", std::process::id(), random_id()))
}

/// A new file that only we read; a link of that name is not followed.
fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn fill(mut file: File, bytes: &[u8]) -> std::io::Result<()> {
    pass("write")?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_its_first_original_kept() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let path = top.path().join("desk");
        fs::write(&path, "one").expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("loose");
        fs::set_permissions(top.path(), PermissionsExt::from_mode(0o755)).expect("loose");
        let way = top.path().join("way");
        symlink("desk", &way).expect("a link");
        let original = replace(&way, b"one", b"two").expect("replaced");
        assert_eq!(
            original,
            path.canonicalize().expect("real").with_extension("bak")
        );
        replace(&path, b"two", b"three").expect("replaced");
        let read = |path: &Path| fs::read_to_string(path).expect("there");
        assert_eq!(
            (read(&path), read(&original)),
            ("three".into(), "one".into())
        );
        assert!(fs::symlink_metadata(&way).expect("there").is_symlink());
        for file in [&path, &original] {
            assert_eq!(fs::metadata(file).expect("there").mode() & 0o777, 0o600);
        }
        let dir = fs::metadata(top.path()).expect("there").mode() & 0o777;
        assert_eq!(dir, 0o755, "the directory is not ours to change");
        let fault = replace(&path, b"two", b"four")
            .expect_err("changed")
            .to_string();
        assert!(fault.contains("was changed meanwhile"), "{fault}");
        assert_eq!(read(&path), "three");
        let names = fs::read_dir(top.path()).expect("a directory").count();
        assert_eq!(names, 3, "nothing is left behind");
    }
}
