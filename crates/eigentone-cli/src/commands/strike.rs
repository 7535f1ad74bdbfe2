//! `eigentone strike`.

use super::audible::{too_soft, why_mute};
use super::{refuse_same, write_picture};
use crate::args::{Format, StrikeArgs};
use crate::files::{Content, check_names};
use crate::output::{self, Failure};
use eigentone::core::mesh::bounds_of;
use eigentone::core::model::Contact;
use eigentone::core::units::Decibels;
use eigentone::core::{ModalModel, SiteBlend, Vec3};
use eigentone::io::{AudioBuffer, FileKind, SampleFormat, read_model, sniff, write_wav};
use eigentone::level::{self, Level};
use eigentone::synth::{Strike, ring_time_s, strike};
use serde_json::json;
use std::sync::Arc;

/// Longest sound chosen automatically, in s.
const LONGEST_S: f64 = 10.0;

pub fn run(args: &StrikeArgs) -> Result<(), Failure> {
    check(args)?;
    refuse_same(&[&args.model], &[args.output.as_ref(), args.plot.as_ref()])?;
    check_names([
        ("--output", args.output.as_ref(), Content::Sound),
        ("--plot", args.plot.as_ref(), Content::Picture),
    ])?;
    let impossible = |message: String| Failure::from(eigentone::Error::WrongKind { file: args.model.clone(), message });
    if matches!(sniff(&args.model)?, FileKind::Mesh(_)) {
        return Err(impossible("a mesh, not a model; make one with `eigentone model` first".to_owned()));
    }
    let model = Arc::new(read_model(&args.model)?);
    if let Some(why) = why_mute(&model, f64::from(args.rate)) {
        return Err(impossible(why));
    }
    let contact = match args.at {
        Some(point) => model.nearest_contact(point),
        None => loudest_contact(&model),
    };
    let Some(contact) = contact else {
        return Err(impossible("the model has no place to strike".to_owned()));
    };
    let mut warnings: Vec<String> = args.at.and_then(|point| far_off(&model, point)).into_iter().collect();
    let blow = Strike {
        contact,
        impulse_ns: args.impulse.unwrap_or(0.05),
        stiffness_n_m: args.hardness,
        mallet_kg: args.mass,
    };
    let duration_s = args.duration.unwrap_or_else(|| ring_time_s(&model, &blow, 80.0).clamp(0.25, LONGEST_S));
    let mut sound = strike(&model, &blow, f64::from(args.rate), duration_s)?;
    if sound.iter().all(|&y| y == 0.0) {
        let place = contact.position;
        let why = "no mode moves there along the blow, so that nothing is heard; strike elsewhere with --at";
        return Err(impossible(format!("struck at {:.4},{:.4},{:.4}: {why}", place.x, place.y, place.z)));
    }
    let gain = Decibels(args.gain);
    let wanted = match args.impulse {
        Some(_) => Level::Physical(gain),
        None => Level::Normalised(Decibels(-3.0 + args.gain)),
    };
    let levelled = level::apply(wanted, &mut [&mut sound]);
    let format = match args.format {
        Format::Pcm16 => SampleFormat::Pcm16,
        Format::Pcm24 => SampleFormat::Pcm24,
        Format::Float32 => SampleFormat::Float32,
    };
    if let Some(file) = &args.plot {
        write_picture(&eigentone::plot::spectrogram_picture(&sound, f64::from(args.rate), &model.info.name), file)?;
    }
    let peak_dbfs = Decibels::from_amplitude(f64::from(sound.iter().fold(0.0, |a: f32, b| a.max(b.abs()))));
    let full_scale_pa = args.impulse.map(|_| level::FULL_SCALE_PA / levelled.gain.amplitude());
    warnings.extend(too_soft(peak_dbfs.get(), format, full_scale_pa));
    warnings.iter().for_each(output::warn);
    if args.play {
        play(&model, &blow, levelled.gain, duration_s)?;
    }
    if let Some(output) = &args.output {
        write_wav(output, &AudioBuffer { sample_rate_hz: args.rate, channels: vec![sound] }, format)?;
    }
    let contact_ms = 1e3 * blow.contact_time_s(&model);
    if args.json {
        output::say_json(&json!({
            "wav": args.output, "position": contact.position.to_array(), "normal": contact.normal.to_array(), "impulse_ns": blow.impulse_ns,
            "contact_ms": contact_ms, "duration_s": duration_s, "sample_rate_hz": args.rate, "gain_db": levelled.gain.get(),
            "peak_dbfs": if peak_dbfs.get().is_finite() { Some(peak_dbfs.get()) } else { None }, "turned_down": levelled.turned_down,
            "warnings": warnings,
        }));
        return Ok(());
    }
    let p = contact.position;
    output::say(format_args!(
        "struck `{}` at {:.4},{:.4},{:.4} with {} N·s for {contact_ms:.2} ms; {duration_s:.2} s of sound, peak {peak_dbfs:.1}FS",
        model.info.name, p.x, p.y, p.z, blow.impulse_ns
    ));
    if levelled.turned_down {
        output::say(format_args!(
            "note: turned down by {:.1} dB so as not to clip; use a smaller --impulse or a negative --gain",
            args.gain - levelled.gain.get()
        ));
    }
    if let Some(output) = &args.output {
        output::say(format_args!("wrote {} ({})", output.display(), output::size(output)));
    }
    Ok(())
}

