#![no_main]

use eigentone_io::{MeshFormat, read_mesh_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let format = if bytes.starts_with(b"glTF") { MeshFormat::Glb } else { MeshFormat::Gltf };
    if let Ok(mut mesh) = read_mesh_bytes(format, bytes, None) {
        let vertices = mesh.positions.len();
        assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < vertices));
        // A few bytes can stand for millions of vertices at one place; welding those is not what is tested here.
        if vertices < 100_000 {
            let _ = mesh.repair();
        }
    }
});
