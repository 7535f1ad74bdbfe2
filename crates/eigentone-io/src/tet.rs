//! Tetrahedra from a `.node`/`.ele` pair in TetGen's text format.
//!
//! The first line of a `.node` file holds the number of points, the dimension (3), and how many attributes and markers
//! follow each point; then comes one line per point: its number, x, y, z and the rest. An `.ele` file holds the number of
//! tetrahedra and of nodes each (4, or 10 of which the first four are the corners), then their lines. Points are numbered
//! from zero or one, as the first of them says. `#` starts a comment.

use crate::{
    error::{CUT_OFF, Fault, IN_MEMORY, ReadError, quote},
    file::{extension, read_file},
    text::{lines, number, words},
};
use eigentone_core::{TetMesh, Vec3};
use std::path::{Path, PathBuf};

/// A tetrahedron whose volume is below this share of its longest edge cubed has none. A regular one has 0.118; slivers that
/// meshers leave behind have 1e-4 and more.
const FLAT_SHARE: f64 = 1e-9;

/// Largest coordinate, in whatever unit the file is in: beyond it volumes are no longer finite numbers of use.
const LARGEST_COORDINATE: f64 = 1e12;

/// What was read from a `.node`/`.ele` pair.
#[derive(Clone, Debug, PartialEq)]
pub struct TetImport {
    /// The tetrahedra, all with positive volume.
    pub mesh: TetMesh,
    /// How many without volume were left out.
    pub degenerate: usize,
}

/// Reads a `.node`/`.ele` pair, given either of the two or their common stem.
///
/// # Errors
/// If one of the two is missing or breaks the rules of the format, or no tetrahedron has a volume.
pub fn read_tet(path: &Path) -> Result<TetImport, ReadError> {
    let [node, ele] = pair(path);
    let (node_bytes, ele_bytes) = (read_file(&node)?, read_file(&ele)?);
    let (positions, base) = parse_nodes(&node_bytes).map_err(|fault| fault.in_file(&node))?;
    parse_tets(&ele_bytes, positions, base).map_err(|fault| fault.in_file(&ele))
}

/// The `.node` and the `.ele` file of a pair, given either of the two or their common stem.
pub(crate) fn pair(path: &Path) -> [PathBuf; 2] {
    let stem = match extension(path).as_str() {
        "node" | "ele" => path.with_extension(""),
        _ => path.to_owned(),
    };
    // Not `with_extension`: TetGen's stems contain dots themselves, as in `bell.1.node`.
    [".node", ".ele"].map(|extension| {
        let mut name = stem.clone().into_os_string();
        name.push(extension);
        PathBuf::from(name)
    })
}

