//! Where particles struck: energy per cell of each collider, all on one logarithmic scale.

use super::super::{
    axis::{Axis, Frame, Panel, colour_key},
    canvas::{Area, Canvas, Text},
    mesh::three_digits,
    style,
};
use eigentone_sim::particles::ImpactMap;

/// At most this many colliders are shown: those that took the most energy.
const MAX_MAPS: usize = 12;
const PER_LINE: usize = 6;
const LEFT: f32 = 84.0;
const ROOM: f32 = 1180.0;
const GAP: f32 = 28.0;
/// Side of a map if there is room.
const LARGEST: f32 = 260.0;
/// Above each line of maps, and below the last.
const HEAD: f32 = 34.0;
const FOOT: f32 = 52.0;
/// From the strongest cell to the weakest that has a colour of its own.
const RANGE: f64 = 1e4;

/// Energy on one collider.
struct HeatMap {
    collider: usize,
    energies_j: Vec<f64>,
    total_j: f64,
}

/// The colliders of an impact map.
pub(super) struct HeatMaps {
    maps: Vec<HeatMap>,
    /// How many there are, shown or not.
    colliders: usize,
    cells: [usize; 2],
    most_j: f64,
}

impl HeatMaps {
    /// `None` if the map has no colliders.
    pub fn new(map: &ImpactMap) -> Option<Self> {
        let energies = |collider: usize| {
            let totals = map.totals_j(collider);
            if !totals.is_empty() {
                return totals.to_vec();
            }
            map.cells(collider).iter().map(|cell| cell.map_or(0.0, |c| f64::from(c.energy_j))).collect()
        };
        let mut maps: Vec<HeatMap> = (0..)
            .map(|collider| HeatMap { collider, energies_j: energies(collider), total_j: 0.0 })
            .take_while(|m| !m.energies_j.is_empty())
            .map(|m| HeatMap { total_j: m.energies_j.iter().sum(), ..m })
            .collect();
        let colliders = maps.len();
        if colliders > MAX_MAPS {
            maps.sort_by(|a, b| b.total_j.total_cmp(&a.total_j));
            maps.truncate(MAX_MAPS);
            maps.sort_by_key(|m| m.collider);
        }
        let most_j = maps.iter().flat_map(|m| &m.energies_j).copied().fold(0.0, f64::max);
        (colliders > 0).then(|| Self { maps, colliders, cells: [map.width(), map.height()], most_j })
    }

    fn side(&self) -> f32 {
        let columns = self.maps.len().min(PER_LINE) as f32;
        ((ROOM - (columns - 1.0) * GAP) / columns).min(LARGEST).floor()
    }

    /// Pixels that all of it takes.
    pub fn height(&self) -> u32 {
        let lines = self.maps.len().div_ceil(PER_LINE) as f32;
        (HEAD + lines * (HEAD + self.side()) + FOOT) as u32
    }

    /// Draws them from `top` down.
    pub fn draw(&self, canvas: &mut Canvas, top: f32) {
        let muted = Text::new(style::TICK).colour(style::MUTED);
        let shown = match self.colliders {
            n if n > self.maps.len() => format!(" (the {} of {n} colliders that took the most)", self.maps.len()),
            _ => String::new(),
        };
        let caption =
            format!("where particles struck: energy in each cell of a collider's own coordinates u and v{shown}");
        canvas.text([LEFT, top + 12.0], &caption, muted);
        let side = self.side();
        let lines = self.maps.len().div_ceil(PER_LINE);
        for (k, map) in self.maps.iter().enumerate() {
            let (column, line) = (k % PER_LINE, k / PER_LINE);
            let x = LEFT + column as f32 * (side + GAP);
            let y = top + HEAD + HEAD * (line + 1) as f32 + side * line as f32;
            let last = k + PER_LINE >= self.maps.len();
            self.draw_map(canvas, map, Area::new(x, y, side, side), [column == 0, last]);
        }
        let (unit, name) = energy_unit(self.most_j);
        let most = if self.most_j > 0.0 { self.most_j / unit } else { 1.0 };
        let key = Axis::log(most / RANGE, most, &format!("energy in a cell ({name})"));
        let height = (lines as f32 * (side + HEAD) - HEAD).min(LARGEST + 60.0);
        colour_key(canvas, Area::new(1288.0, top + 2.0 * HEAD, 18.0, height), &key, |share| {
            style::level(colour(share))
        });
    }

    fn draw_map(&self, canvas: &mut Canvas, map: &HeatMap, area: Area, [labels_y, labels_x]: [bool; 2]) {
        let [columns, rows] = self.cells;
        let scale = Axis::log(self.most_j / RANGE, self.most_j, "");
        canvas.image(area, |x, y| {
            let (u, v) = (x * columns / area.w as usize, y * rows / area.h as usize);
            let energy = map.energies_j[(rows - 1 - v.min(rows - 1)) * columns + u.min(columns - 1)];
            if energy > 0.0 { style::level(colour(f64::from(scale.share(energy)))) } else { style::level(0.0) }
        });
        let panel = Panel { area, x: Axis::linear(0.0, 1.0, "u"), y: Axis::linear(0.0, 1.0, "v") };
        panel.border(canvas, Frame { labels_x, labels_y, grid: false, small: true });
        let (unit, name) = energy_unit(map.total_j);
        let energy = if map.total_j > 0.0 {
            format!("{} {name}", three_digits(map.total_j / unit))
        } else {
            "not struck".to_owned()
        };
        let text = format!("collider {}: {energy}", map.collider + 1);
        canvas.text_within([area.x, area.y - 12.0], area.w, &text, Text::new(style::TICK));
    }
}

/// Whatever was struck is brighter than what was not.
fn colour(share: f64) -> f64 {
    0.2 + 0.8 * share.clamp(0.0, 1.0)
}

/// A unit in which an energy is between 1 and 1000.
fn energy_unit(joules: f64) -> (f64, &'static str) {
    let units = [(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")];
    units.into_iter().find(|(unit, _)| joules >= *unit).unwrap_or(units[4])
}
