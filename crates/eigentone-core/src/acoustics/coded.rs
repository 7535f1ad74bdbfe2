//! Baked fields as they are kept in memory and in files: what arrives from each probe at the cubes around it, quantised and coded so that
//! single scan lines can be decoded.
//!
//! Steps along a line are quantised with the running error fed back \[Raghuvanshi & Snyder 2014\]. The paper puts the steps of a layer through DEFLATE, which must be undone for the
//! whole layer to get at one line. Here a line stands for itself: runs of equal samples and the step after them are one symbol of a static Huffman
//! code, and samples without a value take no bits. Where lines begin is not stored but found when a field is opened, because all of it is walked
//! through then anyway: a checksum finds accidents but not malice, and after the walk [`Field::line`] cannot fail.
//!
//! Reading and writing files is not done here; whoever does it gets at the coded parts by [`Field::code`] and hands them back to [`Field::open`].

mod encoded;
mod huffman;
mod limits;
mod line;
mod probe;
mod quantise;
mod stream;

pub use encoded::{EncodedProbe, encode_probe};
pub use limits::{check_lattice, check_places};
pub use probe::{ProbeCode, ProbePlace};
pub use quantise::{QUANTUM_RANGE, is_quantum};

use super::{Bits, FieldInfo, Lattice, Occupancy, Parameter, ProbeField};
use probe::{Codes, Levels, NO_COUNTS, PARAMETERS, Probe, codes_from_lengths, codes_of, lengths_of};

/// How many symbols the code of a parameter has.
pub const CODE_SYMBOLS: usize = line::SYMBOLS;

/// For each parameter and symbol the bits of its Huffman code; zero for symbols without one.
pub type CodeLengths = [[u8; CODE_SYMBOLS]; PARAMETERS];

/// Parts of a field that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}expected {expected}, found {found}", part.map(|part| format!("{part}: ")).unwrap_or_default())]
pub struct FieldError {
    /// The stored array that is wrong, where it is one.
    pub part: Option<&'static str>,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl FieldError {
    fn new(part: Option<&'static str>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { part, expected: expected.into(), found: found.into() }
    }
}

/// A field in memory, compressed as in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    info: FieldInfo,
    lattice: Lattice,
    occupancy: Occupancy,
    codes: Codes,
    probes: Vec<Probe>,
    sizes: FieldSizes,
}

/// How many bytes of a file go where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSizes {
    /// The values of each parameter, in the order of [`Parameter::ALL`].
    pub parameters: [u64; PARAMETERS],
    /// Which samples are valid.
    pub masks: u64,
    /// Which cells of the scene are solid.
    pub occupancy: u64,
    /// The rest: metadata, probes, lengths of the parts, codes.
    pub index: u64,
}

impl FieldSizes {
    /// All of the file.
    pub fn total(&self) -> u64 {
        self.parameters.iter().sum::<u64>() + self.masks + self.occupancy + self.index
    }
}

impl Field {
    /// A field of probes that were encoded one by one. The same input gives the same field.
    ///
    /// ```
    /// use eigentone_core::{Vec3, acoustics::*};
    ///
    /// // A row of four cubes, of which the last has no value; and a scene of one cell, which is air.
    /// let mut probe = ProbeField::new(Vec3::ZERO, [0; 3], [4, 1, 1]);
    /// (0..3).for_each(|x| probe.valid.set(x, true));
    /// probe.values[Parameter::Early as usize] = vec![-6.0, -11.0, -17.0, 0.0];
    /// let lattice = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [4, 1, 1] };
    /// let cells = Lattice { size: [1, 1, 1], ..lattice };
    /// let occupancy = Occupancy { lattice: cells, solid: Bits::new(1) };
    /// let info = FieldInfo::new("row", 500.0, 1.0, 3.0);
    /// let quantum = info.quantum;
    /// let field = Field::new(info, lattice, occupancy, &[encode_probe(&probe, quantum)])?;
    ///
    /// let mut line = [0.0; 4];
    /// let valid = field.line(0, Parameter::Early, 0, 0, &mut line);
    /// assert_eq!((valid, line), (3, [-6.0, -12.0, -18.0, 0.0]));
    /// # Ok::<(), FieldError>(())
    /// ```
    ///
    /// # Errors
    /// If the parts do not fit together or are larger than what can be stored.
    pub fn new(
        info: FieldInfo,
        lattice: Lattice,
        occupancy: Occupancy,
        probes: &[EncodedProbe],
    ) -> Result<Self, FieldError> {
        limits::check_scene(&info, &lattice, &occupancy)?;
        if let Some(other) = probes.iter().find(|p| p.quantum != info.quantum) {
            let expected = format!("probes of quantum {}", info.quantum);
            return Err(FieldError::new(None, expected, format!("one of {}", other.quantum)));
        }
        let places: Vec<ProbePlace> = probes.iter().map(|p| *p.place()).collect();
        check_places(&places)?;
        // One code per parameter for all probes: their tables stay in the cache whichever probes are decoded.
        let mut counts = NO_COUNTS;
        let levels = |p: &EncodedProbe| p.probe.levels(&p.codes);
        probes.iter().for_each(|p| Probe::count(p.place(), &p.probe.valid, &levels(p), &mut counts));
        let codes = codes_of(&counts);
        let recode = |p: &EncodedProbe| Probe::encode(*p.place(), p.probe.valid.clone(), &levels(p), &codes);
        let probes = probes.iter().map(recode).collect();
        Ok(Self::of(info, lattice, occupancy, codes, probes))
    }

