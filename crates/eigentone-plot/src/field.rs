//! An acoustic field: what arrives from one probe at its own height, one map for each parameter, as in figures 1 and 9 of the wave-field paper.

#[cfg(test)]
mod tests;

use super::{
    Picture,
    axis::{Axis, colour_key},
    canvas::{Area, Canvas, Colour, Text},
    map::{Ground, Map, legend_swatch, legend_text, metres, spot},
    mesh::{facts_line, number, three_digits},
    model::empty,
    style,
};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bits, Field, Occupancy, Parameter, ProbeField};

const WIDTH: u32 = 1500;
const LEFT: f32 = 40.0;
const TOP: f32 = 104.0;
/// Room around a map in its part of the picture: axis, key to the colours, title, axis.
const SIDES: [f32; 2] = [50.0, 96.0];
const HEAD: f32 = 30.0;
const FOOT: f32 = 58.0;
/// The key to the colours is at least so high, however flat the map.
const LEAST_HEIGHT: f32 = 120.0;
const MAX_HEIGHT: f32 = 460.0;
/// Maps so much wider than high stand two to a line instead of three.
const WIDE: f64 = 2.0;
/// Cells that are looked at one by one.
const MAX_CELLS: usize = 1 << 27;

/// Maps of the five parameters around a probe, at its height: each sample is a square as large as its cube, those without a value are empty, walls are dark grey.
///
/// A number beyond the last probe gives a picture that says so.
pub fn field_picture(field: &Field, probe: usize) -> Picture {
    let Some(place) = field.probes().nth(probe).copied() else {
        let mut canvas = Canvas::new(WIDTH, 240);
        title(&mut canvas, field);
        empty(&mut canvas, Area::new(LEFT, TOP, WIDTH as f32 - 80.0, 100.0), &format!("there is no probe {probe}"));
        return canvas.finish();
    };
    let slice = Slice::new(field, field.probe(probe));
    let ground = slice.ground();
    let columns = if ground.aspect() > WIDE { 2 } else { 3 };
    let part = (WIDTH as f32 - 2.0 * LEFT) / columns as f32;
    let room = Area::new(0.0, 0.0, part - SIDES[0] - SIDES[1], MAX_HEIGHT);
    let height = Map::new(room, &ground).panel.area.h.max(LEAST_HEIGHT);
    let line = HEAD + height + FOOT;
    let mut canvas = Canvas::new(WIDTH, (TOP + line * 6usize.div_ceil(columns) as f32) as u32);
    title(&mut canvas, field);
    let muted = Text::new(style::SUBTITLE).colour(style::MUTED);
    canvas.text_within([LEFT, 74.0], WIDTH as f32 - 80.0, &facts(field, probe, place.position), muted);
    let corner = |k: usize| [LEFT + part * (k % columns) as f32, TOP + line * (k / columns) as f32];
    for (k, parameter) in Parameter::ALL.into_iter().enumerate() {
        let [x, y] = corner(k);
        let map = Map::new(Area::new(x + SIDES[0], y + HEAD, room.w, room.h), &ground);
        slice.draw(&mut canvas, &map, parameter, height);
        let right = x + part - 14.0;
        slice.caption(&mut canvas, [map.panel.area.x, y + 16.0], right, parameter);
    }
    let [x, y] = corner(5);
    slice.legend(&mut canvas, [x + SIDES[0], y + HEAD], part - SIDES[0], probe);
    canvas.finish()
}

fn title(canvas: &mut Canvas, field: &Field) {
    let name = &field.info().name;
    let name = if name.is_empty() { "an acoustic field" } else { name };
    canvas.text_within([LEFT, 40.0], WIDTH as f32 - 80.0, name, Text::new(style::TITLE).medium());
}