/// Reads the contents of a `.node` and an `.ele` file.
///
/// # Errors
/// As [`read_tet`].
pub fn read_tet_bytes(node: &[u8], ele: &[u8]) -> Result<TetImport, ReadError> {
    let parsed = parse_nodes(node).and_then(|(positions, base)| parse_tets(ele, positions, base));
    parsed.map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

/// Lines that hold something, without comments.
fn content(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    lines(text)
        .map(|(n, line)| (n, line.split(|&b| b == b'#').next().unwrap_or_default().trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
}

fn parse_nodes(text: &[u8]) -> Result<(Vec<Vec3>, u64), Fault> {
    let mut lines = content(text);
    let (mut last, header) = lines.next().ok_or_else(|| Fault::at_line(1, "the number of points", "an empty file"))?;
    let mut header = words(header);
    let count: u64 = number(&mut header, last, "the number of points")?;
    let dimension: u64 = number(&mut header, last, "the dimension 3")?;
    if dimension != 3 {
        return Err(Fault::at_line(last, "the dimension 3", dimension.to_string()));
    }
    let (mut positions, mut base) = (Vec::new(), 0);
    for index in 0..count {
        let Some((line, row)) = lines.next() else { return Err(missing_rows(last, "points", count, index)) };
        last = line;
        let mut row = words(row);
        let label: u64 = number(&mut row, line, "the number of a point")?;
        if index == 0 {
            if label > 1 {
                return Err(Fault::at_line(line, "points numbered from 0 or 1", label.to_string()));
            }
            base = label;
        } else if label != base + index {
            return Err(Fault::at_line(line, format!("point {}", base + index), format!("point {label}")));
        }
        let mut coordinate = || {
            let x: f64 = number(&mut row, line, "three coordinates")?;
            let good = x.abs() <= LARGEST_COORDINATE;
            if good { Ok(x) } else { Err(Fault::at_line(line, "coordinates of at most 1e12", x.to_string())) }
        };
        positions.push(Vec3::new(coordinate()?, coordinate()?, coordinate()?));
    }
    Ok((positions, base))
}

fn parse_tets(text: &[u8], positions: Vec<Vec3>, base: u64) -> Result<TetImport, Fault> {
    let mut lines = content(text);
    let start = lines.next().ok_or_else(|| Fault::at_line(1, "the number of tetrahedra", "an empty file"))?;
    let (mut last, mut header) = (start.0, words(start.1));
    let count: u64 = number(&mut header, last, "the number of tetrahedra")?;
    let corners = header.next().unwrap_or(b"4");
    if corners != b"4" && corners != b"10" {
        return Err(Fault::at_line(last, "4 or 10 nodes per tetrahedron", quote(corners)));
    }
    let points = positions.len() as u64;
    let mut import = TetImport { mesh: TetMesh { positions, tets: Vec::new() }, degenerate: 0 };
    for index in 0..count {
        let Some((line, row)) = lines.next() else { return Err(missing_rows(last, "tetrahedra", count, index)) };
        last = line;
        let mut row = words(row);
        let _label: u64 = number(&mut row, line, "the number of a tetrahedron")?;
        let mut tet = [0; 4];
        for corner in &mut tet {
            let point: u64 = number(&mut row, line, "four corners")?;
            let index = point.checked_sub(base).filter(|&i| i < points).and_then(|i| u32::try_from(i).ok());
            *corner = index.ok_or_else(|| {
                let expected = format!("a point between {base} and {}", (base + points).saturating_sub(1));
                Fault::at_line(line, expected, point.to_string())
                    .hint("the .node and .ele files must come from the same run of the mesher")
            })?;
        }
        if is_flat(&import.mesh, tet) {
            import.degenerate += 1;
        } else {
            import.mesh.tets.push(tet);
        }
    }
    if import.mesh.tets.is_empty() {
        let found = format!("{} without", import.degenerate);
        return Err(Fault::at_line(last, "at least one tetrahedron with a volume", found));
    }
    import.mesh.orient();
    Ok(import)
}

fn missing_rows(line: usize, what: &str, count: u64, found: u64) -> Fault {
    Fault::at_line(line, format!("{count} {what}"), format!("the end of the file after {found}")).hint(CUT_OFF)
}

fn is_flat(mesh: &TetMesh, tet: [u32; 4]) -> bool {
    let corners = tet.map(|v| mesh.positions[v as usize]);
    let longest = corners.iter().flat_map(|a| corners.iter().map(|b| a.distance(*b))).fold(0.0, f64::max);
    mesh.signed_volume(tet).abs() <= FLAT_SHARE * longest.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str =
        "# a corner of a cube\n5 3 1 1\n\n1 0 0 0 9 1\n2 1 0 0 9 1 # x\n3 0 1 0 9 1\n4 0 0 1 9 1\n5 2 0 0 9 1\n";

    #[test]
    fn both_numberings_orders_and_element_types_are_read() {
        let zero_based = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n";
        for (node, ele) in [
            (NODE, "2 4 1\n1 1 3 2 4 77\n2 1 2 5 3 77\n"),
            (NODE, "2 10 0\n1 1 3 2 4 1 1 1 1 1 1\n2 1 2 5 3 1 1 1 1 1 1\n"),
            (zero_based, "1 4 0\n0 0 1 2 3\n"),
        ] {
            let import = read_tet_bytes(node.as_bytes(), ele.as_bytes()).unwrap();
            assert_eq!(import.mesh.tets.len(), 1, "{ele}");
            assert_eq!(import.degenerate, usize::from(node == NODE));
            assert!((import.mesh.signed_volume(import.mesh.tets[0]) - 1.0 / 6.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_sibling_is_found_from_either_file_or_the_stem() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("bell.1.node"), NODE).unwrap();
        let missing = read_tet(&path("bell.1.node")).unwrap_err();
        assert!(missing.file().ends_with("bell.1.ele"));
        std::fs::write(path("bell.1.ele"), "1 4 0\n1 1 2 3 4\n").unwrap();
        for name in ["bell.1.node", "bell.1.ele", "bell.1"] {
            assert_eq!(read_tet(&path(name)).unwrap().mesh.tets.len(), 1, "{name}");
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (node, ele, expected) in [
            (NODE, "2 4 0\n1 1 2 3 4\n", "line 2: expected 2 tetrahedra, found the end of the file after 1"),
            (NODE, "1 4 0\n1 1 2 3 6\n", "line 2: expected a point between 1 and 5, found 6"),
            (NODE, "1 4 0\n1 0 2 3 4\n", "line 2: expected a point between 1 and 5, found 0"),
            (NODE, "1 4 0\n1 1 2 3\n", "line 2: expected four corners, found the end of the line"),
            (NODE, "1 8 0\n", "line 1: expected 4 or 10 nodes per tetrahedron, found “8”"),
            (NODE, "1 4 0\n1 1 1 3 4\n", "line 2: expected at least one tetrahedron with a volume, found 1 without"),
            ("9 2 0 0\n", "", "line 1: expected the dimension 3, found 2"),
            ("2 3 0 0\n0 0 0 0\n2 0 0 0\n", "", "line 3: expected point 1, found point 2"),
            ("1 3 0 0\n0 0 0 nan\n", "", "line 2: expected coordinates of at most 1e12, found NaN"),
            ("99999999999999999 3 0 0\n0 0 0 0\n", "", "line 2: expected 99999999999999999 points"),
        ] {
            let message = read_tet_bytes(node.as_bytes(), ele.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
