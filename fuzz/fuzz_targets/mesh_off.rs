#![no_main]

use eigentone_io::{MeshFormat, read_mesh_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut mesh) = read_mesh_bytes(MeshFormat::Off, bytes, None) {
        let vertices = mesh.positions.len();
        assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < vertices));
        let _ = mesh.repair();
    }
});
