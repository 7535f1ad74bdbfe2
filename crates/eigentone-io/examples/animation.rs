//! Writes an animation with its point caches and player, to look at and for `.ci/animation`:
//! `cargo run -p eigentone-io --example animation -- FOLDER`

#[path = "../tests/common/jelly.rs"]
mod jelly;

use eigentone_io::{AnimationWriter, SampleFormat, write_wav};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    let frames = std::env::args().nth(2).map_or(Ok(120), |n| n.parse())?;
    let meshes = jelly::meshes();
    let mut writer = AnimationWriter::create(&folder.join("jelly.glb"), &meshes, jelly::FRAMES_PER_S)?;
    for frame in 0..frames {
        let positions = jelly::frame(&meshes, frame);
        writer.frame(&positions.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    }
    let recorded = writer.finish()?;
    println!("{recorded:#?}");
    let wav = folder.join("jelly.wav");
    write_wav(&wav, &jelly::sound(frames), SampleFormat::default())?;
    recorded.write_player(&folder.join("jelly.html"), &wav, "Jelly & ball")?;
    recorded.write_point_cache(0, &folder.join("jelly cube.pc2"))?;
    Ok(())
}
