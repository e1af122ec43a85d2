//! What a window shows and has been told by the program in it.

use crate::text;
use crate::words;

/// Lines of scrollback kept per window.
const SCROLLBACK: usize = 2000;
/// The longest control string that is kept, in bytes.
const LONGEST_STRING: usize = 1 << 20;

/// Something the window's program asked of the terminal.
#[derive(Debug, PartialEq, Eq)]
pub enum Ask {
    /// Bytes to send back to the program.
    Reply(Vec<u8>),
    /// A remote-control frame written to the terminal (what is inside it).
    Command(Vec<u8>),
}

#[derive(Debug, Default)]
enum Scan {
    #[default]
    Ground,
    Escape,
    Csi(Vec<u8>),
    /// The kind (`]`, `P`, `_`, `^`, `X`), what came so far, whether the last byte was ESC.
    Text(u8, Vec<u8>, bool),
}

/// Where the shell integration says the shell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prompt {
    /// Nothing reported yet.
    #[default]
    Unknown,
    /// A prompt is shown.
    Waiting,
    /// A command runs.
    Running,
}

/// The terminal of one window.
pub struct Term {
    screen: vt100::Parser,
    scan: Scan,
    /// The title set by the program.
    pub title: Option<String>,
    /// User variables, in the order they came.
    pub user_vars: Vec<(String, String)>,
    /// The last command line reported by the shell.
    pub last_command: String,
    /// The exit status of the last reported command.
    pub last_status: i64,
    /// What the shell reported last.
    pub prompt: Prompt,
    /// The directory reported by the shell, as raw bytes.
    pub reported_directory: Option<Vec<u8>>,
    /// Whether the bell rang.
    pub bell: bool,
}

impl Term {
    /// An empty screen of `cols` by `rows` cells.
    pub fn new(cols: u16, rows: u16) -> Term {
        Term {
            screen: vt100::Parser::new(rows.max(1), cols.max(1), SCROLLBACK),
            scan: Scan::Ground,
            title: None,
            user_vars: Vec::new(),
            last_command: String::new(),
            last_status: 0,
            prompt: Prompt::Unknown,
            reported_directory: None,
            bell: false,
        }
    }

