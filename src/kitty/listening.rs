//! Which sockets a process listens on, by what the kernel tells (Linux).

use super::address::Address;

/// Listening unix sockets of this machine: inode and address (Linux; empty elsewhere).
pub fn listening_sockets() -> Vec<(u64, Address)> {
    let bytes = std::fs::read("/proc/net/unix").unwrap_or_default();
    crate::sys::bytes::from_bytes(&bytes)
        .lines()
        .skip(1)
        .filter_map(listening_line)
        .collect()
}

/// One line of /proc/net/unix: `num refs protocol flags type state inode path`.
fn listening_line(line: &str) -> Option<(u64, Address)> {
    let mut fields = line.split_ascii_whitespace();
    let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
    let (_kind, _state) = (fields.next()?, fields.next()?);
    let inode = fields.next()?.parse().ok()?;
    let at = line.find(['/', '@'])?;
    let path = &line[at..];
    let accepts = flags & 0x0001_0000 != 0;
    accepts
        .then(|| Address::parse(&format!("unix:{path}")).map(|a| (inode, a)))
        .flatten()
}

/// Inodes of the sockets a process holds.
pub fn socket_inodes(pid: i32) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|e| std::fs::read_link(e.path()).ok())
        .filter_map(|link| {
            link.to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .parse()
                .ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_told_from_connected_ones() {
        let listen =
            "0000000000000000: 00000002 00000000 00010000 0001 01 27303 /run/user/1/my kitty-5";
        let named = "0000000000000000: 00000002 00000000 00010000 0001 01 999 @kitty-7";
        let used = "0000000000000000: 00000003 00000000 00000000 0001 03 27304 /run/user/1/kitty-5";
        assert_eq!(
            listening_line(listen),
            Some((27303, Address::Path("/run/user/1/my kitty-5".into())))
        );
        assert_eq!(
            listening_line(named),
            Some((999, Address::Abstract("kitty-7".into())))
        );
        assert_eq!(listening_line(used), None);
        assert_eq!(listening_line("Num RefCount"), None);
    }
}
