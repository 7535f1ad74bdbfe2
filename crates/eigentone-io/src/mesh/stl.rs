//! STL, text and binary. A binary file is 80 bytes of anything, a count, and 50 bytes per triangle; some of them start with
//! the word `solid` like a text file, so the size decides.

use super::Builder;
use crate::{
    bytes::Bytes,
    error::{CUT_OFF, Fault, quote},
    text::{lines, number, words},
};
use eigentone_core::{TriMesh, Vec3};

const HEADER: usize = 80;
const RECORD: usize = 50;

/// Whether the size is exactly that of a binary STL with the count it states.
pub(super) fn is_binary(head: &[u8], length: u64) -> bool {
    let count = head.get(HEADER..HEADER + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    count.is_some_and(|n| n > 0 && (HEADER + 4) as u64 + RECORD as u64 * u64::from(n) == length)
}

/// Reads an STL.
pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let text = bytes.trim_ascii_start();
    if !is_binary(bytes, bytes.len() as u64) && text.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid")) {
        parse_text(bytes)
    } else {
        parse_binary(bytes)
    }
}

fn parse_binary(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let mut bytes = Bytes::new(bytes);
    bytes.take(HEADER, "a header")?;
    let count = bytes.u32_le("the number of triangles")? as usize;
    let records = bytes.take(count.saturating_mul(RECORD), &format!("{count} triangles"))?;
    let mut builder = Builder::default();
    for record in records.chunks_exact(RECORD) {
        // The normal comes first, and is left to the order of the corners.
        let base = builder.mesh.positions.len() as u32;
        for corner in record[12..48].chunks_exact(12) {
            let mut float = corner.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let mut next = || f64::from(float.next().unwrap_or(f32::NAN));
            builder.vertex(Vec3::new(next(), next(), next()))?;
        }
        builder.triangle([base, base + 1, base + 2])?;
    }
    Ok(builder.mesh)
}

fn parse_text(text: &[u8]) -> Result<TriMesh, Fault> {
    let mut builder = Builder::default();
    let (mut corners, mut ended, mut last) = (Vec::new(), false, 0);
    for (line, content) in lines(text) {
        last = line;
        let mut words = words(content);
        let Some(keyword) = words.next() else { continue };
        match keyword.to_ascii_lowercase().as_slice() {
            b"vertex" => {
                let mut next = || number(&mut words, line, "three coordinates");
                let position = Vec3::new(next()?, next()?, next()?);
                corners.push(builder.mesh.positions.len() as u32);
                builder.vertex(position)?;
            }
            b"facet" => corners.clear(),
            b"endfacet" => {
                if corners.len() < 3 {
                    let found = format!("{} vertices", corners.len());
                    return Err(Fault::at_line(line, "a facet with at least three vertices", found));
                }
                builder.polygon(&corners)?;
                corners.clear();
            }
            b"solid" => ended = false,
            b"endsolid" => ended = true,
            b"outer" | b"endloop" | b"color" => {}
            _ => return Err(Fault::at_line(line, "facet, vertex, endfacet or endsolid", quote(keyword))),
        }
    }
    if ended { Ok(builder.mesh) } else { Err(Fault::at_line(last, "endsolid", "the end of the file").hint(CUT_OFF)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid two words\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\nendsolid two words\n";

    fn binary(header: &str, triangles: u32) -> Vec<u8> {
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(HEADER, b' ');
        bytes.extend(triangles.to_le_bytes());
        for k in 0..triangles {
            bytes.extend((0..12).flat_map(|i| (k as f32 + i as f32).to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_upper_case_text_are_read() {
        assert_eq!(parse(TEXT.as_bytes()).unwrap().triangles, [[0, 1, 2]]);
        assert_eq!(parse(TEXT.to_uppercase().as_bytes()).unwrap().positions[1], Vec3::X);
    }

    #[test]
    fn a_binary_file_that_starts_with_solid_is_still_binary() {
        let mesh = parse(&binary("solid made by a CAD program", 3)).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (9, 3));
        assert_eq!(mesh.positions[0], Vec3::new(3.0, 4.0, 5.0));
    }

    #[test]
    fn a_count_beyond_the_file_is_refused_before_anything_is_allocated() {
        let mut bytes = binary("x", 2);
        bytes[HEADER..HEADER + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = parse(&bytes).unwrap_err().in_file("x.stl".as_ref());
        assert!(error.to_string().contains("byte 84: expected 4294967295 triangles"), "{error}");
        assert_eq!(error.hint(), Some(CUT_OFF));
    }

    #[test]
    fn a_text_file_cut_short_is_noticed() {
        let cut = &TEXT[..TEXT.find("endsolid").unwrap()];
        let message = parse(cut.as_bytes()).unwrap_err().in_file("x.stl".as_ref()).to_string();
        assert_eq!(message, "x.stl: line 9: expected endsolid, found the end of the file");
    }
}
