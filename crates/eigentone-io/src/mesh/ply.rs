//! Stanford PLY: any types in any order; elements other than vertices, faces and triangle strips are passed over.

use super::{
    Builder,
    ply_header::{Element, Encoding, Header, Property, parse_header},
    scalar::Scalar,
};
use crate::{
    bytes::Bytes,
    error::{CUT_OFF, Fault, Place, quote},
    text::{parse as parse_word, words},
};
use eigentone_core::{TriMesh, Vec3};

/// Reads a PLY.
pub(super) fn parse(file: &[u8]) -> Result<TriMesh, Fault> {
    let header = parse_header(file)?;
    let mut numbers = Numbers::new(&header, file);
    let mut builder = Builder::default();
    for element in header.elements.iter().filter(|e| !e.properties.is_empty()) {
        match element.name.as_slice() {
            b"vertex" => vertices(element, &mut numbers, &mut builder)?,
            b"face" => faces(element, &mut numbers, &mut builder, false)?,
            b"tristrips" => faces(element, &mut numbers, &mut builder, true)?,
            _ => skip(element, &mut numbers)?,
        }
    }
    let vertices = builder.mesh.positions.len();
    match builder.mesh.triangles.iter().flatten().find(|&&v| v as usize >= vertices) {
        Some(v) => Err(Fault::in_item("faces", format!("vertices from 0 to below {vertices}"), format!("vertex {v}"))),
        None => Ok(builder.mesh),
    }
}

fn vertices(element: &Element, numbers: &mut Numbers<'_>, builder: &mut Builder) -> Result<(), Fault> {
    let column = |name: &[u8]| {
        let found = element.properties.iter().position(|p| p.name == name && p.list.is_none());
        found.ok_or_else(|| Fault::in_item("element vertex", "properties x, y and z", "others"))
    };
    let [x, y, z] = [column(b"x")?, column(b"y")?, column(b"z")?];
    let mut row = vec![0.0; element.properties.len()];
    for _ in 0..element.count {
        for (property, value) in element.properties.iter().zip(&mut row) {
            *value = numbers.property(property, None)?;
        }
        builder.vertex(Vec3::new(row[x], row[y], row[z]))?;
    }
    Ok(())
}

fn faces(element: &Element, numbers: &mut Numbers<'_>, builder: &mut Builder, strips: bool) -> Result<(), Fault> {
    let is_corners = |p: &Property| p.list.is_some() && matches!(&p.name[..], b"vertex_indices" | b"vertex_index");
    let corners_at = element.properties.iter().position(is_corners);
    let column = corners_at
        .ok_or_else(|| Fault::in_item("element face", "a list property vertex_indices or vertex_index", "none"))?;
    let (mut list, mut corners) = (Vec::new(), Vec::new());
    for _ in 0..element.count {
        for (k, property) in element.properties.iter().enumerate() {
            numbers.property(property, (k == column).then_some(&mut list))?;
        }
        corners.clear();
        for &value in &list {
            if strips && value == -1.0 {
                builder.strip(&corners)?;
                corners.clear();
                continue;
            }
            let whole = value >= 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0;
            if !whole {
                return Err(Fault::new(numbers.place(), "the number of a vertex", value.to_string()));
            }
            corners.push(value as u32);
        }
        if strips { builder.strip(&corners)? } else { builder.polygon(&corners)? }
    }
    Ok(())
}

fn skip(element: &Element, numbers: &mut Numbers<'_>) -> Result<(), Fault> {
    for _ in 0..element.count {
        for property in &element.properties {
            numbers.property(property, None)?;
        }
    }
    Ok(())
}