fn facts(field: &Field, probe: usize, position: Vec3) -> String {
    let samples: usize = (0..field.probes().len()).map(|i| field.valid(i).count()).sum();
    facts_line(&[
        format!("probe {probe} of 0 to {}, at {}", field.probes().len() - 1, metres(&position.to_array())),
        format!("simulated to {:.0} Hz", field.info().f_max_hz),
        format!("cubes of {} m", three_digits(field.lattice().step_m)),
        format!("{} kB for {} samples of all probes", three_digits(field.stored_bytes() as f64 / 1e3), number(samples)),
    ])
}

/// What a parameter is called, what its numbers are relative to, and their unit.
fn words(parameter: Parameter) -> [&'static str; 3] {
    match parameter {
        Parameter::Direct => ["direct sound", "relative to the free field", "dB"],
        Parameter::Early => ["early reflections", "relative to the direct sound at 1 m", "dB"],
        Parameter::EarlyDecay => ["early decay", "reverberation time", "s"],
        Parameter::LateDecay => ["late decay", "reverberation time", "s"],
        Parameter::Tilt => ["tilt of the direct sound", "relative to the free field", "dB per octave"],
    }
}

/// One layer of a probe's cubes.
struct Slice<'a> {
    field: &'a Field,
    probe: ProbeField,
    /// The layer of cubes, and that of cells, around the probe.
    layers: [i64; 2],
    /// Cells that sound reaches; `None` if that cannot be told.
    air: Option<Bits>,
}

impl<'a> Slice<'a> {
    fn new(field: &'a Field, probe: ProbeField) -> Self {
        let layers = [field.lattice(), &field.occupancy().lattice].map(|lattice| lattice.cube(probe.position)[2]);
        let air = reached(field.occupancy(), probe.position);
        Self { field, probe, layers, air }
    }

    fn value(&self, [x, y]: [i64; 2], parameter: Parameter) -> Option<f64> {
        let steps = self.probe.steps([x, y, self.layers[0]])?;
        Some(parameter.from_steps(steps[parameter as usize]))
    }

