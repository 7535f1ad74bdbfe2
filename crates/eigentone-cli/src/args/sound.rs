//! Fitting and striking models.

use super::{Format, point};
use clap::Args;
use eigentone::core::Vec3;
use std::path::PathBuf;

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct FitArgs {
    /// Recordings (WAV, FLAC) of one object, each with the struck place in metres if there are several: REC@X,Y,Z
    #[arg(required = true, value_name = "RECORDING[@X,Y,Z]", value_parser = recording)]
    pub recordings: Vec<Recording>,
    /// Model file to write
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write original (left) and resynthesis (right), take after take
    #[arg(long, value_name = "WAV")]
    pub compare: Option<PathBuf>,
    /// Draw original and resynthesis
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// At most this many modes
    #[arg(long, value_name = "N", default_value_t = 160)]
    pub modes: usize,
    /// Leave out modes this far below the strongest
    #[arg(long, value_name = "DB", default_value_t = 60.0)]
    pub floor: f64,
    /// Lowest frequency in Hz
    #[arg(long, value_name = "HZ", default_value_t = 20.0)]
    pub min_frequency: f64,
    /// Highest frequency in Hz
    #[arg(long, value_name = "HZ", default_value_t = 18_000.0)]
    pub max_frequency: f64,
    /// Material to note in the model
    #[arg(long, value_name = "NAME", default_value = "")]
    pub material: String,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// A recording and where it was struck.
#[derive(Clone)]
pub struct Recording {
    pub file: PathBuf,
    pub place: Option<Vec3>,
}

fn recording(text: &str) -> Result<Recording, String> {
    // A file name may hold an @ of its own: only what parses as a point is one.
    if let Some((file, place)) = text.rsplit_once('@') {
        match point(place) {
            Ok(place) => return Ok(Recording { file: file.into(), place: Some(place) }),
            Err(error) if place.contains(',') => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Recording { file: text.into(), place: None })
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct StrikeArgs {
    /// Model
    pub model: PathBuf,
    /// Sound to write
    #[arg(short, long, value_name = "WAV", required_unless_present = "play")]
    pub output: Option<PathBuf>,
    /// Play it on this machine's sound device (only if built with `--features device`)
    #[arg(long)]
    pub play: bool,
    /// Strike the surface nearest to this point, in metres, z up; where it sounds loudest if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub at: Option<Vec3>,
    /// Impulse in N·s. If given, the level is physical: full scale is 20 Pa at 1 m. Otherwise the peak is at -3 dBFS
    #[arg(long, value_name = "NS")]
    pub impulse: Option<f64>,
    /// Stiffness of the contact in N/m, or `felt` (1e4), `rubber` (1e5), `wood` (1e6), `plastic` (5e6), `metal` (1e8)
    #[arg(long, value_name = "K", default_value = "wood", value_parser = hardness)]
    pub hardness: f64,
    /// Mass of the mallet in kg
    #[arg(long, value_name = "KG", default_value_t = 0.02)]
    pub mass: f64,
    /// Length of the sound in s; until it has died away (10 s at most) if not given
    #[arg(long, value_name = "S")]
    pub duration: Option<f64>,
    /// Sample rate in Hz
    #[arg(long, value_name = "HZ", default_value_t = 44_100)]
    pub rate: u32,
    /// Gain in dB on top of the level
    #[arg(long, value_name = "DB", default_value_t = 0.0, allow_hyphen_values = true)]
    pub gain: f64,
    /// Samples of the file
    #[arg(long, value_enum, default_value = "pcm24")]
    pub format: Format,
    /// Draw the spectrogram
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

fn hardness(text: &str) -> Result<f64, String> {
    let stiffness = match text {
        "felt" => 1e4,
        "rubber" => 1e5,
        "wood" => 1e6,
        "plastic" => 5e6,
        "metal" => 1e8,
        number => number
            .parse()
            .map_err(|_| "expected a stiffness in N/m, or felt, rubber, wood, plastic or metal".to_owned())?,
    };
    if (1.0..=1e12).contains(&stiffness) {
        Ok(stiffness)
    } else {
        Err("expected a stiffness between 1 and 1e12 N/m".to_owned())
    }
}
