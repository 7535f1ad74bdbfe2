//! Wavefront OBJ: `v`, `f` and `usemtl` lines; everything else (normals, textures, groups, lines, curves) is passed over.

use super::{Builder, DEFAULT_MATERIAL};
use crate::{
    error::{Fault, quote},
    text::{number, parse as parse_word, words},
};
use eigentone_core::{Vec3, acoustics::MaterialMesh};

/// Whether some line of the beginning is a vertex.
pub(super) fn looks_like(head: &[u8]) -> bool {
    head.split(|&b| b == b'\n').any(|line| {
        let mut words = words(line);
        words.next() == Some(b"v") && words.take(3).filter(|w| parse_word::<f64>(w).is_some()).count() == 3
    })
}

/// Reads an OBJ.
pub(super) fn parse(text: &[u8]) -> Result<MaterialMesh, Fault> {
    let mut builder = Builder::default();
    let mut corners = Vec::new();
    // A face may name a vertex that comes later, so indices are checked at the end.
    let mut highest = (0, 0);
    let mut joined = Vec::new();
    let mut lines = crate::text::lines(text);
    while let Some((number, first)) = lines.next() {
        let mut line = first;
        if let Some(start) = first.strip_suffix(b"\\") {
            joined.clear();
            joined.extend_from_slice(start);
            for (_, next) in lines.by_ref() {
                joined.push(b' ');
                joined.extend_from_slice(next.strip_suffix(b"\\").unwrap_or(next));
                if !next.ends_with(b"\\") {
                    break;
                }
            }
            line = &joined;
        }
        let content = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = words(content);
        match words.next() {
            Some(b"v") => builder.vertex(position(&mut words, number)?)?,
            Some(b"f") => {
                corners.clear();
                for word in words {
                    let corner = corner(word, builder.mesh.positions.len(), number)?;
                    highest = highest.max((corner, number));
                    corners.push(corner);
                }
                if corners.len() < 3 {
                    let found = format!("{} corners", corners.len());
                    return Err(Fault::at_line(number, "a face with at least three corners", found));
                }
                builder.polygon(&corners)?;
            }
            // Names may have spaces in them; `#` in one would be a comment.
            Some(b"usemtl") => {
                let name = content.trim_ascii_start().strip_prefix(b"usemtl").unwrap_or_default();
                let name = String::from_utf8_lossy(name.trim_ascii());
                builder.material(if name.is_empty() { DEFAULT_MATERIAL } else { &name })?;
            }
            _ => {}
        }
    }
    let vertices = builder.mesh.positions.len();
    if !builder.mesh.triangles.is_empty() && highest.0 as usize >= vertices {
        let found = u64::from(highest.0) + 1;
        return Err(Fault::at_line(highest.1, format!("a vertex between 1 and {vertices}"), found.to_string()));
    }
    builder.scene()
}

fn position<'a>(words: &mut impl Iterator<Item = &'a [u8]>, line: usize) -> Result<Vec3, Fault> {
    let mut next = || number(words, line, "three coordinates");
    Ok(Vec3::new(next()?, next()?, next()?))
}

/// The zero-based vertex of a corner written as `v`, `v/vt`, `v//vn` or `v/vt/vn`, where negative numbers count back from
/// the latest vertex.
fn corner(word: &[u8], vertices: usize, line: usize) -> Result<u32, Fault> {
    let bad = || Fault::at_line(line, "a vertex number such as 7, 7/1/2 or -1", quote(word));
    let number: i64 = word.split(|&b| b == b'/').next().and_then(parse_word).ok_or_else(bad)?;
    let index = if number < 0 { (vertices as i64).checked_add(number) } else { number.checked_sub(1) };
    index.and_then(|i| u32::try_from(i).ok()).filter(|&i| i < u32::MAX).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_corner_name_the_same_vertices() {
        for face in [
            "f 1 2 3 4",
            "f 1/1 2/2 3/3 4/4",
            "f 1//1 2//1 3//1 4//1",
            "f 1/9/9 2/9/9 3/9/9 4/9/9",
            "f -4 -3 -2 -1",
            "f 1 2 \\\n 3 \\\n 4",
        ] {
            let text = format!(
                "# a square\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 .5 .5 .5\nv 0 1e0 0\nvn 0 0 1\nvt 0 0\nl 1 2\np 1\ng a\n{face} # last\n"
            );
            let mesh = parse(text.as_bytes()).unwrap_or_else(|e| panic!("{face}: {e:?}")).mesh;
            assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]], "{face}");
            assert_eq!(mesh.positions[3], Vec3::Y);
        }
    }

    #[test]
    fn materials_hold_until_the_next() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nusemtl unused\nusemtl Old Brick # red\r\nf 1 2 3 4\n\
                    usemtl wood\nf 1 2 3\n usemtl  Old Brick\nf 1 2 3\nusemtl\nf 1 2 3\n";
        let scene = parse(text.as_bytes()).unwrap();
        assert_eq!(scene.names, ["default", "Old Brick", "wood"]);
        assert_eq!(scene.of_triangle, [0, 1, 1, 2, 1, 0]);
        let many: String = (0..70_000).map(|k| format!("usemtl {k}\nf 1 2 3\n")).collect();
        let error = parse(format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{many}").as_bytes()).unwrap_err();
        assert!(error.in_file("x.obj".as_ref()).to_string().contains("at most 65536 materials"));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, line, found) in [
            ("v 0 0 0\nv 1 0\n", 2, "the end of the line"),
            ("v 0 0 zero\n", 1, "“zero”"),
            ("v 0 0 0\nf 1 1 0\n", 2, "“0”"),
            ("v 0 0 0\nf 1 1 -2\n", 2, "“-2”"),
            ("v 0 0 0\n\nf 1 1 9\n", 3, "9"),
            ("v 0 0 0\nf 1 1\n", 2, "2 corners"),
            ("v 0 0 0\nf 1 1 99999999999999999999\n", 2, "“99999999999999999999”"),
        ] {
            let message = parse(text.as_bytes()).unwrap_err().in_file("x.obj".as_ref()).to_string();
            assert!(message.starts_with(&format!("x.obj: line {line}: expected")), "{message}");
            assert!(message.ends_with(&format!("found {found}")), "{message}");
        }
    }
}
