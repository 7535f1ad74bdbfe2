//! How a body is held: free, hung, on feet, clamped.
//!
//! A shell has a lumped mass and is held exactly: what is held is taken out of its stiffness ([`Pencil::hold`]). The nodes of
//! a solid made of cells do not lie on its surface and its mass couples them; there stiff springs pull at the points that are
//! held, [`SPRING`] times as stiff as the cell itself.
//!
//! Holding takes rigid motions away. Those that remain are counted by the rank of the constraints on the three displacements and
//! three rotations of each piece, so that a solver can still be asked for exactly as many.

use crate::eigen::{Pencil, dense};
use crate::solid::cells::CellBody;
use eigentone_core::{TriMesh, Vec3};
use faer::Mat;
use std::str::FromStr;

/// One way of holding a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Support {
    /// Does not move within a radius (in metres) of each point, or at the one place nearest to it; may turn.
    Points {
        /// Where it is held.
        points: Vec<Vec3>,
        /// How far around.
        radius_m: f64,
    },
    /// The open borders of a shell neither move nor turn. Closed surfaces have none.
    ClampedBorders,
    /// The open borders of a shell do not move, but may turn: simply supported.
    PinnedBorders,
    /// Whatever lies within a distance of a plane neither moves nor turns.
    ClampedSide {
        /// A point of the plane.
        point: Vec3,
        /// Its normal.
        normal: Vec3,
        /// Distance on either side, in metres.
        distance_m: f64,
    },
    /// Stands on feet: the places nearest to the points do not move along z, but may slide.
    Feet {
        /// Where the feet are; see [`lowest_points`].
        points: Vec<Vec3>,
    },
    /// Stands on so many of its lowest places: as [`Feet`](Self::Feet) at [`lowest_points`].
    Standing {
        /// How many.
        feet: usize,
    },
    /// Hangs by the place nearest to a point.
    Hanging {
        /// Where it is tied.
        point: Vec3,
    },
}

/// Everything that holds a body; nothing leaves it free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supports {
    /// All act together.
    pub list: Vec<Support>,
}

impl Supports {
    /// The same with the feet of what stands at the lowest places of a mesh.
    pub fn on(&self, mesh: &TriMesh) -> Self {
        let resolve = |support: &Support| match support {
            Support::Standing { feet } => Support::Feet { points: lowest_points(mesh, *feet) },
            other => other.clone(),
        };
        Self { list: self.list.iter().map(resolve).collect() }
    }
}

/// Feet of a body that stands and does not say on how many.
const USUAL_FEET: usize = 3;

impl FromStr for Support {
    type Err = String;

    /// `clamped-border`, `pinned-border`, `feet`, `feet:4`, `hang:X,Y,Z` or `point:X,Y,Z`, in metres.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let point = || {
            let numbers: Vec<f64> = rest.split(',').filter_map(|x| x.trim().parse().ok()).collect();
            match numbers[..] {
                [x, y, z] if numbers.iter().all(|x| x.is_finite()) => Ok(Vec3::new(x, y, z)),
                _ => Err(format!("`{text}` needs a place in metres, as in {kind}:0,0,0.1")),
            }
        };
        match kind {
            "clamped-border" => Ok(Self::ClampedBorders),
            "pinned-border" => Ok(Self::PinnedBorders),
            "feet" if rest.is_empty() => Ok(Self::Standing { feet: USUAL_FEET }),
            "feet" => match rest.parse() {
                Ok(feet @ 1..=64) => Ok(Self::Standing { feet }),
                _ => Err(format!("`{text}` needs a number of feet from 1 to 64, as in feet:4")),
            },
            "hang" => Ok(Self::Hanging { point: point()? }),
            "point" => Ok(Self::Points { points: vec![point()?], radius_m: 0.0 }),
            _ => Err(format!(
                "`{text}` is no support; use clamped-border, pinned-border, feet, feet:4, hang:X,Y,Z or point:X,Y,Z"
            )),
        }
    }
}

impl From<Support> for Supports {
    fn from(support: Support) -> Self {
        Self { list: vec![support] }
    }
}

/// Stiffness of the springs that hold a solid, over that of the cell they pull at. What is missing to a rigid clamp falls with its
/// inverse: a clamped bar is 2e-4 low. Stiffer ones cost digits of the lowest modes.
pub const SPRING: f64 = 1e2;

/// Share of the height within which vertices count as lowest.
const STANDING: f64 = 1e-3;

