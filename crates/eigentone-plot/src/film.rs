//! Frames of an animation side by side.

use super::{
    Picture,
    canvas::{Area, Canvas, Text},
    style,
    view::{Lines, View},
};
use eigentone_core::{TriMesh, Vec3};
use eigentone_io::{Recorded, WriteError};

const COLUMNS: usize = 4;
const ROWS: usize = 3;
const CELL: [f32; 2] = [340.0, 260.0];
const TOP: f32 = 84.0;

/// Twelve frames from the first to the last, all from the same place and to the same scale, with their times. Only what moves is drawn.
///
/// # Errors
/// If the frames cannot be read back.
pub fn film_strip(recorded: &Recorded, title: &str) -> Result<Picture, WriteError> {
    let (width, height) = (CELL[0] * COLUMNS as f32 + 40.0, CELL[1] * ROWS as f32 + TOP + 20.0);
    let mut canvas = Canvas::new(width as u32, height as u32);
    canvas.text_within([20.0, 36.0], width - 40.0, title, Text::new(style::TITLE).medium());
    let facts = format!("{} frames, {} a second", recorded.frames, recorded.frames_per_s);
    canvas.text_within([20.0, 64.0], width - 40.0, &facts, Text::new(style::SUBTITLE).colour(style::MUTED));
    let shown = (COLUMNS * ROWS).min(recorded.frames);
    let frame_of = |k: usize| if shown < 2 { 0 } else { k * (recorded.frames - 1) / (shown - 1) };
    let frames: Vec<TriMesh> = (0..shown).map(|k| seen(recorded, frame_of(k))).collect::<Result<_, _>>()?;
    let mut all = TriMesh::default();
    frames.iter().for_each(|frame| all.append(frame));
    for (k, frame) in frames.iter().enumerate() {
        let (column, row) = ((k % COLUMNS) as f32, (k / COLUMNS) as f32);
        let area = Area::new(20.0 + column * CELL[0] + 4.0, TOP + row * CELL[1] + 4.0, CELL[0] - 8.0, CELL[1] - 8.0);
        canvas.rect(area, style::PANEL);
        if let Some((view, _)) = View::new(&all, area, 24.0, false) {
            view.draw(&mut canvas, frame, area, Lines::Marked);
        }
        let time = format!("{:.3} s", frame_of(k) as f64 / recorded.frames_per_s);
        canvas.text([area.x + 10.0, area.y + 20.0], &time, Text::new(style::TICK).colour(style::MUTED));
    }
    Ok(canvas.finish())
}

/// All moving bodies in one frame.
fn seen(recorded: &Recorded, frame: usize) -> Result<TriMesh, WriteError> {
    let mut mesh = TriMesh::default();
    for body in &recorded.bodies {
        let positions = recorded.read_frame(body.mesh, frame)?;
        let positions = positions.iter().map(|p| Vec3::from_array(p.map(f64::from))).collect();
        mesh.append(&TriMesh { positions, triangles: recorded.triangles(body.mesh).to_vec() });
    }
    Ok(mesh)
}
