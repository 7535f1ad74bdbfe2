//! Why nothing would be heard.

use eigentone::core::ModalModel;
use eigentone::io::SampleFormat;
use std::ops::RangeInclusive;

/// What ears hear, in Hz.
const HEARD_HZ: RangeInclusive<f64> = 20.0..=20_000.0;

/// The pressure of 0 dB SPL, in Pa.
const THRESHOLD_PA: f64 = 20e-6;

/// Why a model makes no sound that can be heard at this sample rate, however it is struck; `None` if it does.
pub fn why_mute(model: &ModalModel, rate_hz: f64) -> Option<String> {
    if model.modes.is_empty() && model.diffuse.is_empty() {
        return Some("the model has no modes, so that it cannot sound; make it again from its mesh".to_owned());
    }
    let moves = |n: usize| (0..model.shapes.sites()).any(|site| model.shapes.get(site, n).length_squared() > 0.0);
    let loud: Vec<f64> = (0..model.modes.len())
        .filter(|&n| model.modes[n].output_gain != 0.0 && moves(n))
        .map(|n| model.modes[n].frequency_hz)
        .collect();
    let nyquist_hz = 0.5 * rate_hz;
    let top_hz = nyquist_hz.min(*HEARD_HZ.end());
    let noise = model.diffuse.iter().any(|b| b.gain > 0.0 && b.low_hz < top_hz && b.high_hz > *HEARD_HZ.start());
    if noise || loud.iter().any(|f| HEARD_HZ.contains(f) && *f < nyquist_hz) {
        return None;
    }
    let (low, high) = loud.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &f| (low.min(f), high.max(f)));
    Some(if loud.is_empty() {
        "none of its modes moves the surface or radiates: all their shapes or gains are zero, so that no blow is heard"
            .to_owned()
    } else if loud.iter().any(|f| HEARD_HZ.contains(f)) {
        format!(
            "its lowest mode of {low:.0} Hz is above the {nyquist_hz:.0} Hz that {rate_hz:.0} samples a second can carry; \
             use --rate {}",
            rate_above(low)
        )
    } else {
        format!(
            "its modes, from {low:.0} to {high:.0} Hz, are outside of what is heard (20 Hz to 20 kHz); was the mesh in \
             metres? `eigentone model` takes --scale"
        )
    })
}

/// A usual sample rate that carries a frequency.
fn rate_above(frequency_hz: f64) -> u32 {
    [44_100, 48_000, 96_000].into_iter().find(|&rate| f64::from(rate) > 2.2 * frequency_hz).unwrap_or(192_000)
}

/// What to say of a sound that nobody will hear: its loudest sample relative to full scale, the format it is written in, and, where the
/// level means something, the pressure of full scale. `None` if it can be heard.
pub fn too_soft(peak_dbfs: f64, format: SampleFormat, full_scale_pa: Option<f64>) -> Option<String> {
    // Half the smallest step of the format.
    let (least_dbfs, name) = match format {
        SampleFormat::Pcm16 => (-96.3, "16-bit"),
        SampleFormat::Pcm24 => (-144.5, "24-bit"),
        _ => (-200.0, "32-bit"),
    };
    if peak_dbfs <= least_dbfs {
        return Some(format!(
            "the file is silent: its peak of {peak_dbfs:.0} dBFS is below the least step of {name} samples"
        ));
    }
    let spl_db = peak_dbfs + 20.0 * (full_scale_pa? / THRESHOLD_PA).log10();
    (spl_db < 0.0).then(|| {
        format!("nobody would hear it: its peak of {spl_db:.0} dB SPL at one metre is below the threshold of hearing")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone::core::{Method, Mode, ModelInfo, ShapeTable, Surface, Vec3};

    fn model(frequencies: &[f64], shape: Vec3) -> ModalModel {
        ModalModel {
            info: ModelInfo::new("test", Method::Manual, ""),
            modes: frequencies.iter().map(|&f| Mode { frequency_hz: f, decay_per_s: 5.0, output_gain: 1.0 }).collect(),
            surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
            shapes: ShapeTable::from_fn(1, frequencies.len(), |_, _| shape),
            diffuse: vec![],
        }
    }

    #[test]
    fn every_way_to_be_mute_is_named() {
        let why = |frequencies: &[f64], shape, rate| why_mute(&model(frequencies, shape), rate);
        assert_eq!(why(&[5.0, 440.0, 30_000.0], Vec3::Z, 44_100.0), None);
        for (frequencies, shape, rate, word) in [
            (&[][..], Vec3::Z, 44_100.0, "no modes"),
            (&[440.0], Vec3::ZERO, 44_100.0, "are zero"),
            (&[7000.0, 9000.0], Vec3::Z, 8000.0, "use --rate 44100"),
            (&[2.0, 25_000.0], Vec3::Z, 96_000.0, "outside of what is heard"),
        ] {
            let told = why(frequencies, shape, rate).unwrap();
            assert!(told.contains(word), "{told}");
        }
    }

    #[test]
    fn soft_is_told_from_loud_enough() {
        assert_eq!(too_soft(-90.0, SampleFormat::Pcm16, None), None);
        assert!(too_soft(-100.0, SampleFormat::Pcm16, None).unwrap().contains("16-bit"));
        assert_eq!(too_soft(-110.0, SampleFormat::Pcm24, Some(20.0)), None);
        assert!(too_soft(-125.0, SampleFormat::Pcm24, Some(20.0)).unwrap().contains("-5 dB SPL"));
    }
}