/// The lowest places of a mesh, `count` of them and far from each other: the first is the one furthest from the middle, each
/// further one has the largest product of distances to those already chosen (Leja's points: four of a rectangle are its corners).
pub fn lowest_points(mesh: &TriMesh, count: usize) -> Vec<Vec3> {
    let Some([low, high]) = mesh.bounds() else { return Vec::new() };
    let level = low.z + STANDING * (high - low).length();
    let mut standing: Vec<Vec3> = mesh.positions.iter().copied().filter(|p| p.z <= level).collect();
    let middle = standing.iter().sum::<Vec3>() / standing.len().max(1) as f64;
    let mut chosen: Vec<Vec3> = Vec::new();
    while chosen.len() < count && !standing.is_empty() {
        let apart = |p: &Vec3| {
            let from = if chosen.is_empty() { std::slice::from_ref(&middle) } else { &chosen[..] };
            from.iter().map(|c| c.distance_squared(*p).ln()).sum::<f64>()
        };
        let scores: Vec<f64> = standing.iter().map(apart).collect();
        let Some(best) = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { break };
        chosen.push(standing.swap_remove(best));
    }
    chosen
}

/// Directions in which one place cannot move or turn, orthonormal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Holds {
    pub displacements: Vec<Vec3>,
    pub rotations: Vec<Vec3>,
}

const AXES: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];

impl Holds {
    fn displacement(&mut self, direction: Vec3) {
        add_direction(&mut self.displacements, direction);
    }

    fn pin(&mut self) {
        AXES.into_iter().for_each(|n| self.displacement(n));
    }

    fn clamp(&mut self) {
        self.pin();
        AXES.into_iter().for_each(|n| add_direction(&mut self.rotations, n));
    }
}

/// Adds what is new of a direction.
fn add_direction(directions: &mut Vec<Vec3>, direction: Vec3) {
    let rest = directions.iter().fold(direction, |d, n| d - *n * d.dot(*n));
    if rest.length() > 1e-9 {
        directions.push(rest.normalize());
    }
}

/// What is held at each of a list of places.
pub(crate) struct Held {
    pub vertices: Vec<Holds>,
}

/// Which vertices of a shell are held; only those that are part of the wall can be.
pub(crate) fn held_by_vertex(mesh: &TriMesh, supports: &Supports, attached: &[bool]) -> Held {
    let mut held = held_places(&mesh.positions, supports, attached);
    let clamped = supports.list.contains(&Support::ClampedBorders);
    if clamped || supports.list.contains(&Support::PinnedBorders) {
        let borders = mesh.edges().into_iter().filter(|(_, triangles)| triangles.len() == 1);
        for v in borders.flat_map(|(edge, _)| edge) {
            let holds = &mut held.vertices[v as usize];
            if clamped { holds.clamp() } else { holds.pin() }
        }
    }
    held
}

/// Which of some places are held, of those that are eligible.
fn held_places(places: &[Vec3], supports: &Supports, eligible: &[bool]) -> Held {
    let mut vertices = vec![Holds::default(); places.len()];
    let nearest = |point: Vec3| {
        let distance = |v: usize| places[v].distance_squared(point);
        (0..places.len()).filter(|&v| eligible[v]).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    };
    for support in &supports.list {
        match support {
            Support::Points { points, radius_m } => {
                for &point in points {
                    let around = (0..places.len()).filter(|&v| eligible[v] && places[v].distance(point) <= *radius_m);
                    around.chain(nearest(point)).for_each(|v| vertices[v].pin());
                }
            }
            Support::Hanging { point } => nearest(*point).into_iter().for_each(|v| vertices[v].pin()),
            Support::Feet { points } => {
                points.iter().filter_map(|&p| nearest(p)).for_each(|v| vertices[v].displacement(Vec3::Z));
            }
            Support::ClampedSide { point, normal, distance_m } => {
                let n = normal.normalize_or_zero();
                let near = |v: &usize| eligible[*v] && (places[*v] - *point).dot(n).abs() <= *distance_m;
                (0..places.len()).filter(near).for_each(|v| vertices[v].clamp());
            }
            Support::ClampedBorders | Support::PinnedBorders | Support::Standing { .. } => {}
        }
    }
    Held { vertices }
}

impl Held {
    /// Rigid motions that remain, over all pieces of a mesh with these triangles.
    pub(crate) fn rigid_motions(&self, mesh: &TriMesh, triangles: &[[u32; 3]]) -> usize {
        let wall = TriMesh { positions: mesh.positions.clone(), triangles: triangles.to_vec() };
        let (piece, count) = wall.components();
        let mut real = vec![false; count];
        triangles.iter().for_each(|t| real[piece[t[0] as usize] as usize] = true);
        let mut rows: Vec<Vec<[f64; 6]>> = vec![Vec::new(); count];
        let scale = mesh.diagonal();
        let middle = mesh.bounds().map_or(Vec3::ZERO, |[low, high]| 0.5 * (low + high));
        for ((holds, &p), &c) in self.vertices.iter().zip(&mesh.positions).zip(&piece) {
            rows[c as usize].extend(constraints(holds, (p - middle) / scale));
        }
        (0..count).filter(|&c| real[c]).map(|c| 6 - rank(&rows[c])).sum()
    }
}

