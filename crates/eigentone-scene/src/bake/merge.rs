//! Shards of one bake to one field.

use crate::Error;
use eigentone_core::acoustics::{EncodedProbe, FieldInfo, encode_probe};
use eigentone_io::{read_field, write_field};
use std::path::{Path, PathBuf};

/// Merges shards; the result is byte for byte that of one bake. Returns the number of probes.
///
/// # Errors
/// If a file cannot be read, or they are not all the shards of one bake.
pub fn merge(files: &[PathBuf], output: &Path) -> Result<usize, Error> {
    let mut fields = Vec::new();
    for file in files {
        let field = read_field(file)?;
        let Some(shard) = field.info().shard else {
            return Err(Error::Bake(format!(
                "{}: is not a shard but a whole field, or none; bake shards to merge them",
                file.display()
            )));
        };
        fields.push((shard, field, file));
    }
    let Some(([_, n], first, first_file)) = fields.first() else {
        return Err(Error::Bake("there is nothing to merge; name the files of all shards".to_owned()));
    };
    let n = *n;
    for (shard, field, file) in &fields {
        if field.info().source_hash != first.info().source_hash || shard[1] != n {
            return Err(Error::Bake(format!(
                "{} and {} are not of the same bake: bake all shards from the same scene, with the same number of shards",
                first_file.display(),
                file.display()
            )));
        }
    }
    fields.sort_by_key(|f| f.0[0]);
    let numbers: Vec<u32> = fields.iter().map(|f| f.0[0]).collect();
    if numbers != (0..n).collect::<Vec<_>>() {
        let missing: Vec<String> = (0..n).filter(|i| !numbers.contains(i)).map(|i| format!("{i}/{n}")).collect();
        let what = if missing.is_empty() {
            "one is there twice".to_owned()
        } else {
            format!("missing are {}", missing.join(", "))
        };
        return Err(Error::Bake(format!("all {n} shards are needed: {what}")));
    }
    let most = fields.iter().map(|f| f.1.probes().len()).max().unwrap_or(0);
    let mut probes: Vec<EncodedProbe> = Vec::new();
    for i in 0..most {
        for (_, field, _) in &fields {
            if i < field.probes().len() {
                // What was decoded are whole steps, which become the same ones again.
                probes.push(encode_probe(&field.probe(i), field.info().quantum));
            }
        }
    }
    let (_, field, _) = &fields[0];
    let info = FieldInfo { shard: None, ..field.info().clone() };
    write_field(output, &info, field.lattice(), field.occupancy(), &probes)?;
    Ok(probes.len())
}