/// Plays the blow on the sound device, through the engine at the device's own rate.
#[cfg(feature = "device")]
fn play(model: &Arc<ModalModel>, blow: &Strike, gain: Decibels, duration_s: f64) -> Result<(), Failure> {
    use eigentone::core::Vec3;
    use eigentone::space::direct::Spatial;
    use eigentone::synth::Quality;
    use eigentone::world::{Body, Collider, Mallet, Pose, Settings, Shape, Strike as Blow, World};
    let output = eigentone::device::Output::find()?;
    let settings = Settings {
        sample_rate_hz: output.sample_rate_hz(),
        max_bodies: 1,
        max_modes_per_body: model.modes.len(),
        quality: Quality::FULL,
        spatial: Spatial::Pan,
        ..Settings::default()
    };
    let (mut world, mut out) = World::new(settings).map_err(eigentone::Error::from)?;
    // Heard from one metre in front.
    world.set_listener(Pose::looking(-Vec3::Y, Vec3::Y));
    let shape = Shape::mesh(model.surface.to_mesh()).with_collider(Collider::None);
    let body = Body::external(shape).model(model.clone()).gain(gain.amplitude() as f32);
    let body = world.insert(body).map_err(eigentone::Error::from)?;
    let _playing = output.play(move |frames, channels| out.process(frames, channels))?;
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mallet = Mallet { mass_kg: blow.mallet_kg, stiffness_n_m: blow.stiffness_n_m };
    let blow = Blow::at_local(blow.contact.position).impulse(blow.impulse_ns).mallet(mallet);
    world.strike(body, blow).map_err(eigentone::Error::from)?;
    std::thread::sleep(std::time::Duration::from_secs_f64(duration_s + 0.3));
    Ok(())
}

#[cfg(not(feature = "device"))]
fn play(_: &Arc<ModalModel>, _: &Strike, _: Decibels, _: f64) -> Result<(), Failure> {
    let way_out = "build it with `cargo build --release --features device`, or write a file with -o";
    Err(Failure::Usage(format!("--play: this eigentone was built without a sound device; {way_out}")))
}

fn check(args: &StrikeArgs) -> Result<(), Failure> {
    let wrong = |what: &str| Err(Failure::Usage(what.to_owned()));
    if args.impulse.is_some_and(|j| !(j > 0.0 && j <= 1e4)) {
        return wrong("--impulse must be above 0 and at most 1e4 N·s");
    }
    if !(args.mass > 0.0 && args.mass <= 1e4) {
        return wrong("--mass must be above 0 and at most 1e4 kg");
    }
    if args.duration.is_some_and(|s| !(s > 0.0 && s <= 600.0)) {
        return wrong("--duration must be above 0 and at most 600 s");
    }
    if !(8000..=384_000).contains(&args.rate) {
        return wrong("--rate must be between 8000 and 384000 Hz");
    }
    if !(-200.0..=200.0).contains(&args.gain) {
        return wrong("--gain must be between -200 and 200 dB");
    }
    Ok(())
}

/// What to say of a point that is further from the model than a quarter of its size.
fn far_off(model: &ModalModel, point: Vec3) -> Option<String> {
    let sites = || model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
    let nearest = match model.surface.to_mesh().nearest(point) {
        Some(place) => place.position,
        None => sites().min_by(|a, b| a.distance(point).total_cmp(&b.distance(point)))?,
    };
    let [low, high] = bounds_of(sites());
    let (size_m, away_m) = (low.distance(high), nearest.distance(point));
    // A single place is struck wherever one points.
    (size_m > 0.0 && away_m > 0.25 * size_m).then(|| {
        format!(
            "--at {},{},{} is {} away from the model, which is {} across; struck at the nearest point, {:.4},{:.4},{:.4}",
            point.x,
            point.y,
            point.z,
            output::length(away_m),
            output::length(size_m),
            nearest.x,
            nearest.y,
            nearest.z
        )
    })
}

/// The site from which a strike radiates most energy: `Σ (o_n u_n)²/4d_n`.
fn loudest_contact(model: &ModalModel) -> Option<Contact> {
    let energy = |site: u32| -> f64 {
        let n = model.surface.normals[site as usize].map(f64::from);
        let push = model.excitation(&SiteBlend::single(site), Vec3::from_array(n));
        model.modes.iter().zip(push).map(|(m, g)| (m.output_gain * g).powi(2) / (4.0 * m.decay_per_s)).sum()
    };
    let best = (0..model.surface.positions.len() as u32).map(|s| (energy(s), s)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    model.nearest_contact(Vec3::from_array(model.surface.positions[best.1 as usize].map(f64::from)))
}
