//! Base64 (RFC 4648 §4), as data URIs hold it; the alphabet of §5 and missing padding are accepted too.

/// Decodes, or `None` if a character is not of the alphabet.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.trim_ascii().split(|&b| b == b'=').next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            bits = bits << 6 | u32::from(value(digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let [_, decoded @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(&decoded[..group.len().checked_sub(1).filter(|&n| n > 0)?]);
    }
    Some(bytes)
}

/// Encodes with padding.
#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &b| bits << 8 | u32::from(b)) << (8 * (3 - group.len()));
        for k in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * k)) as usize & 63] as char;
            text.push(if k <= group.len() { digit } else { '=' });
        }
    }
    text
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_decode() {
        for (plain, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(plain.as_bytes()));
            assert_eq!(decode(encode(plain.as_bytes()).as_bytes()).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(decode(b"Zm9v!"), None);
        assert_eq!(decode(b"Zm9vA"), None);
    }
}
