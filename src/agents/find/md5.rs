//! The MD5 sum (RFC 1321): some agents name directories by it. No secret depends on it.

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The sum of `bytes` as 32 hexadecimal digits.
#[must_use]
pub fn md5_hex(bytes: &[u8]) -> String {
    let mut text = bytes.to_vec();
    let bits = (bytes.len() as u64).wrapping_mul(8);
    text.push(0x80);
    while text.len() % 64 != 56 {
        text.push(0);
    }
    text.extend(bits.to_le_bytes());
    let mut sum: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in text.chunks_exact(64) {
        let mut words = [0u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [mut a, mut b, mut c, mut d] = sum;
        for step in 0..64 {
            let (mixed, at) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            let turned = a
                .wrapping_add(mixed)
                .wrapping_add(constant(step))
                .wrapping_add(words[at])
                .rotate_left(SHIFTS[step / 16][step % 4]);
            (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
        }
        for (part, more) in sum.iter_mut().zip([a, b, c, d]) {
            *part = part.wrapping_add(more);
        }
    }
    let bytes = sum.iter().flat_map(|w| w.to_le_bytes());
    bytes.map(|b| format!("{b:02x}")).collect()
}

/// The whole part of 2^32 · |sin(step + 1)|.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn constant(step: usize) -> u32 {
    (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::md5_hex;

    #[test]
    fn sums_of_the_standard() {
        for (text, sum) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(md5_hex(text.as_bytes()), sum);
        }
    }
}
