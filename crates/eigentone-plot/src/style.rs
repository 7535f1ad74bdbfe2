//! Colours and sizes that all pictures share.

use super::canvas::Colour;

pub(super) const PAPER: Colour = [255, 255, 255, 255];
pub(super) const PANEL: Colour = [249, 250, 251, 255];
pub(super) const INK: Colour = [31, 36, 43, 255];
pub(super) const MUTED: Colour = [94, 103, 115, 255];
pub(super) const AXIS: Colour = [140, 149, 160, 255];
pub(super) const GRID: Colour = [222, 226, 231, 255];
pub(super) const FAINT_GRID: Colour = [238, 240, 243, 255];
/// Data without a scale of its own.
pub(super) const BLUE: Colour = [41, 98, 168, 255];
/// The second of two curves, and boundary edges.
pub(super) const ORANGE: Colour = [222, 106, 24, 255];
/// Faults.
pub(super) const RED: Colour = [205, 24, 78, 255];

/// Walls on maps.
pub(super) const WALL: Colour = [72, 76, 82, 255];
/// Neither more nor less.
const NEUTRAL: Colour = [221, 221, 216, 255];
/// How many kinds of things have a colour of their own.
pub(super) const KINDS_COUNT: usize = 12;
/// Things of different kinds, in the order in which they come: those that are easily told apart first.
const KINDS: [[u8; 3]; KINDS_COUNT] = [
    [150, 111, 72],
    [66, 133, 180],
    [201, 92, 63],
    [104, 159, 86],
    [132, 104, 171],
    [214, 164, 64],
    [72, 160, 152],
    [196, 110, 152],
    [98, 112, 128],
    [148, 152, 62],
    [92, 84, 150],
    [176, 148, 124],
];

/// Sizes of text in pixels.
pub(super) const TITLE: f32 = 25.0;
pub(super) const SUBTITLE: f32 = 15.0;
pub(super) const TICK: f32 = 13.0;
pub(super) const SMALL: f32 = 11.0;

/// Seventeen samples of viridis and magma (van der Walt & Smith 2015, released as CC0), which are even to the eye.
const VIRIDIS: [[u8; 3]; 17] = [
    [68, 1, 84],
    [72, 24, 106],
    [71, 45, 123],
    [66, 64, 134],
    [59, 82, 139],
    [51, 99, 141],
    [44, 114, 142],
    [38, 130, 142],
    [33, 145, 140],
    [31, 160, 136],
    [40, 174, 128],
    [63, 188, 115],
    [94, 201, 98],
    [132, 212, 75],
    [173, 220, 48],
    [216, 226, 25],
    [253, 231, 37],
];
const MAGMA: [[u8; 3]; 17] = [
    [0, 0, 4],
    [10, 8, 34],
    [29, 17, 71],
    [54, 16, 107],
    [81, 18, 124],
    [106, 28, 129],
    [131, 38, 129],
    [156, 46, 127],
    [183, 55, 121],
    [208, 65, 111],
    [231, 82, 99],
    [245, 107, 92],
    [252, 137, 97],
    [254, 167, 114],
    [254, 196, 136],
    [253, 226, 163],
    [252, 253, 191],
];

/// Colour of a decay time between the shortest (0) and the longest (1): viridis without its yellow end, which is lost on
/// white paper.
pub(super) fn decay(share: f64) -> Colour {
    sample(&VIRIDIS, 0.84 * share.clamp(0.0, 1.0))
}

/// Colour of a level between the floor (0) and the loudest (1).
pub(super) fn level(share: f64) -> Colour {
    sample(&MAGMA, share)
}

/// Colour of a number between the lowest (0) and the highest (1) on a map with geometry: magma without its black end, which looks like a wall.
pub(super) fn map_level(share: f64) -> Colour {
    sample(&MAGMA, 0.16 + 0.84 * share.clamp(0.0, 1.0))
}

/// Colour of a number between −1 and 1: blue below zero, grey at zero, orange above.
pub(super) fn signed(value: f64) -> Colour {
    let end = if value < 0.0 { BLUE } else { ORANGE };
    let much = value.abs().min(1.0);
    let mix = |c: usize| (f64::from(NEUTRAL[c]) * (1.0 - much) + f64::from(end[c]) * much).round() as u8;
    [mix(0), mix(1), mix(2), 255]
}

fn sample(map: &[[u8; 3]; 17], share: f64) -> Colour {
    let at = if share.is_nan() { 0.0 } else { 16.0 * share.clamp(0.0, 1.0) };
    let k = (at as usize).min(15);
    let between = at - k as f64;
    let mix = |c: usize| (f64::from(map[k][c]) * (1.0 - between) + f64::from(map[k + 1][c]) * between).round() as u8;
    [mix(0), mix(1), mix(2), 255]
}

/// Colour of the `k`th kind of things. After twelve they come again.
pub(super) const fn kind(k: usize) -> Colour {
    let [r, g, b] = KINDS[k % KINDS.len()];
    [r, g, b, 255]
}

/// The same colour with another opacity.
pub(super) const fn faded([r, g, b, _]: Colour, opacity: u8) -> Colour {
    [r, g, b, opacity]
}
