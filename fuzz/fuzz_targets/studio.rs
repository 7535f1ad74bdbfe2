#![no_main]

use eigentone_studio::request::read;
use eigentone_studio::take_file::TakeFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(fault) = TakeFile::read(bytes) {
        assert!(!fault.error.is_empty());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Whatever it is given, it answers: with a request or with what was wrong.
    if let Err((_, fault)) = read(text) {
        assert!(!fault.error.is_empty() && fault.status >= 400);
    }
});
