//! `eigentone fit`.

use super::{refuse_same, write_picture};
use crate::args::FitArgs;
use crate::files::{Content, check_names};
use crate::output::{self, Failure};
use eigentone::io::{AudioBuffer, SampleFormat, write_model, write_wav};
use eigentone::modal::fit::FitSettings;
use eigentone::object::model_from_recordings;
use serde_json::json;

pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let recordings: Vec<_> = args.recordings.iter().map(|r| (r.file.clone(), r.place)).collect();
    let inputs: Vec<_> = args.recordings.iter().map(|r| &r.file).collect();
    refuse_same(&inputs, &[Some(&args.output), args.compare.as_ref(), args.plot.as_ref()])?;
    check_names([
        ("--output", Some(&args.output), Content::Model),
        ("--compare", args.compare.as_ref(), Content::Sound),
        ("--plot", args.plot.as_ref(), Content::Picture),
    ])?;
    let settings = FitSettings {
        max_modes: args.modes,
        floor_db: args.floor,
        lowest_hz: args.min_frequency,
        highest_hz: args.max_frequency,
        ..Default::default()
    };
    let (mut fit, originals, sample_rate_hz) = model_from_recordings(&recordings, &settings)?;
    fit.model.info.material.clone_from(&args.material);
    write_model(&args.output, &fit.model)?;
    let resynthesis = fit.resynthesis.concat();
    let original = originals.concat();
    if let Some(file) = &args.compare {
        write_wav(
            file,
            &AudioBuffer { sample_rate_hz, channels: vec![original.clone(), resynthesis.clone()] },
            SampleFormat::Pcm24,
        )?;
    }
    if let Some(file) = &args.plot {
        write_picture(
            &eigentone::plot::spectrum_compare_picture(
                &original,
                &resynthesis,
                f64::from(sample_rate_hz),
                &fit.model.info.name,
            ),
            file,
        )?;
    }
    if args.json {
        let takes: Vec<_> = fit
            .report
            .takes
            .iter()
            .zip(&recordings)
            .map(|(t, (file, _))| {
                json!({
                    "recording": file, "onset_s": t.onset_s, "analysed_s": t.analysed_s, "noise_floor_db": t.noise_floor_db,
                    "modes": t.modes, "explained": t.explained, "residual_db": t.residual_db, "band_error_db": t.band_error_db,
                })
            })
            .collect();
        output::say_json(&json!({
            "model": args.output, "modes": fit.model.modes.len(), "diffuse_bands": fit.model.diffuse.len(), "takes": takes,
            "warnings": fit.report.warnings,
        }));
        return Ok(());
    }
    output::say(format_args!("{} modes and {} bands of noise", fit.model.modes.len(), fit.model.diffuse.len()));
    for (take, (file, _)) in fit.report.takes.iter().zip(&recordings) {
        output::say(format_args!(
            "{}: {} modes explain {:.1} % of the energy (residual {:.1} dB); with the noise, bands are within {:.1} dB rms; noise floor {:.0} dB",
            file.display(),
            take.modes,
            100.0 * take.explained,
            take.residual_db,
            take.band_error_db,
            take.noise_floor_db
        ));
    }
    output::say_remarks(&[], &fit.report.warnings);
    for file in [Some(&args.output), args.compare.as_ref(), args.plot.as_ref()].into_iter().flatten() {
        output::say(format_args!("wrote {} ({})", file.display(), output::size(file)));
    }
    Ok(())
}