/// The rows of the constraints on a piece's displacement and rotation.
fn constraints(holds: &Holds, place: Vec3) -> impl Iterator<Item = [f64; 6]> {
    let displacements = holds.displacements.iter().map(move |&n| {
        // n·(t + ω × p) = n·t + ω·(p × n)
        let arm = place.cross(n);
        [n.x, n.y, n.z, arm.x, arm.y, arm.z]
    });
    displacements.chain(holds.rotations.iter().map(|n| [0.0, 0.0, 0.0, n.x, n.y, n.z]))
}

fn rank(rows: &[[f64; 6]]) -> usize {
    if rows.is_empty() {
        return 0;
    }
    let gram = Mat::from_fn(6, 6, |i, j| rows.iter().map(|r| r[i] * r[j]).sum::<f64>());
    let Ok((values, _)) = dense::symmetric(gram.as_ref()) else { return 0 };
    values.iter().filter(|&&v| v > 1e-9 * values[5]).count()
}

/// Holds a body made of cells by springs at points of its surface, and returns the number of rigid motions that remain.
/// `surface` should have vertices about as close as the cells; where they are held is where springs are.
pub fn hold_cells(body: &mut CellBody, surface: &TriMesh, supports: &Supports) -> usize {
    hold_cells_with(body, surface, supports, SPRING)
}

/// The same with springs `spring` times as stiff as the cells: for proofs of convergence.
pub fn hold_cells_with(body: &mut CellBody, surface: &TriMesh, supports: &Supports, spring: f64) -> usize {
    let held = held_places(&surface.positions, supports, &vec![true; surface.positions.len()]);
    let axes = AXES.map(|axis| body.to_world(axis));
    let held_here = held.vertices.iter().zip(&surface.positions).filter(|(holds, _)| !holds.displacements.is_empty());
    // All springs are measured against the body as it is, not against springs that were added before.
    let springs: Vec<_> = held_here
        .map(|(holds, &place)| {
            let (nodes, weights) = body.interpolation(place);
            (holds, nodes, weights, spring * mean_stiffness(&body.pencil, &nodes))
        })
        .collect();
    for (holds, nodes, weights, stiffness) in springs {
        for n in &holds.displacements {
            let local = Vec3::from_array(axes.map(|axis| axis.dot(*n)));
            add_spring(&mut body.pencil, &nodes, &weights, local, stiffness);
        }
    }
    held.rigid_motions(surface, &surface.triangles)
}

/// Mean of the diagonal stiffnesses of some nodes, in N/m.
fn mean_stiffness(pencil: &Pencil, nodes: &[u32]) -> f64 {
    let trace = |n: u32| pencil.stiffness(n, n).map_or(0.0, |b| (b[0][0] + b[1][1] + b[2][2]) / 3.0);
    nodes.iter().map(|&n| trace(n)).sum::<f64>() / nodes.len().max(1) as f64
}

/// Adds a spring between the ground and the point that some nodes and weights interpolate. All nodes must be coupled.
fn add_spring(pencil: &mut Pencil, nodes: &[u32], weights: &[f64], direction: Vec3, stiffness_n_m: f64) {
    for (&i, &a) in nodes.iter().zip(weights) {
        for (&j, &b) in nodes.iter().zip(weights) {
            let k = stiffness_n_m * a * b;
            let block = std::array::from_fn(|r| std::array::from_fn(|c| k * direction[r] * direction[c]));
            pencil.add_stiffness(i, j, &block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_read_from_words() {
        assert_eq!("feet".parse(), Ok(Support::Standing { feet: 3 }));
        assert_eq!("feet:4".parse(), Ok(Support::Standing { feet: 4 }));
        assert_eq!("clamped-border".parse(), Ok(Support::ClampedBorders));
        assert_eq!("hang:0,0,0.1".parse(), Ok(Support::Hanging { point: Vec3::new(0.0, 0.0, 0.1) }));
        for wrong in ["", "feet:0", "feet:x", "hang", "hang:1,2", "point:1,2,nan", "glued"] {
            assert!(wrong.parse::<Support>().is_err(), "{wrong}");
        }
    }
}