    /// A field of coded parts, as [`code_lengths`](Self::code_lengths) and [`code`](Self::code) give them. Everything is walked through once, so that decoding
    /// cannot fail later, whatever is in the bytes. Probes are asked for one after the other, and not after the first that fails.
    ///
    /// # Errors
    /// Those of `probes`; a [`FieldError`] if the parts do not fit together or are larger than what can be stored.
    pub fn open<'a, E: From<FieldError>>(
        info: FieldInfo,
        lattice: Lattice,
        occupancy: Occupancy,
        lengths: &CodeLengths,
        probes: impl IntoIterator<Item = Result<ProbeCode<'a>, E>>,
    ) -> Result<Self, E> {
        limits::check_scene(&info, &lattice, &occupancy)?;
        let codes = codes_from_lengths(lengths)?;
        let (mut opened, mut places) = (Vec::new(), limits::Places::default());
        for probe in probes {
            let probe = probe?;
            places.add(&probe.place)?;
            opened.push(Probe::open(probe, &codes, info.quantum)?);
        }
        Ok(Self::of(info, lattice, occupancy, codes, opened))
    }

    fn of(info: FieldInfo, lattice: Lattice, occupancy: Occupancy, codes: Codes, probes: Vec<Probe>) -> Self {
        let parameters = std::array::from_fn(|p| probes.iter().map(|probe| probe.bits[p]).sum::<u64>() / 8);
        let sizes = FieldSizes { parameters, ..FieldSizes::default() };
        Self { info, lattice, occupancy, codes, probes, sizes }
    }

    /// With the sizes of the file it was read from.
    pub fn with_sizes(self, sizes: FieldSizes) -> Self {
        Self { sizes, ..self }
    }

    /// What it was made with and from.
    pub fn info(&self) -> &FieldInfo {
        &self.info
    }

    /// The lattice that all probes share.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The solid cells of the scene.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Where the probes were and which cubes each covers.
    pub fn probes(&self) -> impl ExactSizeIterator<Item = &ProbePlace> {
        self.probes.iter().map(|p| &p.place)
    }

    /// Which cubes of a probe have values, in the order x fastest, then y, then z.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn valid(&self, probe: usize) -> &Bits {
        &self.probes[probe].valid
    }

    /// Decodes all of a probe; zero where there are no values.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn probe(&self, probe: usize) -> ProbeField {
        self.probes[probe].decode(&self.codes, self.info.quantum)
    }

    /// Decodes a scan line of one parameter: as many samples from x = 0 on as `out` takes, at most the whole line, zero where [`valid`](Self::valid)
    /// says that there is none. `y` and `z` count from the probe's first cube. Returns how many of the samples are valid. Allocates nothing and cannot fail:
    /// the data was checked when the field was opened.
    ///
    /// # Panics
    /// If there is no such probe or line, or `out` is longer than it.
    pub fn line(&self, probe: usize, parameter: Parameter, y: u32, z: u32, out: &mut [f32]) -> usize {
        self.probes[probe].line(&self.codes, self.info.quantum, parameter, [y, z], out)
    }

    /// The quantised values of a probe's valid cubes, x fastest, for each parameter: a value is its level times the quantum.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn levels(&self, probe: usize) -> Levels {
        self.probes[probe].levels(&self.codes)
    }

    /// The code of all probes, for whoever stores the field.
    pub fn code_lengths(&self) -> CodeLengths {
        lengths_of(&self.codes)
    }

    /// The coded probes, for whoever stores the field.
    pub fn code(&self) -> impl ExactSizeIterator<Item = ProbeCode<'_>> {
        self.probes.iter().map(Probe::code)
    }

    /// What the field would take uncompressed with one byte per quantised sample: cubes of all probes times parameters.
    pub fn raw_bytes(&self) -> u64 {
        self.probes().map(ProbePlace::cubes).sum::<u64>() * PARAMETERS as u64
    }

    /// The size of the file it was read from; that of the values alone if it was never in one.
    pub fn stored_bytes(&self) -> u64 {
        self.sizes.total()
    }

    /// What the bytes of the file are for. Of a field that was never in a file only the sizes of the parameters are known.
    pub fn sizes(&self) -> &FieldSizes {
        &self.sizes
    }
}
