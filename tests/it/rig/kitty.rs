//! A running kitty of a test.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use kittymux::kitty::address::Address;
use kittymux::kitty::client::Connection;
use kittymux::kitty::commands;
use kittymux::kitty::tree::{self, OsWindow, Window};
use kittymux::kitty::wire::request;
use kittymux::sys::json::Object;

use super::WAIT;

/// A running kitty; it is killed when dropped.
pub struct Kitty {
    /// Its process.
    pub pid: i32,
    /// Where it listens.
    pub address: Address,
    pub(super) child: Option<Child>,
}

impl Kitty {
    fn ask(&self, frame: &[u8]) -> Result<String, String> {
        let mut connection = Connection::open(&self.address).map_err(|e| e.to_string())?;
        connection
            .ask(frame, Duration::from_secs(10))
            .map_err(|e| e.to_string())?
            .into_data()
    }

    /// Its window list as it answers it.
    pub fn list(&self) -> String {
        self.ask(&commands::ls(None)).expect("ls")
    }

    /// What it shows of itself.
    pub fn tree(&self) -> Vec<OsWindow> {
        tree::read(&self.ask(&commands::ls(None)).expect("ls")).expect("a tree")
    }

    /// Its windows.
    pub fn windows(&self) -> Vec<Window> {
        tree::windows(&self.tree())
            .map(|p| p.window.clone())
            .collect()
    }

    /// One window, if it is there.
    pub fn window(&self, id: u64) -> Option<Window> {
        self.windows().into_iter().find(|w| w.id == id)
    }

    /// Opens a tab with one window in a directory; no words: a shell. Gives the window's id.
    pub fn launch(&self, dir: &Path, words: &[&str]) -> u64 {
        self.launch_with(
            Object::new()
                .texts("args", words)
                .text("cwd", &dir.display().to_string())
                .text("type", "tab"),
        )
    }

    /// Opens a window by a payload of kitty's `launch`.
    pub fn launch_with(&self, payload: Object) -> u64 {
        self.ask(&request("launch", &payload.finish(), None))
            .expect("launch")
            .parse()
            .expect("an id")
    }

    /// Runs one of kitty's mappable actions.
    pub fn act(&self, action: &str) {
        self.ask(&commands::action(action)).expect("the action");
    }

    /// Types into a window.
    pub fn send(&self, id: u64, text: &str) {
        let payload = Object::new()
            .text("match", &format!("id:{id}"))
            .text("data", &format!("text:{text}"));
        self.ask(&request("send-text", &payload.finish(), None))
            .expect("send-text");
    }

    /// Leaves the agent of a shell window, and waits until nothing but the shell is left in it.
    pub fn leave(&self, id: u64) {
        self.send(id, "/exit\r");
        super::until("the shell alone", || {
            let window = self.window(id)?;
            let front: Vec<_> = window.foreground_processes.iter().map(|f| f.pid).collect();
            (front == [window.pid]).then_some(())
        });
    }

    /// What a window's screen shows.
    pub fn text(&self, id: u64) -> String {
        let payload = Object::new()
            .text("match", &format!("id:{id}"))
            .text("extent", "screen");
        self.ask(&request("get-text", &payload.finish(), None))
            .unwrap_or_default()
    }

    /// Waits until a window shows `what`, and gives its screen.
    pub fn shows(&self, id: u64, what: &str) -> String {
        let mut last = String::new();
        let end = Instant::now() + WAIT;
        loop {
            last = if self.window(id).is_some() {
                self.text(id)
            } else {
                last
            };
            // What is wrapped on the screen is one text.
            if last.contains(what) || last.replace('\n', "").contains(what) {
                return last;
            }
            assert!(
                Instant::now() < end,
                "window {id} never showed {what:?}; it shows:\n{last}"
            );
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Sets user variables of a window, as anybody in it could.
    pub fn set_vars(&self, id: u64, vars: &[(&str, &str)]) {
        let vars: Vec<(&str, Option<&str>)> = vars.iter().map(|(n, v)| (*n, Some(*v))).collect();
        self.ask(&commands::set_user_vars(id, &vars))
            .expect("set-user-vars");
    }

    /// Tells it to end, as a logout does, and waits until it is gone.
    pub fn end(mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
        super::until("kitty to end", || {
            (!kittymux::sys::proc::is_alive(self.pid)).then_some(())
        });
    }

    /// Ends it as a crash would, and waits until it is gone with all that ran in it.
    pub fn crash(mut self) {
        self.kill();
    }

    fn kill(&mut self) {
        let inside: Vec<i32> = Connection::open(&self.address)
            .ok()
            .and_then(|mut c| c.ask(&commands::ls(None), Duration::from_secs(2)).ok())
            .and_then(|r| tree::read(&r.into_data().ok()?).ok())
            .map(|t| tree::windows(&t).filter_map(|p| p.window.pid).collect())
            .unwrap_or_default();
        let nine = |pid: i32| {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        };
        nine(self.pid);
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
        let end = Instant::now() + Duration::from_secs(5);
        while inside.iter().any(|p| kittymux::sys::proc::is_alive(*p)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        // A shell that ignores the hang-up of its terminal would outlive the test.
        inside.into_iter().for_each(nine);
    }
}

impl Drop for Kitty {
    fn drop(&mut self) {
        self.kill();
    }
}
