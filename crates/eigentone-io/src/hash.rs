//! Fingerprints of sources, for caches and the provenance of models.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of some bytes, in lower-case hexadecimal.
///
/// ```
/// assert!(eigentone_io::sha256_hex(b"abc").starts_with("ba7816bf8f01cfea"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
