//! The bodies of `tests/data/accuracy.json` and their tessellations.

use crate::revolved::{skin, wall};
use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable, Noise, TriMesh, Vec3};
use serde_json::Value;
use std::f64::consts::FRAC_PI_2;

/// A body with its reference.
pub struct Body {
    pub name: String,
    pub material: Material,
    /// The lowest elastic modes of the solid, in Hz, multiple ones as often as they occur.
    pub modes_hz: Vec<f64>,
    pub volume_m3: f64,
    shape: Value,
}

/// A body as a mesh, and the thickness if the mesh has none.
pub struct Tessellation {
    pub name: &'static str,
    pub mesh: TriMesh,
    pub thickness_m: Option<f64>,
}

/// How rings lie along a profile, from 0 to 1.
#[derive(Clone, Copy)]
enum Rings {
    /// So many segments.
    Even(usize),
    /// Each segment this much longer than the one before.
    Geometric(usize, f64),
    /// Moved by up to a third of a segment.
    Jittered(usize),
}

impl Rings {
    fn places(self) -> Vec<f64> {
        match self {
            Rings::Even(n) => (0..=n).map(|k| k as f64 / n as f64).collect(),
            Rings::Geometric(n, ratio) => {
                (0..=n).map(|k| (ratio.powi(k as i32) - 1.0) / (ratio.powi(n as i32) - 1.0)).collect()
            }
            Rings::Jittered(n) => {
                let mut noise = Noise::new(7);
                let moved = |k: usize| if k == 0 || k == n { 0.0 } else { noise.bipolar() / 3.0 };
                let by: Vec<f64> = (0..=n).map(moved).collect();
                by.iter().enumerate().map(|(k, by)| (k as f64 + by) / n as f64).collect()
            }
        }
    }
}

/// All bodies of the reference.
pub fn bodies() -> Vec<Body> {
    let all: Value = serde_json::from_str(include_str!("../data/accuracy.json")).unwrap();
    all["bodies"].as_array().unwrap().iter().map(Body::read).collect()
}

impl Body {
    fn read(value: &Value) -> Self {
        let material = &value["material"];
        let name = material["name"].as_str().unwrap();
        Self {
            name: value["name"].as_str().unwrap().to_owned(),
            material: Material {
                young_pa: number(material, "young_pa"),
                poisson: number(material, "poisson"),
                density_kg_m3: number(material, "density_kg_m3"),
                ..MaterialTable::builtin().get(name).unwrap().clone()
            },
            volume_m3: number(value, "volume_m3"),
            modes_hz: numbers(&value["modes_hz"]),
            shape: value["shape"].clone(),
        }
    }

    /// Meshes of this body that a modelling tool may export.
    pub fn tessellations(&self) -> Vec<Tessellation> {
        match self.name.as_str() {
            "tube" => vec![
                self.two_skins("two skins, 32×1", [Rings::Even(1); 2], [32, 32]),
                self.two_skins("two skins, 96×1 and 64×3", [Rings::Even(1), Rings::Even(3)], [96, 64]),
                self.two_skins("two skins, 48×5 jittered", [Rings::Jittered(5); 2], [48, 48]),
                self.middle("middle surface, 96×1", Rings::Even(1), 96),
                self.middle("middle surface, 32×4 uneven", Rings::Geometric(4, 1.8), 32),
            ],
            "hemisphere" => vec![
                self.two_skins("two skins, fan 64×8", [Rings::Even(8); 2], [64, 64]),
                self.two_skins("two skins, 96×24 and 64×20", [Rings::Even(24), Rings::Even(20)], [96, 64]),
                self.middle("middle surface, fan 96×8", Rings::Even(8), 96),
                self.middle("middle surface, 48×12 uneven", Rings::Geometric(12, 1.15), 48),
            ],
            "cup" => vec![
                self.two_skins("two skins, 64×1, fans", [Rings::Even(1); 2], [64, 64]),
                self.two_skins("two skins, 96×5 and 64×4 uneven", [Rings::Geometric(5, 1.5), Rings::Even(4)], [96, 64]),
            ],
            "pan" => vec![
                self.two_skins("two skins, 96×1, fans", [Rings::Even(1); 2], [96, 96]),
                self.two_skins("two skins, 128×3 and 96×2", [Rings::Jittered(3), Rings::Even(2)], [128, 96]),
            ],
            "bell" => vec![
                self.two_skins("two skins, fan 48×16", [Rings::Even(16); 2], [48, 48]),
                self.two_skins("two skins, 96×24 uneven", [Rings::Geometric(24, 0.95); 2], [96, 96]),
            ],
            "wine bowl" => vec![
                self.two_skins("two skins, fan 64×16", [Rings::Even(16); 2], [64, 64]),
                self.two_skins("two skins, 96×24 jittered", [Rings::Jittered(24); 2], [96, 96]),
            ],
            "box" => vec![
                self.nested("two skins, 12 triangles each", [1, 1, 1], [1, 1, 1]),
                self.nested("two skins, 5×3×2 and 4×4×1", [5, 3, 2], [4, 4, 1]),
            ],
            other => panic!("no tessellation for {other}"),
        }
    }

