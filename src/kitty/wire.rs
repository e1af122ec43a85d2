//! Frames of kitty's remote-control protocol: `ESC P @kitty-cmd {json} ESC \`, both ways
//! (facts 1.1–1.6).

use std::io::BufRead;

use crate::sys::json;

/// How much is read at once at most.
const ROOM: usize = 65_536;

const HEAD: &[u8] = b"\x1bP@kitty-cmd";
const TAIL: &[u8] = b"\x1b\\";

/// kitty resets the connection on a longer request frame (seen: 65,536 bytes are the limit).
pub const MAX_REQUEST: usize = 65_536;

/// The longest reply we take: 500 windows are some 1 MB.
pub const MAX_REPLY: usize = 16 << 20;

/// The protocol version we claim: the oldest that knows all we ask. kitty refuses only newer ones.
const VERSION: &str = "[0,26,0]";

/// One request as a frame. `payload` is a JSON object.
#[must_use]
pub fn request(cmd: &str, payload: &str, window: Option<u64>) -> Vec<u8> {
    let mut body = json::Object::new()
        .text("cmd", cmd)
        .raw("version", VERSION)
        .raw("payload", payload);
    if let Some(window) = window {
        body = body.number("kitty_window_id", window);
    }
    let body = body.finish();
    let mut frame = Vec::with_capacity(HEAD.len() + body.len() + TAIL.len());
    frame.extend_from_slice(HEAD);
    frame.extend_from_slice(body.as_bytes());
    frame.extend_from_slice(TAIL);
    frame
}

/// What kitty answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It did it; the data as text (a JSON string is decoded, anything else is its JSON).
    Ok(String),
    /// It refused; its own words.
    Refused(String),
}

impl Reply {
    /// The data, or kitty's refusal as an error text.
    ///
    /// # Errors
    /// kitty's own words.
    pub fn into_data(self) -> Result<String, String> {
        match self {
            Self::Ok(data) => Ok(data),
            Self::Refused(why) => Err(why),
        }
    }
}

/// Takes reply frames out of a stream that may be cut anywhere.
#[derive(Debug, Default)]
pub struct Replies {
    buffer: Vec<u8>,
    scanned: usize,
}

impl Replies {
    /// Where what is read next belongs: with room behind what is there.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.buffer.reserve(ROOM);
        &mut self.buffer
    }

    /// As [`Replies::take`] where one reply is awaited and no more: then what is there ends with it,
    /// and need not be searched for its end.
    ///
    /// # Errors
    /// As [`Replies::take`].
    pub fn take_last(&mut self) -> Option<Result<Vec<u8>, String>> {
        if self.buffer.ends_with(TAIL) {
            self.scanned = self.buffer.len() - TAIL.len();
        }
        self.take()
    }

    /// The JSON text of the next whole reply, if there is one; [`read_reply`] reads it.
    ///
    /// # Errors
    /// When the stream is not kitty's protocol, or a reply is larger than [`MAX_REPLY`].
    pub fn take(&mut self) -> Option<Result<Vec<u8>, String>> {
        let have = self.buffer.len().min(HEAD.len());
        if self.buffer[..have] != HEAD[..have] {
            return Some(Err("the answer is not kitty's protocol".to_owned()));
        }
        // A frame is ASCII JSON, so an ESC can only be its end.
        let from = self.scanned.max(HEAD.len()).min(self.buffer.len());
        // The library's own search of a byte looks at several at once.
        let mut behind = &self.buffer[from..];
        let passed = behind.skip_until(TAIL[0]).unwrap_or(0);
        let end =
            (passed > 0 && self.buffer[from + passed - 1] == TAIL[0]).then(|| from + passed - 1);
        let Some(end) = end.filter(|n| n + 1 < self.buffer.len()) else {
            self.scanned = end.unwrap_or(self.buffer.len());
            return (self.buffer.len() > MAX_REPLY)
                .then(|| Err("the answer is too large".to_owned()));
        };
        if self.buffer[end + 1] != TAIL[1] {
            return Some(Err("the answer is not kitty's protocol".to_owned()));
        }
        let rest = self.buffer.split_off(end + TAIL.len());
        let mut body = std::mem::replace(&mut self.buffer, rest);
        body.truncate(end);
        // JSON may begin with blanks: nothing of a long answer is moved.
        body[..HEAD.len()].fill(b' ');
        self.scanned = 0;
        Some(Ok(body))
    }
}

/// Reads the JSON text of a reply.
///
/// # Errors
/// When it is no reply of kitty's.
pub fn read_reply(body: &[u8]) -> Result<Reply, String> {
    let text = json::guard(body, MAX_REPLY).map_err(|e| format!("the answer is not JSON: {e}"))?;
    let members = json::members(&text).ok_or("the answer is not a JSON object")?;
    let value = |name: &str| {
        members
            .iter()
            .find(|m| m.name == name)
            .map(|m| &text[m.value.clone()])
    };
    let shown = |json_text: &str| {
        if json_text.starts_with('"') {
            json::decode_guarded::<String>(json_text).unwrap_or_default()
        } else {
            json_text.to_owned()
        }
    };
    match value("ok") {
        Some("true") => Ok(Reply::Ok(value("data").map(shown).unwrap_or_default())),
        Some("false") => Ok(Reply::Refused(
            value("error").map(shown).unwrap_or_default(),
        )),
        _ => Err("the answer does not say whether it worked".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &str) -> Vec<u8> {
        [HEAD, body.as_bytes(), TAIL].concat()
    }

    #[test]
    fn a_request_is_one_ascii_frame() {
        let frame = request("ls", "{}", Some(3));
        assert_eq!(
            String::from_utf8_lossy(&frame),
            "\x1bP@kitty-cmd{\"cmd\":\"ls\",\"version\":[0,26,0],\"payload\":{},\"kitty_window_id\":3}\x1b\\"
        );
    }

    #[test]
    fn replies_come_out_of_any_cut() {
        let stream = [
            frame(r#"{"ok": true, "data": "a\u001b\\ \"x\""}"#),
            frame(r#"{"ok": true}"#),
            frame(r#"{"ok": false, "error": "no", "tb": "trace"}"#),
            frame(r#"{"ok": true, "data": [1, 2]}"#),
        ]
        .concat();
        for cut in 1..stream.len() {
            let mut replies = Replies::default();
            let mut got = Vec::new();
            for part in stream.chunks(cut) {
                replies.room().extend_from_slice(part);
                while let Some(reply) = match got.len() {
                    3 => replies.take_last(),
                    _ => replies.take(),
                } {
                    let body = reply.expect("a reply");
                    got.push(read_reply(&body).expect("a reply"));
                }
                if replies.buffer.is_empty() {
                    continue;
                }
            }
            assert_eq!(
                got,
                [
                    Reply::Ok("a\x1b\\ \"x\"".into()),
                    Reply::Ok(String::new()),
                    Reply::Refused("no".into()),
                    Reply::Ok("[1, 2]".into())
                ],
                "cut {cut}"
            );
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        for bad in [
            &b"HTTP/1.1 200 OK"[..],
            b"\x1bP@other",
            &frame("nonsense"),
            &frame("[]"),
            &frame("{\"data\":1}"),
            &frame("{\"ok\":true,"),
        ] {
            let mut replies = Replies::default();
            replies.room().extend_from_slice(bad);
            let read = replies.take().map(|r| r.and_then(|b| read_reply(&b)));
            assert!(matches!(read, Some(Err(_))), "{bad:?}");
        }
    }
}
