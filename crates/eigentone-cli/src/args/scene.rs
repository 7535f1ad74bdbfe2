//! Rendering and playing scenes.

use super::Format;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct RenderArgs {
    /// Scene, a TOML file; docs/scenes.md has all keys. Or a take of the studio, NAME.take.json: the same samples as were recorded
    pub scene: PathBuf,
    /// Sound to write, in stereo
    #[arg(short, long, value_name = "WAV")]
    pub output: PathBuf,
    /// Write what it took: events, modes, times, level
    #[arg(long, value_name = "JSON")]
    pub stats: Option<PathBuf>,
    /// Write what happened: impacts and contacts with their times
    #[arg(long, value_name = "JSON")]
    pub events: Option<PathBuf>,
    /// Draw the events, the spectrogram and where particles struck
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Write the animation of soft bodies, as .glb or .gltf with morph targets
    #[arg(long, value_name = "GLB")]
    pub animation: Option<PathBuf>,
    /// Write a web page that plays animation and sound in step; the .glb is written too
    #[arg(long, value_name = "HTML")]
    pub player: Option<PathBuf>,
    /// Draw frames of the animation side by side
    #[arg(long, value_name = "PNG")]
    pub strip: Option<PathBuf>,
    /// Write the exact motion of each soft body beside the sound, as a .pc2 point cache
    #[arg(long)]
    pub point_cache: bool,
    /// Compute at most this many modes at once, in place of the scene's budget
    #[arg(long, value_name = "MODES")]
    pub budget: Option<usize>,
    /// Seed in place of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads that make models; as many as there are cores if not given. The sound is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write the contact stream, one JSON line per step (.jsonl)
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Take the contacts from a recorded stream instead of simulating
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Write the dry sound of every body that sounds into this folder, one WAV each, in Pa at one metre
    #[arg(long, value_name = "DIR")]
    pub stems: Option<PathBuf>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Samples of the file: pcm24 if not given, and of a take float32, as it was recorded
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct StudioArgs {
    /// Scene to open, a TOML file; a table of things if not given
    pub scene: Option<PathBuf>,
    /// Port on 127.0.0.1; any that is free if not given
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address, but open no browser
    #[arg(long)]
    pub no_open: bool,
    /// Serve the page from this folder in place of the one that is built in
    #[arg(long, value_name = "DIR")]
    pub page_dir: Option<PathBuf>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Print the address as one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct PlayArgs {
    /// Scene, a TOML file; it begins anew when it is over
    pub scene: PathBuf,
    /// Play against the clock without a sound device, and report what it took
    #[arg(long)]
    pub headless: bool,
    /// Stop after this many seconds; with ctrl-c if not given
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Samples that are asked for at a time, without a device
    #[arg(long, value_name = "SAMPLES", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub block: u32,
    /// Compute at most this many modes at once, in place of the scene's budget
    #[arg(long, value_name = "MODES")]
    pub budget: Option<usize>,
    /// Take at most this much processor time per 64 samples, in microseconds: quality falls in the order of audibility
    #[arg(long, value_name = "US")]
    pub budget_us: Option<f64>,
    /// Time from motion to sound, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30.0)]
    pub latency: f64,
    /// Seed in place of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}