    /// Changes the size.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.screen.screen_mut().set_size(rows.max(1), cols.max(1));
    }

    /// Whether the alternate screen is on.
    pub fn in_alternate_screen(&self) -> bool {
        self.screen.screen().alternate_screen()
    }

    /// kitty's `at_prompt`: a shown prompt, never in the alternate screen.
    pub fn at_prompt(&self) -> bool {
        self.prompt == Prompt::Waiting && !self.in_alternate_screen()
    }

    /// Column and row of the cursor, from 1.
    pub fn cursor(&self) -> (u16, u16) {
        let (row, col) = self.screen.screen().cursor_position();
        (col + 1, row + 1)
    }

    /// The text on the screen: every row, trailing blanks cut, joined by line ends.
    pub fn screen_text(&self) -> String {
        let (_, cols) = self.screen.screen().size();
        let rows: Vec<String> = self.screen.screen().rows(0, cols).collect();
        rows.iter()
            .map(|r| r.trim_end_matches(' '))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The scrollback followed by the screen.
    pub fn all_text(&mut self) -> String {
        let (rows, cols) = self.screen.screen().size();
        let screen = self.screen.screen_mut();
        screen.set_scrollback(usize::MAX);
        let mut left = screen.scrollback();
        let mut lines: Vec<String> = Vec::new();
        while left > 0 {
            screen.set_scrollback(left);
            let take = left.min(usize::from(rows));
            lines.extend(
                screen
                    .rows(0, cols)
                    .take(take)
                    .map(|r| r.trim_end_matches(' ').to_owned()),
            );
            left -= take;
        }
        screen.set_scrollback(0);
        lines.push(self.screen_text());
        lines.join("\n")
    }

    /// Sets or removes a user variable; a variable that is there keeps its place.
    pub fn set_user_var(&mut self, name: &str, value: Option<&str>) {
        let at = self.user_vars.iter().position(|(k, _)| k == name);
        match (at, value) {
            (Some(i), Some(v)) => self.user_vars[i].1 = v.to_owned(),
            (Some(i), None) => drop(self.user_vars.remove(i)),
            (None, Some(v)) => self.user_vars.push((name.to_owned(), v.to_owned())),
            (None, None) => {}
        }
    }

    /// Takes output of the program.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Ask> {
        self.screen.process(bytes);
        let mut asks = Vec::new();
        for b in bytes {
            self.step(*b, &mut asks);
        }
        asks
    }

    fn step(&mut self, b: u8, asks: &mut Vec<Ask>) {
        match &mut self.scan {
            Scan::Ground => match b {
                0x1b => self.scan = Scan::Escape,
                7 => self.bell = true,
                _ => {}
            },
            Scan::Escape => {
                self.scan = match b {
                    b'[' => Scan::Csi(Vec::new()),
                    b']' | b'P' | b'_' | b'^' | b'X' => Scan::Text(b, Vec::new(), false),
                    0x1b => Scan::Escape,
                    _ => Scan::Ground,
                };
            }
            Scan::Csi(args) => match b {
                0x40..=0x7e => {
                    let args = std::mem::take(args);
                    self.scan = Scan::Ground;
                    self.control(&args, b, asks);
                }
                0x1b => self.scan = Scan::Escape,
                _ if args.len() < 64 => args.push(b),
                _ => self.scan = Scan::Ground,
            },
            Scan::Text(kind, body, escaped) => {
                let ended = (*escaped && b == b'\\') || (b == 7 && *kind == b']');
                if ended {
                    let (kind, body) = (*kind, std::mem::take(body));
                    self.scan = Scan::Ground;
                    match kind {
                        b']' => self.system_command(&body),
                        b'P' => device_string(&body, asks),
                        _ => {}
                    }
                } else if *escaped {
                    self.scan = Scan::Escape;
                    self.step(b, asks);
                } else if b == 0x1b {
                    *escaped = true;
                } else if body.len() < LONGEST_STRING {
                    body.push(b);
                }
            }
        }
    }

    /// Questions that shells wait for an answer to.
    fn control(&mut self, args: &[u8], last: u8, asks: &mut Vec<Ask>) {
        let reply: Vec<u8> = match (args, last) {
            (b"" | b"0", b'c') => b"\x1b[?62;52;c".to_vec(),
            (b">" | b">0", b'c') => b"\x1b[>1;4000;48c".to_vec(),
            (b">" | b">0", b'q') => b"\x1bP>|kitty(0.48.2)\x1b\\".to_vec(),
            (b"5", b'n') => b"\x1b[0n".to_vec(),
            (b"6", b'n') => {
                let (row, col) = self.screen.screen().cursor_position();
                format!("\x1b[{};{}R", row + 1, col + 1).into_bytes()
            }
            (b"?", b'u') => b"\x1b[?0u".to_vec(),
            _ => return,
        };
        asks.push(Ask::Reply(reply));
    }

    fn system_command(&mut self, body: &[u8]) {
        let (code, rest) = match body.iter().position(|b| *b == b';') {
            Some(at) => (&body[..at], &body[at + 1..]),
            None => (body, &body[body.len()..]),
        };
        match code {
            b"0" | b"2" => self.title = Some(clean_title(&String::from_utf8_lossy(rest))),
            b"7" => self.reported_directory = directory_of_url(rest),
            b"133" => self.mark(&String::from_utf8_lossy(rest)),
            b"1337" => {
                if let Some(var) = rest.strip_prefix(b"SetUserVar=") {
                    self.set_var_sequence(&String::from_utf8_lossy(var));
                }
            }
            _ => {}
        }
    }

    /// `SetUserVar=name=<base64>`; without the second `=` the variable goes.
    fn set_var_sequence(&mut self, var: &str) {
        let Some((name, coded)) = var.split_once('=') else {
            return self.set_user_var(var, None);
        };
        let value = decode_base64(coded.as_bytes()).unwrap_or_default();
        let value = String::from_utf8_lossy(&value).replace('\n', " ");
        self.set_user_var(name, Some(&without_controls(&value)));
    }

    /// The marks of shell integration: `A` a prompt, `C` a command starts, `D` it ended.
    fn mark(&mut self, rest: &str) {
        let (kind, options) = rest.split_once(';').unwrap_or((rest, ""));
        match kind {
            "A" => self.prompt = Prompt::Waiting,
            "C" => {
                self.prompt = Prompt::Running;
                self.last_command = if let Some(coded) = options.strip_prefix("cmdline_url=") {
                    text::from_os(&decode_percent(coded.as_bytes()))
                } else if let Some(quoted) = options.strip_prefix("cmdline=") {
                    words::split(quoted, true)
                        .ok()
                        .and_then(|w| w.into_iter().next())
                        .unwrap_or_default()
                } else {
                    String::new()
                };
            }
            "D" => {
                if self.prompt == Prompt::Running
                    && let Ok(status) = options.parse()
                {
                    self.last_status = status;
                }
            }
            _ => {}
        }
    }
}

fn device_string(body: &[u8], asks: &mut Vec<Ask>) {
    if let Some(json) = body.strip_prefix(b"@kitty-cmd") {
        asks.push(Ask::Command(json.to_vec()));
    } else if let Some(names) = body.strip_prefix(b"+q") {
        asks.push(Ask::Reply([b"\x1bP0+r", names, b"\x1b\\"].concat()));
    }
}

/// `file://host/path` to the bytes of the path.
fn directory_of_url(url: &[u8]) -> Option<Vec<u8>> {
    let rest = url
        .strip_prefix(b"file://")
        .or_else(|| url.strip_prefix(b"kitty-shell-cwd://"))?;
    let at = rest.iter().position(|b| *b == b'/')?;
    Some(if url.starts_with(b"file:") {
        decode_percent(&rest[at..])
    } else {
        rest[at..].to_vec()
    })
}

/// Percent decoding.
pub fn decode_percent(src: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(src.len());
    let mut at = 0;
    while at < src.len() {
        let coded = (src[at] == b'%')
            .then(|| src.get(at + 1..at + 3))
            .flatten()
            .and_then(|h| std::str::from_utf8(h).ok())
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        match coded {
            Some(b) => {
                out.push(b);
                at += 3;
            }
            None => {
                out.push(src[at]);
                at += 1;
            }
        }
    }
    out
}

/// Standard base64, padding optional; `None` for anything else.
pub fn decode_base64(src: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(src.len() * 3 / 4);
    let (mut bits, mut n) = (0u32, 0u32);
    for b in src
        .iter()
        .filter(|b| !b.is_ascii_whitespace() && **b != b'=')
    {
        let v = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(v);
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
            bits &= (1 << n) - 1;
        }
    }
    Some(out)
}

/// Without C0, DEL and C1: what kitty does to the value of a user variable.
pub fn without_controls(s: &str) -> String {
    s.chars()
        .filter(|c| !matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'))
        .collect()
}

/// kitty's cleaning of window titles: controls removed, line and paragraph separators to blanks.
pub fn clean_title(s: &str) -> String {
    without_controls(&s.replace(['\u{2028}', '\u{2029}'], " "))
}
