//! A model at once: the closed form that comes nearest to a shape.
//!
//! A solid sounds as a free bar of the size of its box, a wall as a plate whose edges are held but free to turn. Sites lie on that bar or plate, turned and moved to where the shape is; so the pitch is of the
//! right order, high places differ from low ones, and it can be struck at once.

use super::ModelRequest;
use eigentone_core::{Material, ModalModel, ShapeTable, Surface, TriMesh, Vec3};
use eigentone_modal::analytic::{AnalyticSettings, BarSupport, PlateSupport, Shape, model};

/// Modes of a provisional model at most.
const MAX_MODES: usize = 48;

/// Walls thinner than this share of a shape's size sound as plates.
const THIN: f64 = 0.1;

/// The nearest closed form; `None` if it has no mode that can be heard.
pub fn closed_form(request: &ModelRequest) -> Option<ModalModel> {
    let [low, high] = request.mesh.bounds()?;
    let size = (high - low).max(Vec3::splat(1e-6));
    // Longest, middle, shortest.
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
    let [length, width, height] = axes.map(|axis| size[axis]);
    let wall_m = request.thickness_m.or_else(|| wall_of(&request.mesh)).filter(|t| *t < THIN * length);
    let shape = match wall_m {
        Some(thickness) => {
            Shape::Plate { length, width: width.max(0.05 * length), thickness, support: PlateSupport::SimplySupported }
        }
        None => Shape::Bar {
            length,
            width: width.max(0.05 * length),
            thickness: height.max(0.02 * length),
            support: BarSupport::Free,
            tuning: None,
        },
    };
    let settings = AnalyticSettings {
        name: request.name.clone(),
        damping: request.settings().damping,
        max_modes: MAX_MODES,
        ..AnalyticSettings::default()
    };
    let found = model(&shape, &request.material, &settings).ok();
    let found =
        found.filter(|m| !m.modes.is_empty()).or_else(|| knock(&request.name, &request.material, &settings, length));
    Some(turned(found?, axes, 0.5 * (low + high)))
}

/// What is too thick or too small for theory still knocks: a bar of the same length that is as thick as theory allows.
fn knock(name: &str, material: &Material, settings: &AnalyticSettings, length: f64) -> Option<ModalModel> {
    let slim =
        Shape::Bar { length, width: 0.2 * length, thickness: 0.1 * length, support: BarSupport::Free, tuning: None };
    let settings = AnalyticSettings { name: name.to_owned(), ..settings.clone() };
    model(&slim, material, &settings).ok().filter(|m| !m.modes.is_empty())
}

/// Thickness of a surface that does not enclose anything, as it is guessed elsewhere too.
fn wall_of(mesh: &TriMesh) -> Option<f64> {
    let [low, high] = mesh.bounds()?;
    (!mesh.report().watertight).then(|| crate::shape::WALL * (high - low).max_element())
}

/// The same with its x, y and z along other axes, around another middle.
fn turned(model: ModalModel, axes: [usize; 3], middle: Vec3) -> ModalModel {
    let turn = |v: Vec3| {
        let mut out = Vec3::ZERO;
        (0..3).for_each(|k| out[axes[k]] = v[k]);
        out
    };
    let single = |p: [f32; 3]| Vec3::from_array(p.map(f64::from));
    let back = |v: Vec3| v.to_array().map(|x| x as f32);
    let surface = Surface {
        positions: model.surface.positions.iter().map(|p| back(turn(single(*p)) + middle)).collect(),
        normals: model.surface.normals.iter().map(|n| back(turn(single(*n)))).collect(),
        triangles: model.surface.triangles.clone(),
    };
    let shapes =
        ShapeTable::from_fn(model.shapes.sites(), model.modes.len(), |site, mode| turn(model.shapes.get(site, mode)));
    ModalModel { surface, shapes, ..model }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;
    use eigentone_core::mesh::primitives;
    use std::sync::Arc;

    /// Whatever the shape and the material, there is something to be struck at once, within its box, and its lowest mode is of the order of what the true model has.
    #[test]
    fn every_shape_sounds_at_once() {
        let table = MaterialTable::builtin();
        for mesh in [
            primitives::bowl(0.09, 24, 8),
            primitives::bar(0.2, 0.02, 0.01),
            primitives::cuboid(Vec3::new(0.1, 0.3, 0.05), [2; 3]),
            primitives::sphere(0.05, 24, 12),
            primitives::plate(0.3, 0.2, 10, 8),
            primitives::cylinder(0.02, 0.3, 16, 8, true),
        ] {
            for material in ["steel", "wood", "glass", "rubber"] {
                let material = Arc::new(table.get(material).unwrap().clone());
                let request = ModelRequest {
                    name: "x".to_owned(),
                    mesh: Arc::new(mesh.clone()),
                    material: material.clone(),
                    thickness_m: None,
                    settings: None,
                };
                let found = closed_form(&request).unwrap_or_else(|| panic!("{} of {mesh:?}", material.name));
                found.validate().unwrap();
                let [low, high] = mesh.bounds().unwrap();
                let slack = 0.1 * (high - low).max_element();
                for p in &found.surface.positions {
                    let p = Vec3::from_array(p.map(f64::from));
                    assert!(p.cmpge(low - slack).all() && p.cmple(high + slack).all(), "{p} beyond {low} {high}");
                }
            }
        }
    }
}