/// The numbers after the header, one after the other, however they are written.
enum Numbers<'a> {
    Text { words: Box<dyn Iterator<Item = (usize, &'a [u8])> + 'a>, line: usize },
    Binary { bytes: Bytes<'a>, big_endian: bool },
}

impl<'a> Numbers<'a> {
    fn new(header: &Header, file: &'a [u8]) -> Self {
        let data = &file[header.bytes..];
        if header.encoding == Encoding::Text {
            let before = header.lines;
            let words = crate::text::lines(data).flat_map(move |(n, line)| words(line).map(move |w| (before + n, w)));
            return Self::Text { words: Box::new(words), line: before };
        }
        let mut bytes = Bytes::new(file);
        let _ = bytes.take(header.bytes, "the header");
        Self::Binary { bytes, big_endian: header.encoding == Encoding::BigEndian }
    }

    fn place(&self) -> Place {
        match self {
            Self::Text { line, .. } => Place::Line(*line),
            Self::Binary { bytes, .. } => Place::Byte(bytes.at()),
        }
    }

    /// Reads one property: a number, which is returned, or a list, which is put into `list` if there is one.
    fn property(&mut self, property: &Property, list: Option<&mut Vec<f64>>) -> Result<f64, Fault> {
        let Some(length_type) = property.list else { return self.scalar(property.scalar) };
        let place = self.place();
        let length = self.scalar(length_type)?;
        if !(length >= 0.0 && length <= f64::from(u32::MAX) && length.fract() == 0.0) {
            return Err(Fault::new(place, "the length of a list", length.to_string()));
        }
        let length = length as usize;
        match list {
            Some(list) => {
                list.clear();
                for _ in 0..length {
                    list.push(self.scalar(property.scalar)?);
                }
            }
            None => {
                for _ in 0..length {
                    self.scalar(property.scalar)?;
                }
            }
        }
        Ok(0.0)
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        match self {
            Self::Text { words, line } => {
                let Some((number, word)) = words.next() else {
                    return Err(Fault::at_line(*line, "a number", "the end of the file").hint(CUT_OFF));
                };
                *line = number;
                parse_word(word).ok_or_else(|| Fault::at_line(number, "a number", quote(word)))
            }
            Self::Binary { bytes, big_endian } => {
                let size = scalar.size();
                let mut padded = [0; 8];
                padded[..size].copy_from_slice(bytes.take(size, "a number")?);
                if *big_endian {
                    padded[..size].reverse();
                }
                Ok(scalar.decode(padded))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "element camera 1\nproperty list uchar float tags\nproperty int id\nelement nothing 4000000000\n\
        comment a quad with colours\nelement vertex 4\nproperty uchar red\nproperty double z\nproperty short x\nproperty float y\n\
        element face 1\nproperty uchar flags\nproperty list uchar ushort vertex_index\nend_header\n";

    fn binary(big: bool) -> Vec<u8> {
        let format = if big { "binary_big_endian" } else { "binary_little_endian" };
        let mut file = format!("ply\r\nformat {format} 1.0\n{HEADER}").into_bytes();
        let mut put = |bytes: &[u8]| {
            if big { file.extend(bytes.iter().rev()) } else { file.extend(bytes) }
        };
        put(&[2]);
        put(&1f32.to_le_bytes());
        put(&2f32.to_le_bytes());
        put(&7i32.to_le_bytes());
        for [x, y] in [[0i16, 0], [1, 0], [1, 1], [0, 1]] {
            put(&[255]);
            put(&0.5f64.to_le_bytes());
            put(&x.to_le_bytes());
            put(&f32::from(y).to_le_bytes());
        }
        put(&[0]);
        put(&[4]);
        (0..4u16).for_each(|v| put(&v.to_le_bytes()));
        file
    }

    #[test]
    fn all_encodings_with_odd_properties_give_the_same_quad() {
        let text = format!(
            "ply\nformat ascii 1.0\n{HEADER}2 1 2 7\n255 0.5 0 0\n255 0.5 1 0\n255 0.5 1 1\n255 0.5 0 1\n0 4 0 1 2 3\n"
        );
        for file in [text.into_bytes(), binary(false), binary(true)] {
            let mesh = parse(&file).unwrap();
            assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
            assert_eq!(mesh.positions[2], Vec3::new(1.0, 1.0, 0.5));
        }
    }

    #[test]
    fn strips_turn_every_second_triangle() {
        let file = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
            element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0 1 0 0 0 1 0 1 1 0\n8 0 1 2 3 -1 1 2 3\n";
        assert_eq!(parse(file.as_bytes()).unwrap().triangles, [[0, 1, 2], [2, 1, 3], [1, 2, 3]]);
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let xyz = "property float x\nproperty float y\nproperty float z\n";
        for (text, expected) in [
            ("plx\n".to_owned(), "x.ply: line 1: expected ply, found “plx”"),
            ("ply\nformat weird 1.0\n".to_owned(), "x.ply: line 2: expected format ascii"),
            ("ply\nproperty float x\n".to_owned(), "x.ply: line 2: expected an element before its property"),
            (
                "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n".to_owned(),
                "x.ply: element vertex: expected properties x, y and z",
            ),
            (
                format!("ply\nformat ascii 1.0\nelement vertex 99999999999\n{xyz}end_header\n1 2 3\n"),
                "x.ply: line 8: expected a number, found the end of the file",
            ),
            (
                format!(
                    "ply\nformat ascii 1.0\nelement vertex 1\n{xyz}element face 1\nproperty list int int vertex_indices\nend_header\n1 2 3\n3 0 0 1\n"
                ),
                "x.ply: faces: expected vertices from 0 to below 1, found vertex 1",
            ),
            (
                format!(
                    "ply\nformat ascii 1.0\nelement vertex 1\n{xyz}element face 1\nproperty list int int vertex_indices\nend_header\n1 2 3\n3 0 0 -1\n"
                ),
                "x.ply: line 11: expected the number of a vertex, found -1",
            ),
        ] {
            let message = parse(text.as_bytes()).unwrap_err().in_file("x.ply".as_ref()).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
