//! One probe on its own: what a bake keeps of it until all are there.

use super::{
    CodeLengths, FieldError,
    limits::{MAX_CUBES, check_places},
    probe::{
        Codes, Levels, NO_COUNTS, PARAMETERS, Probe, ProbeCode, ProbePlace, codes_from_lengths, codes_of, lengths_of,
    },
    quantise::{QUANTUM_RANGE, is_quantum, level},
};
use crate::acoustics::{Parameter, ProbeField};

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
    assert!(cubes <= MAX_CUBES, "{cubes} cubes of a probe, of which at most {MAX_CUBES} are stored");
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

    /// Its code, for whoever stores it.
    pub fn code_lengths(&self) -> CodeLengths {
        lengths_of(&self.codes)
    }

    /// What is coded, for whoever stores it.
    pub fn code(&self) -> ProbeCode<'_> {
        self.probe.code()
    }

    /// From what [`quantum`](Self::quantum), [`code_lengths`](Self::code_lengths) and [`code`](Self::code) gave. Everything is walked through once, so that
    /// decoding cannot fail later.
    ///
    /// # Errors
    /// If the parts do not fit together or are larger than what can be stored.
    pub fn open(quantum: f32, lengths: &CodeLengths, code: ProbeCode<'_>) -> Result<Self, FieldError> {
        if !is_quantum(quantum) {
            let [least, most] = QUANTUM_RANGE;
            return Err(FieldError::new(None, format!("a quantum from {least} to {most}"), quantum.to_string()));
        }
        check_places(&[code.place])?;
        let codes = codes_from_lengths(lengths)?;
        Ok(Self { quantum, probe: Probe::open(code, &codes, quantum)?, codes })
    }
}
