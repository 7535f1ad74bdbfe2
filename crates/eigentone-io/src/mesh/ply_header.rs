//! The header of a PLY file: which elements follow, how often, and of which properties.

use super::scalar::Scalar;
use crate::{
    error::{Fault, quote},
    text::{parse, words},
};

/// A header is a page of text at most; what is longer is not one.
const LONGEST_HEADER: usize = 1 << 16;

/// How the numbers after the header are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// One property of an element.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub name: Vec<u8>,
    /// For lists, the type of their length.
    pub list: Option<Scalar>,
    pub scalar: Scalar,
}

/// Rows with the same properties.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub name: Vec<u8>,
    pub count: u64,
    pub properties: Vec<Property>,
}

/// The whole header.
#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Bytes and lines up to the data.
    pub bytes: usize,
    pub lines: usize,
}

/// Reads the header.
pub(super) fn parse_header(file: &[u8]) -> Result<Header, Fault> {
    let mut header = Header { encoding: Encoding::Text, elements: Vec::new(), bytes: 0, lines: 0 };
    let mut encoding = None;
    loop {
        let rest = &file[header.bytes..file.len().min(LONGEST_HEADER)];
        let line = header.lines + 1;
        let Some(end) = rest.iter().position(|&b| b == b'\n') else {
            return Err(Fault::at_line(line, "end_header", "the end of the header's 65536 bytes or of the file"));
        };
        let content = &rest[..end];
        header.bytes += end + 1;
        header.lines = line;
        let bad = |expected: &str| Fault::at_line(line, expected, quote(content));
        let mut words = words(content);
        match (line, words.next()) {
            (1, Some(b"ply")) => {}
            (1, _) => return Err(bad("ply")),
            (_, Some(b"format")) => {
                encoding = Some(match words.next() {
                    Some(b"ascii") => Encoding::Text,
                    Some(b"binary_little_endian") => Encoding::LittleEndian,
                    Some(b"binary_big_endian") => Encoding::BigEndian,
                    _ => return Err(bad("format ascii, binary_little_endian or binary_big_endian")),
                });
            }
            (_, Some(b"element")) => {
                let name = words.next().map(<[u8]>::to_vec);
                let (Some(name), Some(count)) = (name, words.next().and_then(parse)) else {
                    return Err(bad("element NAME COUNT"));
                };
                header.elements.push(Element { name, count, properties: Vec::new() });
            }
            (_, Some(b"property")) => {
                let property = property(&mut words).ok_or_else(|| bad("property TYPE NAME"))?;
                header
                    .elements
                    .last_mut()
                    .ok_or_else(|| bad("an element before its property"))?
                    .properties
                    .push(property);
            }
            (_, Some(b"end_header")) => break,
            (_, Some(b"comment" | b"obj_info") | None) => {}
            _ => return Err(bad("format, element, property, comment or end_header")),
        }
    }
    header.encoding = encoding.ok_or_else(|| Fault::at_line(header.lines, "a format line", "none"))?;
    Ok(header)
}

fn property<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<Property> {
    let first = words.next()?;
    let list = if first == b"list" { Some(Scalar::from_ply_name(words.next()?)?) } else { None };
    let scalar = if list.is_some() { Scalar::from_ply_name(words.next()?)? } else { Scalar::from_ply_name(first)? };
    Some(Property { name: words.next()?.to_vec(), list, scalar })
}
