//! The memory of a whole program that writes an animation does not grow with its length. Alone in its file: it measures its process.
#![cfg(target_os = "linux")]

#[path = "common/jelly.rs"]
mod jelly;

use eigentone_io::AnimationWriter;
use std::path::Path;

/// The most memory that this process has had, in kB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn write(folder: &Path, frames: usize) {
    let meshes = jelly::meshes();
    let mut writer = AnimationWriter::create(&folder.join("a.glb"), &meshes, jelly::FRAMES_PER_S).unwrap();
    for frame in 0..frames {
        let positions = jelly::frame(&meshes, frame);
        writer.frame(&positions.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    }
    let recorded = writer.finish().unwrap();
    recorded.write_player(&folder.join("a.html"), &folder.join("a.wav"), "a").unwrap();
    recorded.write_point_cache(0, &folder.join("a.pc2")).unwrap();
}

/// A sound that is never in memory, so that it does not hide what the animation needs.
fn write_sound(path: &Path, seconds: u32) {
    let sample_rate = 48_000;
    let spec =
        hound::WavSpec { channels: 1, sample_rate, bits_per_sample: 16, sample_format: hound::SampleFormat::Int };
    let mut writer = hound::WavWriter::create(path, spec).unwrap();
    (0..seconds * sample_rate).for_each(|n| writer.write_sample((n % 200) as i16).unwrap());
    writer.finalize().unwrap();
}

/// Thirty times as many frames are 30 MB of positions, and less than 1 MB of memory.
#[test]
fn thirty_times_the_frames_need_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_sound(&folder.path().join("a.wav"), 50);
    write(folder.path(), 100);
    let before = peak_kb();
    write(folder.path(), 3000);
    let grown = peak_kb() - before;
    assert!(std::fs::metadata(folder.path().join("a.html")).unwrap().len() > 20_000_000);
    eprintln!("{before} kB, then {grown} kB more");
    assert!(grown < 1024, "{grown} kB");
}
