//! The rooms of a scene before a bake: walls as the simulation sees them, floors, regions and probes, from above.

#[cfg(test)]
mod tests;

use super::{
    Picture,
    canvas::{Align, Area, Canvas, Colour, Text},
    map::{Ground, Map, legend_swatch, spot},
    mesh::{facts_line, number, three_digits},
    style,
};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bits, Bounds};
use eigentone_scene::bake::Prepared;
use eigentone_wave::probe::Region;
use eigentone_wave::voxel::{DIRECTIONS, Voxels};
use std::collections::BTreeMap;

const WIDTH: f32 = 1400.0;
const TOP: f32 = 108.0;
const MAP: Area = Area::new(92.0, TOP, 900.0, 700.0);
/// Room to the right of the map for the legend.
const LEGEND: f32 = 330.0;
/// A legend this low at least.
const LEAST_HEIGHT: f32 = 320.0;
const LINE: f32 = 25.0;
/// Floors are paler than walls.
const FLOOR: u8 = 72;

/// Plan of a scene's rooms: the cells that are wall at the height of most probes, in the colours of their materials, and paler the floors below. Regions are outlined.
pub fn plan_picture(prepared: &Prepared) -> Picture {
    let plan = Plan::new(prepared);
    let map = Map::new(MAP, &plan.ground());
    let area = map.panel.area;
    let legend = area.right() + 40.0;
    let width = (legend + LEGEND + 30.0).clamp(900.0, WIDTH);
    let mut canvas = Canvas::new(width as u32, (TOP + area.h.max(LEAST_HEIGHT) + 76.0) as u32);
    plan.header(&mut canvas, width - 80.0);
    map.fill(&mut canvas, |at| plan.colour(&map, at));
    plan.draw_regions(&mut canvas, &map);
    plan.draw_probes(&mut canvas, &map);
    map.border(&mut canvas, false);
    plan.legend(&mut canvas, [legend, TOP], LEGEND.min(width - legend - 20.0), area.h.max(LEAST_HEIGHT));
    canvas.finish()
}

struct Plan<'a> {
    prepared: &'a Prepared,
    /// Height of the slice in m, and its layer of cells.
    z_m: f64,
    layer: i64,
    /// Air that sound reaches from any probe.
    air: Bits,
    /// Of each material.
    colours: Vec<Colour>,
}

impl<'a> Plan<'a> {
    fn new(prepared: &'a Prepared) -> Self {
        let voxels = &prepared.acoustics.voxels;
        let mut layers: BTreeMap<i64, (usize, f64)> = BTreeMap::new();
        for probe in &prepared.probes {
            layers.entry(voxels.lattice.cube(*probe)[2]).or_insert((0, probe.z)).0 += 1;
        }
        // The lowest of those with the most.
        let (layer, z_m) = layers
            .iter()
            .rev()
            .max_by_key(|(_, (count, _))| *count)
            .map_or((0, voxels.lattice.centre([0; 3]).z), |(layer, (_, z_m))| (*layer, *z_m));
        let cells: Vec<[i64; 3]> = prepared.probes.iter().map(|p| voxels.lattice.cube(*p)).collect();
        let air = voxels.reachable_from(&cells);
        let mut walls: Vec<Option<&str>> = prepared.materials.iter().map(|m| m.wall.as_deref()).collect();
        walls.extend(prepared.acoustics.settings.ground.map(|_| Some("soil")));
        Self { prepared, z_m, layer, air, colours: colours(&walls) }
    }

    fn voxels(&self) -> &Voxels {
        &self.prepared.acoustics.voxels
    }

    fn ink(&self, material: u16) -> Colour {
        self.colours.get(usize::from(material)).copied().unwrap_or(style::WALL)
    }

    fn ground(&self) -> Ground {
        let corners = |b: Bounds| [b.min, b.max];
        let mesh = Bounds::of(self.prepared.mesh.mesh.positions.iter().copied());
        let things = mesh.into_iter().flat_map(corners).chain(self.prepared.probes.iter().copied());
        let room_m = 3.0 * self.voxels().lattice.step_m;
        Ground::around(things.map(|p| p.truncate().to_array()), room_m)
            .unwrap_or(Ground { low: [-1.0; 2], high: [1.0; 2] })
    }

