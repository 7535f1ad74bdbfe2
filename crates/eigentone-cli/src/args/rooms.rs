//! Baking and asking fields.

use super::point;
use clap::Args;
use eigentone::core::Vec3;
use std::path::PathBuf;

#[derive(Args)]
pub struct BakeArgs {
    /// Scene with an [acoustics] table; docs/acoustics.md has all keys
    pub scene: PathBuf,
    /// Field to write, a .field.safetensors file
    #[arg(short, long, value_name = "FIELD", required_unless_present = "estimate")]
    pub output: Option<PathBuf>,
    /// Only tell what it would take
    #[arg(long)]
    pub estimate: bool,
    /// Go on where an earlier bake was stopped or killed
    #[arg(long)]
    pub resume: bool,
    /// Only a share of the probes: number I, from 0, of N
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<[u32; 2]>,
    /// Threads; as many as there are cores if not given. The field is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory that simulations may take together
    #[arg(long, value_name = "GB", default_value_t = 8.0)]
    pub memory: f64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MergeArgs {
    /// All shards of a bake
    #[arg(required = true)]
    pub fields: Vec<PathBuf>,
    /// Field to write
    #[arg(short, long, value_name = "FIELD")]
    pub output: PathBuf,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct QueryArgs {
    /// A .field.safetensors file
    pub field: PathBuf,
    /// Where the sound comes from
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub source: Vec3,
    /// Where it is heard
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub listener: Vec3,
    /// Where the listener looks; at the source if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub look: Option<Vec3>,
    /// Write the impulse response that the parameters stand for, as 32-bit floats; one is the direct sound at 1 m
    #[arg(long, value_name = "WAV")]
    pub ir: Option<PathBuf>,
    /// Sample rate of the impulse response in Hz
    #[arg(long, value_name = "HZ", default_value_t = 44_100, value_parser = clap::value_parser!(u32).range(8000..=192_000))]
    pub rate: u32,
    /// Draw the impulse response and its decay
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

fn shard(text: &str) -> Result<[u32; 2], String> {
    let parts: Option<(u32, u32)> =
        text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    match parts {
        Some((i, n)) if i < n && n <= 100_000 => Ok([i, n]),
        _ => Err("expected I/N with I from 0 and below N, for instance 0/4".to_owned()),
    }
}
