//! Writes one valid file of every format into the corpora of the fuzz targets: `cargo run -p eigentone-io --example
//! fuzz_seeds` from the root of the repository.

#[path = "../tests/common/mod.rs"]
mod common;

fn main() -> std::io::Result<()> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for sample in common::samples() {
        let folder = corpus.join(sample.target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(sample.name), sample.bytes)?;
    }
    Ok(())
}
