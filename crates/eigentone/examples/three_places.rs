//! One sound from three places of a baked scene, drawn side by side.
//!
//! `cargo run --release -p eigentone --example three_places -- abbey.field.safetensors places.png`: a block of wood is struck in the abbey's nave and heard from the nave, from the doorway and from the
//! courtyard. This is also how a program that has sounds of its own plays them through a field.

use eigentone::core::event::BodyId;
use eigentone::plot::responses_picture;
use eigentone::prelude::*;
use eigentone::space::BLOCK;
use eigentone::space::room::{Place, SpaceSettings, space};
use std::path::Path;
use std::sync::Arc;

const RATE_HZ: f64 = 44_100.0;
const SECONDS: f64 = 2.5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [field, picture] = &arguments[..] else {
        return Err("needs a field of the abbey and a picture to write".into());
    };
    let field = Arc::new(eigentone::io::read_field(Path::new(field))?);

    // A sound: any samples would do.
    let materials = MaterialTable::builtin();
    let block = primitives::bar(0.24, 0.08, 0.05);
    let model = model_from_mesh(&block, materials.get("wood")?, &MeshModelSettings::default(), &Progress::silent())?;
    let model = Arc::new(model);
    let contact = model.nearest_contact(Vec3::new(0.0, 0.0, 0.025)).ok_or("no place to strike")?;
    let dry = strike(&model, &Strike::new(contact), RATE_HZ, 0.5)?;

    let source = Vec3::new(14.0, 9.0, 1.2);
    let places = [
        ("in the nave", Vec3::new(24.0, 9.0, 1.6)),
        ("in the doorway", Vec3::new(20.0, -0.4, 1.6)),
        ("in the courtyard", Vec3::new(24.0, -14.0, 1.6)),
    ];
    let mut heard = Vec::new();
    for (name, listener) in places {
        let settings = SpaceSettings { max_sources: 1, field: Some(field.clone()), ..SpaceSettings::default() };
        let (mut space, mut renderer) = space(&settings);
        let body = BodyId { slot: 0, generation: 0 };
        space.listen(listener, source - listener);
        space.place(body, &Place::at(source));
        println!("{name}: {:?}", space.ask(source));
        let mut channels: [Vec<f32>; 2] = Default::default();
        let mut blocks = dry.chunks_exact(BLOCK);
        while (channels[0].len() as f64) < SECONDS * RATE_HZ {
            let mut out = [[0.0; BLOCK]; 2];
            renderer.begin(|_, _| {});
            if let Some(Ok(sound)) = blocks.next().map(<&[f32; BLOCK]>::try_from) {
                renderer.add(body, sound);
            }
            renderer.finish(&mut out);
            channels.iter_mut().zip(&out).for_each(|(channel, out)| channel.extend_from_slice(out));
        }
        heard.push((name, channels));
    }
    let named: Vec<(&str, &[Vec<f32>; 2])> = heard.iter().map(|(name, channels)| (*name, channels)).collect();
    let drawn = responses_picture("A block of wood, struck in the nave of an abbey", RATE_HZ, &named);
    std::fs::write(picture, drawn.png_bytes())?;
    Ok(())
}
