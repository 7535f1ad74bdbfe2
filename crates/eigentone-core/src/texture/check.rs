//! Which numbers can be a texture.

use super::profile::MAX_LOOPS;
use super::{Curve, Playback, Profile, Texture, TextureError};

/// A property, its value, the range it must lie in.
type Check = (&'static str, f32, [f32; 2]);

pub(super) fn texture(t: &Texture) -> Result<(), TextureError> {
    let orders = [0, 1, 2, 4];
    let [low, high] = [1.0, 96_000.0];
    let mut checks = vec![
        ("friction", t.friction, [0.0, 10.0]),
        ("restitution", t.restitution, [0.0, 1.0]),
        ("stiffness_n_m", t.stiffness_n_m, [1e2, 1e10]),
        ("stiffness_length_m", t.stiffness_length_m, [1e-7, f32::INFINITY]),
        ("roughness", t.roughness, [0.0, 100.0]),
        ("rolling", t.rolling, [0.0, 1.0]),
        ("decay_s", t.decay_s, [0.0, 10.0]),
        ("direct_pa_per_n", t.direct_pa_per_n, [0.0, 1e3]),
        ("damping", t.damping, [1.0, 50.0]),
        ("impact.grazing_depth_m", t.impact.grazing_depth_m, [0.0, 0.1]),
        ("impact.micro", t.impact.micro, [0.0, 1e6]),
        ("low_pass.order (0, 1, 2 or 4)", if orders.contains(&t.low_pass.order) { 0.0 } else { -1.0 }, [0.0, 0.0]),
    ];
    curve(&mut checks, "low_pass.slip", &t.low_pass.slip, [low, high]);
    curve(&mut checks, "low_pass.force", &t.low_pass.force, [0.0, 1e3]);
    curve(&mut checks, "low_pass.ratio", &t.low_pass.ratio, [0.0, 1e3]);
    curve(&mut checks, "gain.slip", &t.gain.slip, [0.0, 1e3]);
    curve(&mut checks, "gain.force", &t.gain.force, [0.0, 1e5]);
    curve(&mut checks, "impact.amplitude", &t.impact.amplitude, [0.0, 1e3]);
    profile(&mut checks, &t.profile);
    // Written so that NaN is outside.
    match checks.into_iter().find(|(_, value, range)| !(range[0] <= *value && *value <= range[1])) {
        None => Ok(()),
        Some((property, value, [low, high])) => {
            Err(TextureError::Impossible { name: t.name.clone(), property, value, low, high })
        }
    }
}

fn curve(checks: &mut Vec<Check>, name: &'static str, curve: &Curve, range: [f32; 2]) {
    checks.extend([(name, curve.smallest(), range), (name, curve.largest(), range)]);
}

fn profile(checks: &mut Vec<Check>, profile: &Profile) {
    let band = [20.0, 40_000.0];
    match profile {
        Profile::Smooth => {}
        Profile::Bumps(b) => {
            let tail = if let super::Height::Tail(power) = b.height { power } else { 1.0 };
            checks.extend([
                ("bumps.mark_m", b.mark_m, [1e-5, 1.0]),
                ("bumps.space_m", b.space_m, [1e-5, 10.0]),
                ("bumps.height.tail", tail, [0.1, 8.0]),
            ]);
        }
        Profile::Rough(r) => checks.extend([
            ("rough.grain_m", r.grain_m, [1e-5, 10.0]),
            ("rough.octaves", f32::from(r.octaves), [1.0, 8.0]),
            ("rough.persistence", r.persistence, [0.0, 1.0]),
        ]),
        Profile::Loose(l) => checks.extend([
            ("loose.events_per_m", l.events_per_m, [0.0, 1e5]),
            ("loose.burst_s", l.burst_s, [1e-4, 1.0]),
            ("loose.band_hz", l.band_hz[0], band),
            ("loose.band_hz", l.band_hz[1], [l.band_hz[0], band[1]]),
            ("loose.q", l.q, [0.1, 100.0]),
            ("loose.voices", f32::from(l.voices), [1.0, 6.0]),
        ]),
        Profile::Foil(f) => checks.extend([
            ("foil.events_per_m", f.events_per_m, [0.0, 1e5]),
            ("foil.burst_s", f.burst_s[0], [1e-4, 1.0]),
            ("foil.burst_s", f.burst_s[1], [f.burst_s[0], 1.0]),
            ("foil.band_hz", f.band_hz[0], band),
            ("foil.band_hz", f.band_hz[1], [f.band_hz[0], band[1]]),
            ("foil.q", f.q[0], [0.1, 100.0]),
            ("foil.q", f.q[1], [f.q[0], 100.0]),
            ("foil.voices", f32::from(f.voices), [1.0, 6.0]),
        ]),
        Profile::Friction(f) => checks.extend([
            ("friction.static", f.sticking, [0.01, 5.0]),
            ("friction.dynamic", f.slipping, [0.0, 0.99 * f.sticking]),
            ("friction.stiffness_n_m", f.stiffness_n_m, [1.0, 1e8]),
            ("friction.slip_time_s", f.slip_time_s, [0.0, 0.01]),
            ("friction.feedback", f.feedback, [0.0, 1.0]),
        ]),
        Profile::Recorded(r) => {
            let speed = match r.playback {
                Playback::OriginalRate => 1.0,
                Playback::Resampled(speed) | Playback::Stretched(speed) => speed,
            };
            let rising = r.loops.windows(2).all(|w| w[0].events_per_s < w[1].events_per_s);
            checks.extend([
                ("recorded.loops", r.loops.len() as f32, [1.0, MAX_LOOPS as f32]),
                ("recorded.loops in rising events_per_s", if rising { 0.0 } else { -1.0 }, [0.0, 0.0]),
                ("recorded.events_per_m", r.events_per_m, [0.0, 1e6]),
                ("recorded.playback, in m/s", speed, [1e-3, 100.0]),
            ]);
        }
    }
}
