//! OFF as text: a line `OFF`, the numbers of vertices, faces and edges, then a line for each vertex and each face.
//!
//! Vertices may carry normals, colours and texture coordinates behind their place (`NOFF`, `COFF`, `STOFF` and what can be put together of
//! them), and faces colours behind their corners; all of that is passed over. Described with Geomview, by which the format came about.

use super::Builder;
use crate::{
    error::{CUT_OFF, Fault, quote},
    text::{lines, number, parse as parse_word, words},
};
use eigentone_core::{TriMesh, Vec3};

/// What may precede `OFF` in the first word, in this order, and leaves the place of a vertex in its first three numbers.
const PREFIXES: [&[u8]; 3] = [b"ST", b"C", b"N"];

/// The first word without what it says about vertices: what remains begins with `OFF`.
fn keyword(word: &[u8]) -> Option<&[u8]> {
    let rest = PREFIXES.iter().fold(word, |rest, prefix| rest.strip_prefix(*prefix).unwrap_or(rest));
    rest.strip_prefix(b"OFF")
}

/// Whether the first word says so.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let word = words(head).next().unwrap_or_default();
    // A well-known collection has the number of vertices in the same word.
    keyword(word).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
}

/// Lines with something in them, without comments.
fn content(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let without_comment = |line: &'_ [u8]| line.iter().position(|&b| b == b'#').unwrap_or(line.len());
    lines(text)
        .map(move |(number, line)| (number, line[..without_comment(line)].trim_ascii()))
        .filter(|l| !l.1.is_empty())
}

/// Reads an OFF.
pub(super) fn parse(text: &[u8]) -> Result<TriMesh, Fault> {
    let mut lines = content(text);
    let mut next = |what: &str| {
        let missing = || Fault::new(crate::error::Place::Whole, what, "the end of the file").hint(CUT_OFF);
        lines.next().ok_or_else(missing)
    };
    let (mut line, mut head) = next("OFF and the numbers of vertices and faces")?;
    // The word is optional, and the numbers may follow on its line.
    let word = words(head).next().unwrap_or_default();
    if let Some(rest) = keyword(word) {
        head = head[word.len() - rest.len()..].trim_ascii();
        if head.starts_with(b"BINARY") {
            return Err(Fault::Unsupported { feature: "binary OFF".to_owned(), hint: "save it as text, or as PLY" });
        }
        if head.is_empty() {
            (line, head) = next("the numbers of vertices and faces")?;
        }
    } else if parse_word::<u64>(word).is_none() {
        let found = quote(word);
        return Err(Fault::at_line(line, "OFF, COFF, NOFF or STOFF", found)
            .hint("points of other than three dimensions cannot be read: export the surface as OFF, PLY or OBJ"));
    }
    let mut counts = words(head);
    let vertices: usize = number(&mut counts, line, "the number of vertices")?;
    let faces: usize = number(&mut counts, line, "the number of faces")?;

    let mut builder = Builder::default();
    for _ in 0..vertices {
        let (line, row) = next("as many vertices as the file says")?;
        let mut words = words(row);
        let mut coordinate = || number(&mut words, line, "three coordinates");
        builder.vertex(Vec3::new(coordinate()?, coordinate()?, coordinate()?))?;
    }
    let mut corners = Vec::new();
    for _ in 0..faces {
        let (line, row) = next("as many faces as the file says")?;
        let mut words = words(row);
        let count: usize = number(&mut words, line, "the number of corners")?;
        corners.clear();
        for _ in 0..count {
            let corner: u32 = number(&mut words, line, "the vertices of a face")?;
            if corner as usize >= vertices {
                let expected = format!("vertices from 0 to below {vertices}");
                return Err(Fault::at_line(line, expected, format!("vertex {corner}")));
            }
            corners.push(corner);
        }
        builder.polygon(&corners)?;
    }
    Ok(builder.mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "0 0 0 9\n1 0 0 9 9\n1 1 0 9 9 9\n0 1e0 0\n4 0 1 2 3\n3 0 1 2 255 0 0\n2 0 1\n";

    #[test]
    fn every_way_to_begin_gives_the_same_faces() {
        for head in [
            "OFF\n4 3 0\n",
            "OFF 4 3 0\n",
            "OFF4 3 0\n",
            "COFF\r\n# made by hand\n\n4 3 # no edges\n",
            "NOFF\n4 3 5\n",
            "STCNOFF\n 4 3\n",
            "4 3 0\n",
        ] {
            let mesh = parse(format!("{head}{SQUARE}").as_bytes()).unwrap_or_else(|e| panic!("{head}: {e:?}"));
            assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]], "{head}");
            assert_eq!(mesh.positions[2], Vec3::new(1.0, 1.0, 0.0));
            assert!(looks_like(head.as_bytes()) || head.starts_with('4'));
        }
        assert!(!looks_like(b"OFFICE") && !looks_like(b"nOFF") && !looks_like(b""));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, expected) in [
            ("", "expected OFF and the numbers of vertices and faces, found the end of the file"),
            ("OFF\n", "expected the numbers of vertices and faces, found the end of the file"),
            ("OFF\n3 x\n", "line 2: expected the number of faces, found “x”"),
            ("OFF\n-1 1\n", "line 2: expected the number of vertices, found “-1”"),
            ("OFF\n1 1\n0 0\n", "line 3: expected three coordinates, found the end of the line"),
            ("OFF\n1 0\n", "expected as many vertices as the file says, found the end of the file"),
            ("OFF\n99999999999 1\n0 0 0\n", "expected as many vertices as the file says, found the end of the file"),
            ("OFF\n1 1\n0 0 0\n3 0 0 1\n", "line 4: expected vertices from 0 to below 1, found vertex 1"),
            ("OFF\n1 1\n0 0 0\n3 0 0 -1\n", "line 4: expected the vertices of a face, found “-1”"),
            ("OFF\n1 1\n0 0 0\n9999999999 0 0\n", "line 4: expected the vertices of a face, found the end of the line"),
            ("OFF\n1 2\n0 0 0\n3 0 0 0\n", "expected as many faces as the file says, found the end of the file"),
            ("4OFF\n1 2\n", "line 1: expected OFF, COFF, NOFF or STOFF, found “4OFF”"),
            ("OFF BINARY\n", "binary OFF is not supported"),
        ] {
            let message = parse(text.as_bytes()).unwrap_err().in_file("x.off".as_ref()).to_string();
            assert_eq!(message, format!("x.off: {expected}"));
        }
    }
}