    /// Cubes of the layer with values.
    fn cubes(&self) -> impl Iterator<Item = [i64; 2]> + '_ {
        let (first, size) = (self.probe.first.map(i64::from), self.probe.size.map(i64::from));
        let all = (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [first[0] + x, first[1] + y]));
        all.filter(|&[x, y]| self.probe.index([x, y, self.layers[0]]).is_some_and(|at| self.probe.valid.get(at)))
    }

    /// What the maps show: all samples, all probes, and the walls just beyond.
    fn ground(&self) -> Ground {
        let lattice = self.field.lattice();
        let middle = |[x, y]: [i64; 2]| lattice.centre([x, y, self.layers[0]]).truncate().to_array();
        let probes = self.field.probes().map(|p| p.position.truncate().to_array());
        let cell_m = self.field.occupancy().lattice.step_m;
        let room_m = 0.5 * lattice.step_m + 2.0 * cell_m;
        Ground::around(self.cubes().map(middle).chain(probes), room_m)
            .unwrap_or(Ground { low: [-1.0; 2], high: [1.0; 2] })
    }

    /// From the lowest to the highest value, and not so close together that steps of rounding fill the scale.
    fn axis(&self, parameter: Parameter) -> Axis {
        let unit = words(parameter)[2];
        let values = self.cubes().filter_map(|cube| self.value(cube, parameter));
        let [low, high] = values.fold([f64::MAX, f64::MIN], |[l, h], v| [l.min(v), h.max(v)]);
        if low > high {
            return Axis::linear(0.0, 1.0, unit);
        }
        match parameter {
            Parameter::EarlyDecay | Parameter::LateDecay => {
                let more = (2.0 / (high / low)).sqrt().max(1.0);
                Axis::log(low / more, high * more, unit)
            }
            Parameter::Tilt => {
                // Zero is in the middle: it is the free field.
                let most = low.abs().max(high.abs()).max(3.0);
                Axis::linear(-most, most, unit)
            }
            Parameter::Direct | Parameter::Early => {
                let more = (5.0 - 0.5 * (high - low)).max(0.0);
                Axis::linear(low - more, high + more, unit)
            }
        }
    }

    fn draw(&self, canvas: &mut Canvas, map: &Map, parameter: Parameter, height: f32) {
        let axis = self.axis(parameter);
        let (cubes, occupancy) = (self.field.lattice(), self.field.occupancy());
        map.fill(canvas, |at| {
            if map.cells(&occupancy.lattice, at).any(|[x, y]| occupancy.is_solid([x, y, self.layers[1]])) {
                return Some(style::WALL);
            }
            // A cube may reach through a wall: what is known of it holds on this side.
            let place = Vec3::new(at[0], at[1], self.probe.position.z);
            let cell = occupancy.lattice.index(occupancy.lattice.cube(place));
            if let (Some(air), Some(cell)) = (&self.air, cell)
                && !air.get(cell)
            {
                return None;
            }
            let [x, y, _] = cubes.cube(place);
            self.value([x, y], parameter).map(|value| colour(parameter, f64::from(axis.share(value))))
        });
        let small = if self.field.probes().len() > 400 { 1.0 } else { 1.7 };
        for probe in self.field.probes() {
            map.dot(canvas, probe.position.truncate().to_array(), small, style::PAPER);
        }
        map.dot(canvas, self.probe.position.truncate().to_array(), 5.0, style::BLUE);
        map.border(canvas, true);
        let area = map.panel.area;
        let bar = Area::new(area.right() + 14.0, area.y, 14.0, height.min(area.h.max(LEAST_HEIGHT)));
        colour_key(canvas, bar, &axis, |share| colour(parameter, share));
    }

    fn caption(&self, canvas: &mut Canvas, at: [f32; 2], right: f32, parameter: Parameter) {
        let [name, relative, _] = words(parameter);
        let width = canvas.text(at, name, Text::new(style::SUBTITLE).medium());
        let (x, muted) = (at[0] + width + 9.0, Text::new(style::TICK).colour(style::MUTED));
        canvas.text_within([x, at[1] + 1.0], right - x, relative, muted);
    }

    fn legend(&self, canvas: &mut Canvas, [x, y]: [f32; 2], width: f32, probe: usize) {
        let row = |k: usize| y + 12.0 + 25.0 * k as f32;
        spot(canvas, [x + 7.0, row(0)], 5.0, style::BLUE);
        spot(canvas, [x + 7.0, row(1)], 1.7, style::PAPER);
        legend_swatch(canvas, [x, row(2)], style::WALL);
        legend_swatch(canvas, [x, row(3)], style::PANEL);
        legend_swatch(canvas, [x, row(4)], style::decay(0.6));
        let height = format!("z = {:.2} m", self.probe.position.z).replace('-', "−");
        let samples = match self.cubes().count() {
            1 => "1 square".to_owned(),
            n => format!("{} squares", number(n)),
        };
        let lines = [
            format!("probe {probe}, where the sound begins"),
            format!("all {} probes, at whatever height", number(self.field.probes().len())),
            format!("walls and other solids at {height}"),
            "nothing known: no air, or no sound arrives".to_owned(),
            format!("{samples}: what arrives there, at {height}"),
        ];
        for (k, line) in lines.iter().enumerate() {
            canvas.text_within([x + 24.0, row(k)], width - 24.0, line, legend_text());
        }
    }
}

/// Colour of a share of a parameter's axis.
fn colour(parameter: Parameter, share: f64) -> Colour {
    match parameter {
        Parameter::Direct | Parameter::Early => style::map_level(share),
        Parameter::EarlyDecay | Parameter::LateDecay => style::decay(share),
        Parameter::Tilt => style::signed(2.0 * share - 1.0),
    }
}

/// Cells that are connected with that of a point; `None` if it is in a wall or outside, or there are too many to look at each.
fn reached(occupancy: &Occupancy, from: Vec3) -> Option<Bits> {
    let lattice = &occupancy.lattice;
    lattice.index(lattice.cube(from)).filter(|&at| !occupancy.solid.get(at) && lattice.len() <= MAX_CELLS)?;
    Some(occupancy.connected([from]))
}
