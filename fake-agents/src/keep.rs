//! What the other stand-ins keep on disk and in the process table, each as its agent does.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::record::{append, home, json};
use crate::store::{cwd, now_ms, project_name, random_text, uuid_v4, uuid_v7};

/// Whose ways it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing that anybody could read.
    Plain,
    /// A transcript per project; its arguments are gone.
    Pi,
    /// The same, and a mark per terminal.
    Omp,
    /// A list of projects, chats named after the first 8 letters of the id.
    Gemini,
    /// A directory per conversation, with a mark for the process.
    Copilot,
    /// A transcript per project; a helper below it.
    Droid,
    /// A log that it holds open, with the id in its path.
    Qoder,
    /// A helper that holds a lock.
    Devin,
    /// A file that names the process, beside the transcript.
    Qwen,
    /// A helper without arguments that holds a lock.
    Vibe,
}

/// The conversations of one stand-in.
pub struct Store {
    keep: Keep,
    name: &'static str,
    id: String,
    helper: Option<Child>,
    held: Option<fs::File>,
}

impl Store {
    pub fn open(keep: Keep, name: &'static str) -> Self {
        let mut store = Self {
            keep,
            name,
            id: String::new(),
            helper: None,
            held: None,
        };
        store.id = store.new_id();
        store
    }

