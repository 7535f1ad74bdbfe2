//! Models in closed form.

use super::{MaterialArgs, point};
use clap::{Args, Subcommand};
use eigentone::core::Vec3;
use std::path::PathBuf;

#[derive(Args)]
pub struct ShapeArgs {
    #[command(subcommand)]
    pub shape: ShapeCommand,
}

#[derive(Subcommand)]
pub enum ShapeCommand {
    /// A stiff string along x
    String {
        /// Length in m
        #[arg(long)]
        length: f64,
        /// Diameter in m
        #[arg(long)]
        diameter: f64,
        /// Tension in N
        #[arg(long, conflicts_with = "pitch", required_unless_present = "pitch")]
        tension: Option<f64>,
        /// Frequency of the first partial in Hz
        #[arg(long)]
        pitch: Option<f64>,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A bar along x that bends along z
    Bar {
        /// Length in m
        #[arg(long)]
        length: f64,
        /// Width in m
        #[arg(long)]
        width: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Clamped at one end (x < 0) instead of free
        #[arg(long)]
        clamped: bool,
        /// Partials as the maker tunes them: `xylophone` (1:3:6), `marimba` (1:4:9.2), or ratios such as 1,2,3
        #[arg(long, value_name = "NAME|RATIOS")]
        tuning: Option<String>,
        /// Frequency of the first partial in Hz
        #[arg(long)]
        pitch: Option<f64>,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A rectangular plate in the xy plane
    Plate {
        /// Length along x in m
        #[arg(long)]
        length: f64,
        /// Width along y in m
        #[arg(long)]
        width: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Simply supported edges instead of free ones
        #[arg(long)]
        supported: bool,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A disc in the xy plane
    Disc {
        /// Radius in m
        #[arg(long)]
        radius: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Clamped rim instead of a free one
        #[arg(long)]
        clamped: bool,
        #[command(flatten)]
        common: ShapeCommon,
    },
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct ShapeCommon {
    #[command(flatten)]
    pub material: MaterialArgs,
    /// File to write, usually NAME.modal.safetensors
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// At most this many modes, the lowest
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub modes: usize,
    /// Hear one point of the shape (a pickup) instead of all it radiates
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub pickup: Option<Vec3>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}
