//! The framing of the remote-control socket.

/// What every frame begins with.
pub const PREFIX: &[u8] = b"\x1bP@kitty-cmd";
/// What every frame ends with.
pub const SUFFIX: &[u8] = b"\x1b\\";
/// The longest frame kitty takes, in bytes; a longer one resets the connection.
pub const LONGEST: usize = 65_536;

/// Takes the first whole frame off `buffer` and returns what is inside.
///
/// kitty looks only at the start of its buffer: bytes that do not begin with the prefix are never
/// skipped, so nothing after them is ever answered.
pub fn take(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    if !buffer.starts_with(PREFIX) {
        return None;
    }
    let body = &buffer[PREFIX.len()..];
    let end = body.windows(SUFFIX.len()).position(|w| w == SUFFIX)?;
    let inside = body[..end].to_vec();
    buffer.drain(..PREFIX.len() + end + SUFFIX.len());
    Some(inside)
}

/// Wraps a JSON text in a frame.
pub fn wrap(json: &str) -> Vec<u8> {
    [PREFIX, json.as_bytes(), SUFFIX].concat()
}
