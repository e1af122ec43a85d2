//! A world of agents: what is, and what can be seen of it.

use fastrand::Rng;
use kittymux::resume::plan::{Conversation, Latest, Live, Subject, WindowKey};
use kittymux::sys::look::Look;
use kittymux::sys::proc::ProcId;

const SEC: u64 = 1_000_000_000;
const DIRS: [&str; 4] = ["/p", "/p/src", "/home/u/code/日本 api", "/tmp/it's $HOME"];

/// A conversation as it really is.
#[derive(Clone)]
pub struct Talk {
    pub agent: &'static str,
    pub sid: String,
    pub dir: &'static str,
    pub made: u64,
    /// When something was said in it last; `None`: nothing yet.
    pub touched: Option<u64>,
}

/// An agent process as it really is.
pub struct Process {
    pub agent: &'static str,
    pub id: ProcId,
    pub dir: &'static str,
    pub start: u64,
    pub key: Option<WindowKey>,
    pub words: Vec<String>,
    /// The conversation it is in.
    pub truth: usize,
    /// The one on its command line.
    pub argv: Option<String>,
    pub record: Evidence,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Its own live record can be read.
    Live,
    /// It has none, or it could not be looked at.
    Hidden,
}

/// A world of agents: what is, and what can be seen of it.
pub struct World {
    pub talks: Vec<Talk>,
    pub processes: Vec<Process>,
}

