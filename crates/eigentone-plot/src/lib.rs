//! Pictures of models, meshes, sounds, scenes, rooms and acoustic fields, as PNG.
//!
//! Everything is drawn here: no system font or library is needed. Colours, sizes and axes are shared, so that pictures can
//! be laid side by side.
//!
//! ```
//! use eigentone_plot as plot;
//!
//! let second: Vec<f32> = (0..44_100).map(|k| (0.1 * k as f32).sin()).collect();
//! let picture = plot::spectrogram_picture(&second, 44_100.0, "a sine");
//! assert_eq!(&picture.png_bytes()[1..4], b"PNG");
//! ```

#![forbid(unsafe_code)]

mod axis;
mod canvas;
mod curves;
mod field;
mod film;
mod map;
mod mesh;
mod model;
mod overview;
mod plan;
mod response;
mod scene;
mod sound;
mod spectrum;
mod style;
mod view;

#[cfg(test)]
mod tests;

pub use curves::{Curve, curves_picture};
pub use field::field_picture;
pub use film::film_strip;
pub use mesh::mesh_picture;
pub use model::model_picture;
pub use overview::{OverviewRow, OverviewSound, overview_picture};
pub use plan::plan_picture;
pub use response::responses_picture;
pub use scene::{Stage, scene_picture, stage_picture};
pub use sound::{spectrogram_picture, spectrum_compare_picture};

/// A finished picture.
#[derive(Clone)]
pub struct Picture {
    pixmap: tiny_skia::Pixmap,
}

impl Picture {
    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.pixmap.width()
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.pixmap.height()
    }

    /// Red, green and blue of a pixel; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        self.pixmap.pixel(x, y).map(|p| [p.red(), p.green(), p.blue()])
    }

    /// The picture as a PNG file.
    pub fn png_bytes(&self) -> Vec<u8> {
        self.pixmap.encode_png().expect("writing to memory does not fail")
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} × {})", self.width(), self.height())
    }
}
