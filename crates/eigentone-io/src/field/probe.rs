//! One probe on its own, as `eigentone.probe/1`: what a bake keeps of it until all are there.

use super::store;
use crate::{
    error::{Fault, IN_MEMORY, ReadError},
    safetensors::{Container, Writer},
};
use eigentone_core::acoustics::EncodedProbe;
use std::path::Path;

const FORMAT: &str = "eigentone.probe/1";

/// The bytes of a file with one probe and checksums, for bakes that may be interrupted.
pub fn probe_bytes(probe: &EncodedProbe) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.metadata("format", FORMAT);
    writer.metadata("quantum", probe.quantum().to_string());
    store::write(&mut writer, &probe.code_lengths(), &[probe.code()], None);
    writer.finish()
}

/// Reads what [`probe_bytes`] made.
///
/// # Errors
/// If they are of another version or damaged.
pub fn read_probe_bytes(bytes: &[u8]) -> Result<EncodedProbe, ReadError> {
    parse(bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

fn parse(bytes: &[u8]) -> Result<EncodedProbe, Fault> {
    let container = Container::open(bytes)?;
    store::check_version(&container, FORMAT)?;
    let quantum = store::quantum(&container)?;
    let mut probes = store::Probes::open(&container)?;
    let lengths = store::code_lengths(&container)?;
    let count = probes.left();
    let (Some(probe), 1) = (probes.next(), count) else {
        return Err(Fault::in_item("tensor probe_size", "one probe", count.to_string()));
    };
    let probe = EncodedProbe::open(quantum, &lengths, probe?)?;
    // Asked once more, it says what is left over.
    probes.next().transpose()?;
    Ok(probe)
}
