//! Even triangles of a wanted size over the same surface (Botsch & Kobbelt 2004, "A remeshing approach to multiresolution
//! modeling").
//!
//! Each round splits edges longer than 4/3 of the wanted one, collapses those shorter than 4/5 (if the link condition
//! holds, nothing turns over and no edge gets too long), flips edges toward six triangles at a vertex, moves vertices
//! along the surface to the middle of their surroundings, and projects them onto the input. Borders, edges sharper than
//! a given angle and edges of more than two triangles are creases: their vertices stay on them, their corners in place.
//! Nothing is assumed of the topology, and none of these steps changes it.

mod edges;
mod features;
mod smooth;
mod web;

use super::{NearestTree, TriMesh};
use edges::FlipFor;
use smooth::Input;
use web::Web;

/// What a remeshed surface should be like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemeshSettings {
    /// Wanted length of edges in metres.
    pub edge_m: f64,
    /// Edges between triangles that meet at more than this angle are kept, in degrees.
    pub feature_degrees: f64,
    /// Rounds of splitting, collapsing, flipping and smoothing.
    pub rounds: usize,
    /// At most this many vertices; longer edges are taken if `edge_m` needs more.
    pub max_vertices: usize,
}

impl Default for RemeshSettings {
    fn default() -> Self {
        Self { edge_m: 5e-3, feature_degrees: 40.0, rounds: 6, max_vertices: 10_000 }
    }
}

/// A remeshed surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Remeshed {
    /// The new triangles.
    pub mesh: TriMesh,
    /// The length of edges that was aimed for, in metres: as wanted, or longer so that the vertices suffice.
    pub edge_m: f64,
    /// For each new triangle that of the input which is nearest to its middle and faces alike.
    pub source: Vec<u32>,
}

impl Remeshed {
    /// Values of the input's triangles for the new ones. Empty if there are not as many values as triangles.
    pub fn carry<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.source.iter().filter_map(|&t| values.get(t as usize).copied()).collect()
    }
}

/// Vertices per area of squared edges, of a closed mesh of equilateral triangles: `2/√3`.
const VERTICES_PER_AREA: f64 = 1.1547;

/// Attempts with longer edges, if there are too many vertices.
const ATTEMPTS: usize = 4;

impl TriMesh {
    /// Even triangles over this surface. Expects a mesh after [`TriMesh::repair`]; survives any other.
    ///
    /// ```
    /// use eigentone_core::mesh::{RemeshSettings, primitives};
    ///
    /// let fan = primitives::cylinder(0.03, 0.12, 96, 1, false);
    /// let even = fan.remesh_isotropic(&RemeshSettings { edge_m: 5.5e-3, ..Default::default() });
    /// assert!((700..1000).contains(&even.mesh.positions.len()));
    /// assert!((even.mesh.area() / fan.area() - 1.0).abs() < 0.01);
    /// ```
    pub fn remesh_isotropic(&self, settings: &RemeshSettings) -> Remeshed {
        let area = self.area();
        // Borders and creases add some.
        let expected = |edge: f64| 1.05 * VERTICES_PER_AREA * area / (edge * edge);
        let max_vertices = settings.max_vertices.max(4);
        let coarsest = (1.05 * VERTICES_PER_AREA * area / max_vertices as f64).sqrt();
        let mut edge = if settings.edge_m > 0.0 { settings.edge_m.max(coarsest) } else { coarsest };
        if self.check().is_err() || !(edge > 0.0 && edge.is_finite()) {
            return Remeshed { mesh: self.clone(), edge_m: edge, source: (0..self.triangles.len() as u32).collect() };
        }
        let mut web = Web::new(self);
        web.mark_features(settings.feature_degrees);
        let input = Input {
            surface: NearestTree::new(self.clone()),
            creases: NearestTree::new(web.crease_lines()),
            normals: (0..self.triangles.len()).map(|t| self.area_normal(t).normalize_or_zero()).collect(),
        };
        if web.count as f64 > expected(edge) {
            web.collapse_short(edge);
        }
        for _ in 0..settings.rounds {
            web.round(&input, edge, max_vertices);
        }
        for attempt in 0..ATTEMPTS {
            if web.count <= max_vertices {
                break;
            }
            edge *= 1.05 * (web.count as f64 / max_vertices as f64).sqrt();
            if attempt > 0 {
                // Creases all over, as noise makes them, are no features.
                web.mark_features(180.0);
            }
            web.collapse_short(edge);
            web.round(&input, edge, max_vertices);
        }
        web.flip(FlipFor::Quality);
        web.smooth(&input, edge);
        web.flip(FlipFor::Quality);
        let mesh = web.into_mesh();
        let source = (0..mesh.triangles.len())
            .map(|t| input.source(mesh.corners(t).into_iter().sum::<crate::Vec3>() / 3.0, mesh.area_normal(t)))
            .collect();
        Remeshed { mesh, edge_m: edge, source }
    }
}

impl Web {
    fn round(&mut self, input: &Input, edge: f64, max_vertices: usize) {
        // Splitting overshoots where triangles are long and narrow; collapsing takes it back.
        self.split_long(edge, 3 * max_vertices);
        self.collapse_short(edge);
        self.flip(FlipFor::Valence);
        self.smooth(input, edge);
        self.smooth(input, edge);
    }
}

#[cfg(test)]
mod tests;