    fn new_id(&self) -> String {
        match (self.keep, self.name) {
            (Keep::Devin, _) => {
                let word = |n| random_text(n, "abcdefghijklmnopqrstuvwxyz");
                format!("{}-{}", word(5), word(6))
            }
            (Keep::Pi, _) => uuid_v7(now_ms()),
            (_, "amp") => format!("T-{}", uuid_v4()),
            (_, "kilo") => format!("ses_{}", random_text(26, "0123456789abcdefXYZ")),
            (_, "letta") => format!("agent-{}", uuid_v4()),
            (_, "hermes") => format!("20261130_101112_{}", random_text(6, "0123456789abcdef")),
            _ => uuid_v4(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn go_on(&mut self, id: String) {
        self.id = id;
    }

    fn home(below: &str) -> PathBuf {
        home().join(below)
    }

    fn dashed() -> String {
        cwd().replace('/', "-")
    }

    /// Where the transcript of `id` is.
    fn transcript(&self, id: &str) -> PathBuf {
        let dashed = Self::dashed();
        match self.keep {
            Keep::Plain | Keep::Devin => Self::home(&format!(".fake-{}/{id}", self.name)),
            Keep::Pi => Self::home(&format!(
                ".pi/agent/sessions/-{dashed}--/2026-11-30T08-00-00-000Z_{id}.jsonl"
            )),
            Keep::Omp => {
                let home = home().display().to_string();
                let rest = dashed
                    .strip_prefix(&home.replace('/', "-"))
                    .unwrap_or(&dashed)
                    .to_owned();
                Self::home(&format!(
                    ".omp/agent/sessions/{rest}/2026-11-30T08-00-00-000Z_{id}.jsonl"
                ))
            }
            Keep::Gemini => Self::home(&format!(
                ".gemini/tmp/project/chats/session-2026-11-30T08-00-{}.jsonl",
                id.get(..8).unwrap_or(id)
            )),
            Keep::Copilot => Self::home(&format!(".copilot/session-state/{id}/events.jsonl")),
            Keep::Droid => Self::home(&format!(".factory/sessions/{dashed}/{id}.jsonl")),
            Keep::Qoder => Self::home(&format!(".qoder/projects/{dashed}/{id}.jsonl")),
            Keep::Qwen => {
                let project = project_name(&cwd());
                Self::home(&format!(".qwen/projects/{project}/chats/{id}.jsonl"))
            }
            Keep::Vibe => Self::home(&format!(".vibe/logs/session/unified/{id}/meta.json")),
        }
    }

    /// A log of all ids that were spoken in, for the newest.
    fn log(&self) -> PathBuf {
        Self::home(&format!(".fake-{}-ids", self.name))
    }

    pub fn newest(&self) -> Option<String> {
        let text = fs::read_to_string(self.log()).ok()?;
        text.lines().last().map(ToOwned::to_owned)
    }

    pub fn has(&self, id: &str) -> bool {
        !id.contains('/') && self.transcript(id).is_file()
    }

    /// The start of a conversation: what is there before anything was said.
    pub fn begin(&mut self, resumed: bool) {
        let pid = std::process::id();
        match self.keep {
            Keep::Pi => crate::shape::write_title("pi"),
            Keep::Omp => {
                if let Some(tty) = terminal() {
                    let text = format!(
                        "{}\n{}\nfresh\ncwdstat 0 0\n",
                        cwd(),
                        self.transcript(&self.id).display()
                    );
                    write(&Self::home(".omp/agent/terminal-sessions").join(tty), &text);
                }
            }
            Keep::Gemini => {
                let list = format!("{{\"projects\":{{{}:\"project\"}}}}", json(&cwd()));
                write(&Self::home(".gemini/projects.json"), &list);
                write(&Self::home(".gemini/tmp/project/.project_root"), &cwd());
                if !resumed {
                    // The real one writes its first line at the start, too.
                    let line = format!("{{\"sessionId\":{}}}\n", json(&self.id));
                    append(&self.transcript(&self.id), &line);
                    append(&self.log(), &format!("{}\n", self.id));
                }
            }
            Keep::Copilot if !resumed => {}
            Keep::Droid => self.start_helper(&["exec", "--input-format", "stream-jsonrpc"], None),
            Keep::Qoder => {
                let path = Self::home(&format!(
                    ".qoder/logs/sessions/{}/{}/segments/20261130-ab-p{pid}.jsonl",
                    Self::dashed(),
                    self.id
                ));
                append(&path, "");
                self.held = fs::File::open(path).ok();
            }
            Keep::Devin => {
                let lock = Self::home(&format!(
                    ".local/share/devin/session_locks/{}.lock",
                    self.id
                ));
                append(&lock, "");
                self.start_helper(&["acp"], Some(lock));
            }
            Keep::Qwen => {
                let path = self.transcript(&self.id).with_extension("runtime.json");
                let text = format!(
                    "{{\"schema_version\":1,\"pid\":{pid},\"session_id\":{},\"work_dir\":{}}}",
                    json(&self.id),
                    json(&cwd())
                );
                write(&path, &text);
            }
            Keep::Vibe => {
                let lock = Self::home(&format!(".vibe/logs/session/active/{}.lock", self.id));
                append(&lock, "");
                self.start_helper(&[], Some(lock));
            }
            Keep::Copilot | Keep::Plain => {}
        }
    }

    /// Starts a helper that ends with us; it holds `lock` open.
    fn start_helper(&mut self, args: &[&str], lock: Option<PathBuf>) {
        self.stop_helper();
        let Ok(exe) = std::env::current_exe() else {
            return;
        };
        let mut command = Command::new(exe);
        let name = if self.keep == Keep::Vibe {
            // Its own group, as the real one.
            command.process_group(0);
            "vibe-app-server"
        } else {
            self.name
        };
        command
            .arg0(format!("/opt/{}/{name}", self.name))
            .args(args)
            .env("FAKE_AGENT_HELPER", lock.unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Ok(mut child) = command.spawn() {
            // It says when the lock is open.
            if let Some(mut out) = child.stdout.take() {
                let _ = std::io::Read::read(&mut out, &mut [0; 8]);
            }
            self.helper = Some(child);
        }
    }

    fn stop_helper(&mut self) {
        if let Some(mut child) = self.helper.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    pub fn message(&mut self, text: &str) {
        let path = self.transcript(&self.id);
        if !path.exists() {
            let line = match self.keep {
                Keep::Omp => "{\"type\":\"title\"}\n".to_owned(),
                Keep::Vibe => format!(
                    "{{\"session_id\":{},\"environment\":{{\"working_directory\":{}}}}}\n",
                    json(&self.id),
                    json(&cwd())
                ),
                _ => format!("{{\"type\":\"session\",\"cwd\":{}}}\n", json(&cwd())),
            };
            append(&path, &line);
            append(&self.log(), &format!("{}\n", self.id));
        }
        match self.keep {
            Keep::Vibe => append(&path.with_file_name("journal"), text),
            Keep::Copilot => {
                let yaml = format!("id: {}\ncwd: {}\n", self.id, cwd());
                write(&path.with_file_name("workspace.yaml"), &yaml);
                let mark = format!("inuse.{}.hold", std::process::id());
                append(&path.with_file_name(mark), "");
                append(&path, "{}\n");
            }
            _ => append(
                &path,
                &format!("{{\"type\":\"user\",\"text\":{}}}\n", json(text)),
            ),
        }
    }

    pub fn clear(&mut self) {
        if self.keep == Keep::Copilot {
            let mark = format!("inuse.{}.hold", std::process::id());
            let _ = fs::remove_file(self.transcript(&self.id).with_file_name(mark));
        }
        self.id = self.new_id();
        self.begin(false);
    }

    pub fn end(&mut self) {
        self.stop_helper();
        self.held = None;
    }
}

/// The helper's own work: it holds a file until its input ends.
pub fn help(lock: &str) {
    let _held = fs::File::open(lock);
    if lock.contains("/.vibe/") {
        crate::shape::write_title("vibe-app-server");
    }
    println!("ready");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

fn write(path: &std::path::Path, text: &str) {
    if let Some(dir) = path.parent() {
        let _ = fs::create_dir_all(dir);
    }
    if let Err(e) = fs::write(path, text) {
        eprintln!("fake-agent: could not write {}: {e}", path.display());
    }
}

/// The name of the terminal, as `pts-3`.
fn terminal() -> Option<String> {
    let path = fs::read_link("/proc/self/fd/0").ok()?;
    let name = path.to_str()?.strip_prefix("/dev/")?.to_owned();
    Some(name.replace('/', "-"))
}