    fn header(&self, canvas: &mut Canvas, room: f32) {
        let name = if self.prepared.name.is_empty() { "rooms" } else { &self.prepared.name };
        canvas.text_within([40.0, 40.0], room, name, Text::new(style::TITLE).medium());
        let estimate = &self.prepared.estimate;
        let facts = facts_line(&[
            format!("{} probes", number(estimate.probes)),
            format!("{} Hz in cells of {} m", self.prepared.acoustics.settings.f_max_hz, three_digits(estimate.cell_m)),
            format!("up to {} cells around a probe", number(estimate.cells_per_probe)),
            format!("slice at z = {:.2} m", self.z_m).replace('-', "−"),
        ]);
        canvas.text_within([40.0, 74.0], room, &facts, Text::new(style::SUBTITLE).colour(style::MUTED));
    }

    /// What is at a place: a wall, a floor, or nothing.
    fn colour(&self, map: &Map, at: [f64; 2]) -> Option<Colour> {
        let voxels = self.voxels();
        let mut cells = map.cells(&voxels.lattice, at);
        if let Some([x, y]) = cells.find(|&[x, y]| voxels.is_solid([x, y, self.layer])) {
            return Some(self.wall([x, y, self.layer], at).map_or(style::WALL, |m| self.ink(m)));
        }
        let [x, y, _] = voxels.lattice.cube(Vec3::new(at[0], at[1], self.z_m));
        let here = voxels.lattice.index([x, y, self.layer])?;
        if !self.air.get(here) {
            return None;
        }
        let floor = (0..self.layer).rev().find(|&z| voxels.is_solid([x, y, z]))?;
        voxels.material([x, y, floor], 5).map(|m| style::faded(self.ink(m), FLOOR))
    }

    /// The material of a wall on its side that is nearest to a place and has air before it: the two faces of a wall may differ.
    fn wall(&self, cell: [i64; 3], at: [f64; 2]) -> Option<u16> {
        let voxels = self.voxels();
        let middle = voxels.lattice.centre(cell);
        let towards = |side: usize| {
            let [dx, dy, _] = DIRECTIONS[side].map(|d| d as f64);
            dx * (at[0] - middle.x) + dy * (at[1] - middle.y)
        };
        let beside = |side: usize| std::array::from_fn(|axis| cell[axis] + DIRECTIONS[side][axis]);
        let open = |side: &usize| voxels.lattice.index(beside(*side)).is_some_and(|i| self.air.get(i));
        let nearest = |sides: &mut dyn Iterator<Item = usize>| sides.max_by(|a, b| towards(*a).total_cmp(&towards(*b)));
        let side = nearest(&mut (0..4).filter(open)).or_else(|| nearest(&mut (0..4)))?;
        voxels.material(cell, side)
    }

    fn draw_regions(&self, canvas: &mut Canvas, map: &Map) {
        let area = map.panel.area;
        for bounds in self.prepared.regions.iter().filter_map(Region::bounds) {
            let place = |p: Vec3| {
                let [x, y] = map.panel.at(p.x, p.y);
                [x.clamp(area.x + 2.0, area.right() - 2.0), y.clamp(area.y + 2.0, area.bottom() - 2.0)]
            };
            let ([x0, y0], [x1, y1]) = (place(bounds.min), place(bounds.max));
            canvas.frame(Area::new(x0, y1, x1 - x0, y0 - y1), 1.6, style::RED);
        }
    }

    fn draw_probes(&self, canvas: &mut Canvas, map: &Map) {
        let radius = if self.prepared.probes.len() > 1000 { 1.5 } else { 3.0 };
        let lattice = &self.voxels().lattice;
        // Those of this height last, so that they are on top.
        for here in [false, true] {
            for probe in self.prepared.probes.iter().filter(|p| (lattice.cube(**p)[2] == self.layer) == here) {
                let ink = if here { style::BLUE } else { style::PAPER };
                map.dot(canvas, probe.truncate().to_array(), radius, ink);
            }
        }
    }

