#![no_main]

use eigentone_io::{TableFormat, apply_modes, modes_text, read_modes_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [TableFormat::Csv, TableFormat::Json] {
        if let Ok(rows) = read_modes_bytes(format, bytes) {
            let _ = apply_modes(None, &rows);
            let text = modes_text(format, &rows);
            // Decays near the ends of what a number can hold have no finite T60.
            if rows.iter().all(|row| (1e-300..1e300).contains(&row.decay_per_s)) {
                assert_eq!(read_modes_bytes(format, text.as_bytes()).ok(), Some(rows));
            }
        }
    }
});
