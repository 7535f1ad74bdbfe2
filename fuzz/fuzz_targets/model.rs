#![no_main]

use eigentone_io::{apply_modes, mode_rows, model_bytes, read_model_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = read_model_bytes(bytes) {
        let again = model_bytes(&model);
        assert_eq!(read_model_bytes(&again).map(|m| model_bytes(&m)).ok(), Some(again));
        let _ = apply_modes(Some(&model), &mode_rows(&model));
    }
});
