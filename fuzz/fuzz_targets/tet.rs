#![no_main]

use eigentone_io::read_tet_bytes;
use libfuzzer_sys::fuzz_target;

// Both files in one, apart by a line of dashes.
fuzz_target!(|bytes: &[u8]| {
    let mark = b"---\n";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap_or(bytes.len());
    if let Ok(import) = read_tet_bytes(&bytes[..at], bytes.get(at + mark.len()..).unwrap_or_default()) {
        assert!(import.mesh.tets.iter().all(|&t| import.mesh.signed_volume(t) > 0.0));
        let _ = import.mesh.boundary();
    }
});
