//! A ZIP file of files that are stored as they are (APPNOTE 6.3, method 0).

/// CRC-32 (polynomial 0xEDB88320), bit by bit over a table of 16.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 16] = std::array::from_fn(|i| {
        (0..4).fold(i as u32, |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 })
    });
    let step = |crc: u32, nibble: u32| (crc >> 4) ^ table[((crc ^ nibble) & 15) as usize];
    !bytes.iter().fold(!0, |crc, &b| step(step(crc, u32::from(b)), u32::from(b) >> 4))
}

/// The fields that a file's local and central header have in common, from the version needed on.
fn fields(name: &str, content: &[u8], crc: u32) -> Vec<u8> {
    let size = (content.len() as u32).to_le_bytes();
    let mut fields = Vec::new();
    // Version 2.0; names are UTF-8; stored; 1 January 1980, so that the same files give the same bytes.
    for x in [20u16, 0x0800, 0, 0, 0x0021] {
        fields.extend(x.to_le_bytes());
    }
    fields.extend(crc.to_le_bytes());
    fields.extend(size);
    fields.extend(size);
    fields.extend((name.len() as u16).to_le_bytes());
    fields.extend(0u16.to_le_bytes());
    fields
}

/// Packs files by name. All together must stay below 4 GiB.
pub fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = Vec::with_capacity(files.iter().map(|(n, c)| c.len() + 2 * n.len() + 80).sum::<usize>() + 22);
    let mut directory = Vec::new();
    for (name, content) in files {
        let (at, fields) = (zip.len() as u32, fields(name, content, crc32(content)));
        zip.extend(b"PK\x03\x04");
        zip.extend(&fields);
        zip.extend(name.as_bytes());
        zip.extend(content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, size, count) = (zip.len() as u32, directory.len() as u32, files.len() as u16);
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend(count.to_le_bytes());
    zip.extend(count.to_le_bytes());
    zip.extend(size.to_le_bytes());
    zip.extend(at.to_le_bytes());
    zip.extend(0u16.to_le_bytes());
    zip
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the CRC catalogue, and lengths as the format has them.
    #[test]
    fn files_are_stored_as_they_are() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        let zip = pack(&[("a.txt".to_owned(), b"hello".to_vec()), ("b".to_owned(), Vec::new())]);
        assert_eq!(zip.len(), (30 + 5 + 5) + (30 + 1) + (46 + 5) + (46 + 1) + 22);
        assert_eq!(&zip[35..40], b"hello");
        let end = &zip[zip.len() - 22..];
        assert_eq!(&end[..4], b"PK\x05\x06");
        let directory = u32::from_le_bytes([end[16], end[17], end[18], end[19]]) as usize;
        assert_eq!(&zip[directory..directory + 4], b"PK\x01\x02");
    }
}
