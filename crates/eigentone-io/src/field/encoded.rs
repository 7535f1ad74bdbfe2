//! One probe on its own: what a bake keeps of it until all are there.

use super::{
    pack::deflate,
    probe::{Codes, Levels, MOST_CUBES, NO_COUNTS, PARAMETERS, Probe, ProbePlace, codes_of},
    quantise::{QUANTUM_RANGE, is_quantum, level},
    store,
};
use crate::{
    error::{Fault, IN_MEMORY, ReadError},
    safetensors::{Container, Writer},
};
use eigentone_core::acoustics::{Parameter, ProbeField};
use std::path::Path;

/// The format of [`EncodedProbe::to_bytes`].
const FORMAT: &str = "eigentone.probe/1";

/// One probe, quantised and coded; independent of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedProbe {
    pub(super) quantum: f32,
    pub(super) codes: Codes,
    pub(super) probe: Probe,
}

/// Quantises and codes what was simulated from one probe: each valid value comes back within half a `quantum`. Values beyond
/// [`Parameter::range`] become its ends, those that are not numbers the least. The same input gives the same code.
///
/// # Panics
/// If the quantum is not within [`QUANTUM_RANGE`], or the probe has more than 2²⁴ cubes or lines, or not as many values as cubes.
pub fn encode_probe(probe: &ProbeField, quantum: f32) -> EncodedProbe {
    assert!(is_quantum(quantum), "a quantum within {QUANTUM_RANGE:?}, not {quantum}");
    let place = ProbePlace { position: probe.position, first: probe.first, size: probe.size };
    let cubes = place.cubes().max(place.lines());
    assert!(cubes <= MOST_CUBES, "{cubes} cubes of a probe, of which at most {MOST_CUBES} are stored");
    let cubes = place.cubes() as usize;
    assert!(probe.valid.len() == cubes && probe.values.iter().all(|v| v.len() == cubes), "values for {cubes} cubes");
    let levels: Levels = Parameter::ALL.map(|p| {
        let values = probe.values[p as usize].iter().enumerate().filter(|(at, _)| probe.valid.get(*at));
        values.map(|(_, &value)| level(p, value, quantum)).collect()
    });
    let mut counts = NO_COUNTS;
    Probe::count(&place, &probe.valid, &levels, &mut counts);
    let codes = codes_of(&counts);
    EncodedProbe { quantum, probe: Probe::encode(place, probe.valid.clone(), &levels, &codes), codes }
}

impl EncodedProbe {
    /// Where it was and which cubes it covers.
    pub fn place(&self) -> &ProbePlace {
        &self.probe.place
    }

    /// Steps that are just noticeable to one that is stored.
    pub fn quantum(&self) -> f32 {
        self.quantum
    }

    /// Everything decoded, zero where there is nothing valid.
    pub fn decode(&self) -> ProbeField {
        self.probe.decode(&self.codes, self.quantum)
    }

    /// Bytes that each parameter takes, in the order of [`Parameter::ALL`].
    pub fn sizes(&self) -> [u64; PARAMETERS] {
        self.probe.bits.map(|bits| bits.div_ceil(8))
    }

    /// A file of its own with checksums, for bakes that may be interrupted.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.metadata("format", FORMAT);
        writer.metadata("quantum", self.quantum.to_string());
        store::write(&mut writer, &self.codes, std::slice::from_ref(&self.probe), None);
        writer.finish()
    }

    /// From [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// If they are of another version or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::parse(bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
    }

    fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let container = Container::open(bytes)?;
        store::check_version(&container, FORMAT)?;
        let quantum = store::quantum(&container)?;
        let (codes, probes) = store::read(&container, quantum)?;
        match <[Probe; 1]>::try_from(probes) {
            Ok([probe]) => Ok(Self { quantum, codes, probe }),
            Err(probes) => Err(Fault::in_item("tensor probe_size", "one probe", probes.len().to_string())),
        }
    }
}

/// Bytes of each parameter if the steps of every layer are put through DEFLATE, as in the paper: one byte per cube, two where the quantum is so small that steps do
/// not fit, zero where there is nothing valid.
pub(super) fn deflate_sizes(probe: &Probe, codes: &Codes, quantum: f32) -> [u64; PARAMETERS] {
    let [nx, ny, _] = probe.place.size.map(|n| n as usize);
    let wide = quantum < 1.0;
    let levels = probe.levels(codes);
    levels.map(|levels| {
        let mut levels = levels.into_iter();
        let mut last = 0;
        let steps = (0..probe.valid.len()).map(|at| {
            last = if at % nx == 0 { 0 } else { last };
            let level = if probe.valid.get(at) { levels.next().unwrap_or(last) } else { last };
            let step = level - last;
            last = level;
            step
        });
        let bytes: Vec<u8> = steps.flat_map(|q| q.to_le_bytes().into_iter().take(if wide { 2 } else { 1 })).collect();
        let layer = nx * ny * if wide { 2 } else { 1 };
        bytes.chunks(layer.max(1)).map(|layer| deflate(layer).len() as u64).sum()
    })
}
