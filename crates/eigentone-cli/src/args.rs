//! The command line.

mod model;
mod rooms;
mod scene;
mod shape;
mod sound;

pub use model::{Damping, DetailArg, MaterialArgs, MethodArg, ModelArgs, SpringsArg};
pub use rooms::{BakeArgs, MergeArgs, QueryArgs};
pub use scene::{PlayArgs, RenderArgs, StudioArgs};
pub use shape::{ShapeArgs, ShapeCommand};
pub use sound::{FitArgs, StrikeArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use eigentone::core::Vec3;
use std::path::PathBuf;

/// Give it a mesh and a material, and hear it.
#[derive(Parser)]
#[command(name = "eigentone", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Make five objects and strike them, play three scenes, and write sounds, pictures and a page: start here
    Demo(DemoArgs),
    /// Make a model from a mesh (OBJ, STL, PLY, OFF, glTF), from tetrahedra (.node/.ele), or from an edited mode table (CSV, JSON)
    Model(ModelArgs),
    /// Make a model of a string, bar, plate or disc in closed form
    Shape(ShapeArgs),
    /// Fit a model to recordings of a struck object
    Fit(FitArgs),
    /// Hit a model and write the sound
    Strike(StrikeArgs),
    /// Simulate a scene and write its sound
    Render(RenderArgs),
    /// Play a scene live, on the sound device or without one
    Play(PlayArgs),
    /// Strike, drag, shape and export sounding objects in the browser
    Studio(StudioArgs),
    /// Compute the acoustics of a scene's rooms
    Bake(BakeArgs),
    /// Make one field of the shards of a bake
    Merge(MergeArgs),
    /// Tell what a field says about sound from one point to another
    Query(QueryArgs),
    /// Tell what is in a mesh, model, mode table, scene, field or sound, and what is wrong with it
    Inspect(InspectArgs),
    /// List the materials
    Materials(MaterialsArgs),
}

#[derive(Args)]
pub struct DemoArgs {
    /// Folder to write to; created if need be
    #[arg(short, long, default_value = "demo")]
    pub output: PathBuf,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    Pcm16,
    Pcm24,
    Float32,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct InspectArgs {
    /// Mesh, tetrahedra, model, mode table, scene, field or sound
    pub file: PathBuf,
    /// Draw it
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Draw what this probe of a field hears, counted from 0; the one in the middle if not given
    #[arg(long, value_name = "N", requires = "plot", conflicts_with = "at")]
    pub probe: Option<usize>,
    /// Draw what the probe of a field nearest to this point hears
    #[arg(long, value_name = "X,Y,Z", requires = "plot", value_parser = point, allow_hyphen_values = true)]
    pub at: Option<Vec3>,
    /// Export the modes of a model for editing (.csv or .json); `eigentone model` takes them back
    #[arg(long, value_name = "TABLE")]
    pub export: Option<PathBuf>,
    /// Multiply a mesh's lengths by this to get metres
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub scale: f64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MaterialsArgs {
    /// Your own materials, a TOML file with [[material]] tables
    #[arg(long, value_name = "TOML")]
    pub materials: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// Parses `X,Y,Z` in metres.
pub fn point(text: &str) -> Result<Vec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse::<f64>()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, z]) if x.is_finite() && y.is_finite() && z.is_finite() => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("expected three numbers in metres such as 0.1,0,0.02, found `{text}`")),
    }
}