fn uuid(rng: &mut Rng, ms: u64) -> String {
    let (a, b) = (rng.u64(..), rng.u64(..));
    format!(
        "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
        (ms >> 16) as u32,
        ms & 0xffff,
        a & 0xfff,
        a >> 20 & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

fn opencode_id(rng: &mut Rng) -> String {
    format!(
        "ses_{:012x}{}",
        rng.u64(..) & 0xffff_ffff_ffff,
        (0..14).map(|_| rng.alphanumeric()).collect::<String>()
    )
}

impl World {
    pub fn random(rng: &mut Rng) -> Self {
        let mut world = Self {
            talks: Vec::new(),
            processes: Vec::new(),
        };
        let mut now = 1000;
        // Conversations of earlier days, some of them in agents that have ended.
        for _ in 0..rng.usize(0..6) {
            let agent = *rng.choice(&["claude", "codex", "opencode"]).expect("one");
            let talk = world.new_talk(rng, agent, None, now);
            world.talks[talk].touched = Some(now + rng.u64(1..50));
            now += 60;
        }
        let kitties = rng.usize(1..4);
        for n in 0..rng.usize(1..12) {
            now += rng.u64(0..40);
            let outside = rng.u8(..10) == 0;
            let kitty = ProcId {
                pid: 1 + rng
                    .i32(..)
                    .rem_euclid(i32::try_from(kitties).expect("small")),
                start: 5,
            };
            let key = (!outside).then_some(WindowKey {
                kitty,
                window: n as u64 + 1,
            });
            world.start_agent(rng, n, key, now);
        }
        world
    }

    fn new_talk(
        &mut self,
        rng: &mut Rng,
        agent: &'static str,
        dir: Option<&'static str>,
        at: u64,
    ) -> usize {
        let sid = if agent == "opencode" {
            opencode_id(rng)
        } else {
            uuid(rng, at * 1000)
        };
        let dir = dir.unwrap_or_else(|| rng.choice(&DIRS).expect("one"));
        self.talks.push(Talk {
            agent,
            sid,
            dir,
            made: at,
            touched: None,
        });
        self.talks.len() - 1
    }

    fn start_agent(&mut self, rng: &mut Rng, n: usize, key: Option<WindowKey>, at: u64) {
        let agent = *rng
            .choice(&["claude", "claude", "codex", "codex", "opencode"])
            .expect("one");
        let dir = *rng.choice(&DIRS).expect("one");
        let record = if agent != "opencode" && rng.u8(..10) < 8 {
            Evidence::Live
        } else {
            Evidence::Hidden
        };
        let free: Vec<usize> = (0..self.talks.len())
            .filter(|t| {
                self.talks[*t].agent == agent
                    && self.talks[*t].dir == dir
                    && self.talks[*t].touched.is_some()
            })
            .filter(|t| self.processes.iter().all(|p| p.truth != *t))
            .collect();
        let mut words = vec![agent.to_owned()];
        if rng.bool() {
            words.extend(["--model", "opus 'x' $HOME"].map(String::from));
        }
        let old = rng.choice(&free).copied().filter(|_| rng.u8(..3) == 0);
        let mut argv = None;
        let mut truth = match old {
            Some(talk) => {
                let sid = self.talks[talk].sid.clone();
                match agent {
                    "codex" => words.extend(["resume".to_owned(), sid.clone()]),
                    "opencode" => words.extend(["--session".to_owned(), sid.clone()]),
                    _ => words.extend(["--resume".to_owned(), sid.clone()]),
                }
                argv = Some(sid);
                talk
            }
            None => {
                let made = at + rng.u64(0..2);
                self.new_talk(rng, agent, Some(dir), made)
            }
        };
        // A conversation whose id nothing outside shows is only left by agents that show it.
        if agent != "opencode" && (record == Evidence::Live || agent == "codex") && rng.u8(..5) == 0
        {
            let made = at + 10 + rng.u64(0..20);
            truth = self.new_talk(rng, agent, Some(dir), made);
            self.talks[truth].touched = Some(at + 40);
        }
        if rng.u8(..4) > 0 {
            self.talks[truth].touched = Some(at + 30 + rng.u64(0..100));
        }
        let id = ProcId {
            pid: 500 + i32::try_from(n).expect("small"),
            start: at,
        };
        self.processes.push(Process {
            agent,
            id,
            dir,
            start: at,
            key,
            words,
            truth,
            argv,
            record,
        });
    }

    pub fn subjects(&self) -> Vec<Subject> {
        self.processes.iter().map(|p| self.subject(p)).collect()
    }

    fn subject(&self, p: &Process) -> Subject {
        let talk = &self.talks[p.truth];
        let live = match p.record {
            Evidence::Live => Look::Found(Live {
                sid: talk.sid.clone(),
                cwd: None,
                source: if p.agent == "claude" {
                    "registry"
                } else {
                    "held file"
                },
                resumable: talk.touched.is_some(),
            }),
            Evidence::Hidden if p.agent == "codex" => Look::Nothing,
            Evidence::Hidden => Look::Unknown("not seen".to_owned()),
        };
        let conversations = if p.agent == "opencode" {
            Look::Unknown("sqlite".to_owned())
        } else {
            // Of a thread in which nothing was said, codex shows the id and not the directory.
            let shows = |t: &&Talk| {
                t.agent == p.agent
                    && if t.touched.is_some() {
                        t.dir == p.dir
                    } else {
                        p.agent == "codex"
                    }
            };
            let of_dir = self.talks.iter().filter(shows);
            Look::Found(
                of_dir
                    .map(|t| Conversation {
                        sid: t.sid.clone(),
                        made_ns: (p.agent == "codex").then_some(t.made * SEC),
                        touched_ns: t.touched.map(|s| s * SEC),
                        cwd: if t.touched.is_some() {
                            t.dir.to_owned()
                        } else {
                            String::new()
                        },
                    })
                    .collect(),
            )
        };
        Subject {
            window: p.key,
            process: p.id,
            agent: p.agent.to_owned(),
            can_exact: true,
            latest: if p.agent == "opencode" {
                Latest::Anywhere
            } else {
                Latest::Directory
            },
            started_ns: p.start * SEC,
            cwd: Some(p.dir.to_owned()),
            real_cwd: Some(p.dir.to_owned()),
            live,
            argv: p.argv.clone().map(|sid| (sid, Look::Found(None))),
            conversations,
            by_start_time: p.agent == "codex",
            always_live: p.agent == "claude",
        }
    }

    /// What the agent's own "latest" would open.
    pub fn latest(&self, p: &Process) -> Option<&Talk> {
        let all = self
            .talks
            .iter()
            .filter(|t| t.agent == p.agent && t.touched.is_some());
        all.filter(|t| t.dir == p.dir).max_by_key(|t| t.touched)
    }
}