    fn legend(&self, canvas: &mut Canvas, [x, top]: [f32; 2], width: f32, height: f32) {
        let text = Text::new(style::TICK);
        let right = x + width;
        let heading = Text::new(style::TICK).colour(style::MUTED);
        canvas.text([x, top + 8.0], "material", heading);
        canvas.text([right, top + 8.0], "absorbs", heading.align(Align::Right));
        let rows = self.materials();
        let most = ((height - 5.0 * LINE) / LINE).max(3.0) as usize;
        let shown = if rows.len() > most { most - 1 } else { rows.len() };
        let mut y = top + 8.0 + LINE;
        for (k, (name, absorption)) in rows.iter().take(shown).enumerate() {
            legend_swatch(canvas, [x, y], self.ink(k as u16));
            canvas.text_within([x + 24.0, y], width - 80.0, name, text);
            canvas.text([right, y], &format!("{absorption:.2}"), text.medium().align(Align::Right));
            y += LINE;
        }
        if shown < rows.len() {
            canvas.text([x + 24.0, y], &format!("… and {} more", rows.len() - shown), heading);
            y += LINE;
        }
        canvas.text(
            [x, y],
            "strong: walls at this height; pale: the floor below",
            Text::new(style::SMALL).colour(style::MUTED),
        );
        y += 1.4 * LINE;
        let lattice = &self.voxels().lattice;
        let here = self.prepared.probes.iter().filter(|p| lattice.cube(**p)[2] == self.layer).count();
        let others = self.prepared.probes.len() - here;
        spot(canvas, [x + 7.0, y], 3.0, style::BLUE);
        canvas.text_within([x + 24.0, y], width - 24.0, &format!("{} probes at this height", number(here)), text);
        if others > 0 {
            y += LINE;
            spot(canvas, [x + 7.0, y], 3.0, style::PAPER);
            canvas.text_within([x + 24.0, y], width - 24.0, &format!("{} probes at others", number(others)), text);
        }
        if !self.prepared.regions.is_empty() {
            y += LINE;
            canvas.line([x, y], [x + 14.0, y], 2.0, style::RED);
            canvas.text_within([x + 24.0, y], width - 24.0, "where listeners may be", text);
        }
    }

    /// Names of materials in the order of their colours, and what they absorb.
    fn materials(&self) -> Vec<(String, f64)> {
        let named = self.prepared.materials.iter().map(|m| match &m.wall {
            Some(wall) if *wall != m.name => (format!("{} ({wall})", m.name), m.absorption),
            _ => (m.name.clone(), m.absorption),
        });
        // The ground is the material after the last of the mesh.
        let ground = self.prepared.acoustics.settings.ground.map(|g| ("ground".to_owned(), g.absorption));
        named.chain(ground).collect()
    }
}

/// A colour for each material: one that looks like it, unless another before it has that.
fn colours(walls: &[Option<&str>]) -> Vec<Colour> {
    let mut kinds: Vec<Option<usize>> = Vec::new();
    for wall in walls {
        kinds.push(wall.and_then(usual).filter(|kind| !kinds.contains(&Some(*kind))));
    }
    let mut others: Vec<usize> = (0..style::KINDS_COUNT).filter(|kind| !kinds.contains(&Some(*kind))).collect();
    others.reverse();
    let each = kinds.iter().enumerate();
    each.map(|(k, kind)| style::kind(kind.or_else(|| others.pop()).unwrap_or(k))).collect()
}

/// The kind of colour that a wall material usually has.
fn usual(wall: &str) -> Option<usize> {
    Some(match wall {
        "wood" | "plywood" | "books" | "soil" => 0,
        "glass" | "window" | "water" | "steel" => 1,
        "brick" => 2,
        "grass" | "foliage" => 3,
        "curtains" | "upholstery" | "fabric" => 4,
        "carpet" | "sand" => 5,
        "tile" | "marble" | "linoleum" => 6,
        "concrete" | "concrete block" | "stone" | "asphalt" | "gravel" => 8,
        "drywall" | "plaster" => 11,
        _ => return None,
    })
}