    fn two_skins(&self, name: &'static str, rings: [Rings; 2], around: [usize; 2]) -> Tessellation {
        let outer = self.profile(0.0, &rings[0].places());
        let inner = self.profile(1.0, &rings[1].places());
        Tessellation { name, mesh: wall(&outer, &inner, around[0], around[1]), thickness_m: None }
    }

    fn middle(&self, name: &'static str, rings: Rings, around: usize) -> Tessellation {
        let mesh = skin(&self.profile(0.5, &rings.places()), around);
        Tessellation { name, mesh, thickness_m: Some(number(&self.shape, "thickness_mm") * 1e-3) }
    }

    fn nested(&self, name: &'static str, outer: [usize; 3], inner: [usize; 3]) -> Tessellation {
        let size = Vec3::from_slice(&numbers(&self.shape["outer_mm"])) * 1e-3;
        let mut mesh = primitives::cuboid(size, outer);
        let mut inside = primitives::cuboid(size - Vec3::splat(2e-3 * number(&self.shape, "wall_mm")), inner);
        let centre = |m: &TriMesh| m.bounds().map(|[low, high]| 0.5 * (low + high)).unwrap();
        let by = centre(&mesh) - centre(&inside);
        inside.positions.iter_mut().for_each(|p| *p += by);
        inside.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        mesh.append(&inside);
        Tessellation { name, mesh, thickness_m: None }
    }

    /// The profile at a depth, 0 on the outer skin and 1 on the inner, with rings at these places.
    fn profile(&self, depth: f64, places: &[f64]) -> Vec<[f64; 2]> {
        let get = |key| number(&self.shape, key) * 1e-3;
        match self.shape["kind"].as_str().unwrap() {
            "tube" => {
                let radius = get("middle_radius_mm") + (0.5 - depth) * get("thickness_mm");
                places.iter().map(|s| [radius, s * get("length_mm")]).collect()
            }
            "hemisphere" => {
                let radius = get("middle_radius_mm") + (0.5 - depth) * get("thickness_mm");
                places
                    .iter()
                    .map(|s| (s * FRAC_PI_2).sin_cos())
                    .map(|(sin, cos)| [radius * sin, radius * cos])
                    .collect()
            }
            "vessel" => {
                let (radius, low) = (get("outer_radius_mm") - depth * get("wall_mm"), depth * get("base_mm"));
                let side = places.iter().map(|s| [radius, low + s * (get("height_mm") - low)]);
                std::iter::once([0.0, low]).chain(side).collect()
            }
            "bezier" => places.iter().map(|&s| self.bezier(depth, s)).collect(),
            other => panic!("{other} has no profile"),
        }
    }

    /// The wall lies between a Bézier curve and its offset along the normal by a thickness that is one as well.
    fn bezier(&self, depth: f64, s: f64) -> [f64; 2] {
        let outer: Vec<Vec<f64>> = self.shape["outer_mm"].as_array().unwrap().iter().map(numbers).collect();
        let [r, z] = [0, 1].map(|k| bernstein(&outer.iter().map(|p| p[k]).collect::<Vec<_>>(), s));
        let thickness = bernstein(&numbers(&self.shape["thickness_mm"]), s)[0];
        let across = number(&self.shape, "side") * depth * thickness / r[1].hypot(z[1]);
        [1e-3 * (r[0] + across * z[1]).max(0.0), 1e-3 * (z[0] - across * r[1])]
    }
}

/// Value and slope of a polynomial given by its Bernstein coefficients, by de Casteljau's rule.
fn bernstein(control: &[f64], s: f64) -> [f64; 2] {
    let mut c = control.to_vec();
    while c.len() > 2 {
        c = c.windows(2).map(|p| (1.0 - s) * p[0] + s * p[1]).collect();
    }
    match c[..] {
        [a, b] => [(1.0 - s) * a + s * b, (control.len() - 1) as f64 * (b - a)],
        _ => [c[0], 0.0],
    }
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}
