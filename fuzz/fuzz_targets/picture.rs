#![no_main]

use eigentone_io::read_picture_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(picture) = read_picture_bytes(bytes) {
        assert_eq!(picture.grey.len(), picture.width * picture.height);
    }
});
