//! Reading SOFA files (AES69): free-field responses in an HDF5 container.

use super::{Hrtf, HrtfError, Measurement};
use sofar::hdf::{self, DataObject, ParsedHdf};
use std::path::{Path, PathBuf};

/// Largest file that is read, in bytes. Dense sets of measured heads are about 50 MB.
const LARGEST_FILE: u64 = 256 << 20;

/// Most directions and samples per response.
const MAX_MEASUREMENTS: usize = 100_000;
const MAX_SAMPLES: usize = 1 << 16;

/// Why a SOFA file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SofaError {
    /// It cannot be opened or read.
    #[error("{path}: cannot be read ({source}). Check the path and its permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is larger than any measured head.
    #[error(
        "{path}: {bytes} bytes are more than the {LARGEST_FILE} that are read. Is this a set of responses of one head?"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It is not what SOFA says.
    #[error("{path}: {what}. Expected a SOFA file (AES69) of the convention SimpleFreeFieldHRIR")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The responses cannot be used.
    #[error("{path}: {source}. Try another set of measurements")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: HrtfError,
    },
}

impl Hrtf {
    /// Loads the responses of a SOFA file, at the engine's sample rate. Control side: this reads, allocates and takes up to a second.
    pub fn load(path: &Path, sample_rate_hz: f64) -> Result<Self, SofaError> {
        let unreadable = |source| SofaError::Unreadable { path: path.into(), source };
        let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
        if bytes > LARGEST_FILE {
            return Err(SofaError::TooLarge { path: path.into(), bytes });
        }
        let data = std::fs::read(path).map_err(unreadable)?;
        Self::parse(path, &data, sample_rate_hz)
    }

    /// The same from memory; `path` names the source in messages.
    pub fn parse(path: &Path, data: &[u8], sample_rate_hz: f64) -> Result<Self, SofaError> {
        let malformed = |what: String| SofaError::Malformed { path: path.into(), what };
        // The container's parser is not ours: should a broken file make it panic, that is an error like any other.
        let read = std::panic::catch_unwind(|| measurements(data));
        let (measurements, measured_hz) =
            read.unwrap_or_else(|_| Err("its container is broken".into())).map_err(malformed)?;
        Self::from_measurements(&measurements, measured_hz, sample_rate_hz)
            .map_err(|source| SofaError::Unusable { path: path.into(), source })
    }
}

/// An array of numbers with its sizes.
struct Array {
    values: Vec<f64>,
    sizes: Vec<usize>,
    is_cartesian: bool,
}

fn measurements(data: &[u8]) -> Result<(Vec<Measurement>, f64), String> {
    let file =
        hdf::parse_with_children(data).map_err(|_| "this is not an HDF5 file, or it is cut short".to_string())?;
    let attribute = file.root.parsed_attributes.iter().find(|a| a.name == "Conventions");
    match attribute.and_then(|a| a.value.as_deref()) {
        Some("SOFA") => {}
        found => return Err(format!("the attribute Conventions is {found:?}, not SOFA")),
    }
    let responses = array(&file, "Data.IR")?;
    let &[count, 2, length] = &responses.sizes[..] else {
        return Err(format!("Data.IR has sizes {:?}, not measurements × 2 ears × samples", responses.sizes));
    };
    if !(1..=MAX_MEASUREMENTS).contains(&count) || !(1..=MAX_SAMPLES).contains(&length) {
        return Err(format!("{count} measurements of {length} samples are too many or none"));
    }
    if responses.values.len() != count * 2 * length {
        return Err(format!("Data.IR holds {} numbers instead of {}", responses.values.len(), count * 2 * length));
    }
    let positions = array(&file, "SourcePosition")?;
    if positions.values.len() != count * 3 {
        return Err(format!("SourcePosition holds {} numbers instead of {}", positions.values.len(), count * 3));
    }
    let rate = array(&file, "Data.SamplingRate")?;
    let rate_hz = *rate.values.first().ok_or("Data.SamplingRate is empty")?;
    // Optional: one delay per ear, or one per measurement and ear, in samples.
    let delays = array(&file, "Data.Delay").map(|d| d.values).unwrap_or_default();
    let delay_s = |m: usize, ear: usize| {
        let at = if delays.len() == 2 * count { 2 * m + ear } else { ear };
        (delays.get(at).copied().unwrap_or(0.0) / rate_hz) as f32
    };
    // The first ear is the left one unless the file says otherwise: y is to the left.
    let receivers = array(&file, "ReceiverPosition").ok().filter(|r| r.values.len() >= 6);
    let swapped = receivers.is_some_and(|r| {
        let left = |k: usize| -direction(&r.values[3 * k..3 * k + 3], r.is_cartesian)[0];
        left(0) < left(1)
    });
    let measurement = |m: usize| {
        let ears = if swapped { [1, 0] } else { [0, 1] };
        let samples = |ear: usize| {
            let from = (2 * m + ear) * length;
            responses.values[from..from + length].iter().map(|x| *x as f32).collect()
        };
        Measurement {
            direction: direction(&positions.values[3 * m..3 * m + 3], positions.is_cartesian),
            responses: ears.map(samples),
            delays_s: ears.map(|ear| delay_s(m, ear)),
        }
    };
    Ok(((0..count).map(measurement).collect(), rate_hz))
}

/// From SOFA's axes (x forward, y left, z up; or azimuth to the left, elevation, distance in degrees and metres) to right, forward, up.
fn direction(triple: &[f64], is_cartesian: bool) -> [f32; 3] {
    let [x, y, z] = [triple[0], triple[1], triple[2]];
    let [forward, left, up] = if is_cartesian {
        [x, y, z]
    } else {
        let ((sin_a, cos_a), (sin_e, cos_e)) = (x.to_radians().sin_cos(), y.to_radians().sin_cos());
        [cos_e * cos_a, cos_e * sin_a, sin_e].map(|c| c * z)
    };
    [-left as f32, forward as f32, up as f32]
}

fn array(file: &ParsedHdf<'_>, name: &str) -> Result<Array, String> {
    let object: DataObject = file
        .get_child(name)
        .ok_or_else(|| format!("{name} is missing"))?
        .map_err(|_| format!("{name} is stored in a way that is not understood"))?;
    let is_float = object.dt.class_and_version & 0x0f == 1;
    let is_little_endian = object.dt.class_bit_field & 1 == 0;
    let values: Vec<f64> = match object.dt.size {
        8 if is_float && is_little_endian => {
            object.data.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
        }
        4 if is_float && is_little_endian => {
            object.data.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
        }
        size => return Err(format!("{name} has numbers of {size} bytes that are not little-endian floats")),
    };
    let kind = object.parsed_attributes.iter().find(|a| a.name == "Type").and_then(|a| a.value.as_deref());
    let sizes = object.ds.dimension_size.iter().map(|s| usize::try_from(*s).unwrap_or(usize::MAX)).collect();
    Ok(Array { values, sizes, is_cartesian: kind == Some("cartesian") })
}
