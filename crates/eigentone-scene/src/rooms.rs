//! Rooms heard: what is between a source and a listener, as numbers and as an impulse response.
//!
//! ```no_run
//! use eigentone_core::Vec3;
//! use eigentone_scene::rooms::{Hearing, impulse_response};
//!
//! let field = std::sync::Arc::new(eigentone_io::read_field("abbey.field.safetensors".as_ref())?);
//! let hearing = Hearing { source: Vec3::new(20.0, -13.0, 1.6), listener: Vec3::new(20.0, 9.0, 1.6), look: -Vec3::Y };
//! let response = impulse_response(&field, &hearing, 48_000.0);
//! println!("{:?}: {} samples", response.answer.parameters, response.channels[0].len());
//! # Ok::<(), eigentone_scene::Error>(())
//! ```

use eigentone_core::Vec3;
use eigentone_core::acoustics::Field;
use eigentone_core::event::BodyId;
use eigentone_space::BLOCK;
use eigentone_space::canonical::{EARLY_LENGTH_S, LATE_TIMES_S, early_start_s};
use eigentone_space::decode::{Answer, Decoder, DecoderSettings};
use eigentone_space::direct::Spatial;
use eigentone_space::room::{Place, SpaceSettings, space};
use std::sync::Arc;

/// A source and who hears it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hearing {
    /// Where the sound comes from.
    pub source: Vec3,
    /// Where it is heard.
    pub listener: Vec3,
    /// Where the listener looks.
    pub look: Vec3,
}

/// An impulse response, and the parameters it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// What the field says.
    pub answer: Answer,
    /// Left and right. Direct sound at 1 m in free field would be an impulse of one, at the first sample, or with a head as it arrives at its ears a quarter of a millisecond later.
    pub channels: [Vec<f32>; 2],
}

/// What a field says about two points.
pub fn query(field: &Arc<Field>, source: Vec3, listener: Vec3) -> Answer {
    Decoder::new(field.clone(), DecoderSettings::default()).query(source, listener)
}

/// What an impulse at the source becomes at the ears of a spherical head, without the time that sound takes. It lasts until even the slowest filter has faded by 60 dB.
pub fn impulse_response(field: &Arc<Field>, hearing: &Hearing, sample_rate_hz: f64) -> Response {
    response_with(field, hearing, sample_rate_hz, Spatial::Head)
}

/// The same with another way to hear directions.
pub fn response_with(field: &Arc<Field>, hearing: &Hearing, sample_rate_hz: f64, spatial: Spatial) -> Response {
    let settings = SpaceSettings {
        sample_rate_hz,
        max_sources: 1,
        spatial,
        field: Some(field.clone()),
        ..SpaceSettings::default()
    };
    let (mut space, mut renderer) = space(&settings);
    let body = BodyId { slot: 0, generation: 0 };
    space.listen(hearing.listener, hearing.look);
    space.place(body, &Place::at(hearing.source));
    let answer = space.ask(hearing.source);
    let late_s = answer.parameters.late_decay_s.clamp(LATE_TIMES_S[0], LATE_TIMES_S[2]);
    let late_s = if late_s > LATE_TIMES_S[1] { LATE_TIMES_S[2] } else { LATE_TIMES_S[1] };
    let latency = renderer.latency();
    let late_start_s = early_start_s(field.info().f_max_hz) + EARLY_LENGTH_S;
    let length = ((late_start_s + late_s) * sample_rate_hz) as usize;
    let mut channels: [Vec<f32>; 2] = Default::default();
    let mut sound = [0.0; BLOCK];
    sound[0] = 1.0;
    while channels[0].len() < length + latency {
        let mut out = [[0.0; BLOCK]; 2];
        renderer.begin(|_, _| {});
        renderer.add(body, &sound);
        renderer.finish(&mut out);
        channels.iter_mut().zip(&out).for_each(|(channel, out)| channel.extend_from_slice(out));
        sound = [0.0; BLOCK];
    }
    for channel in &mut channels {
        channel.drain(..latency);
        channel.truncate(length);
    }
    Response { answer, channels }
}
