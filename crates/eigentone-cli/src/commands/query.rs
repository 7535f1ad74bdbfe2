//! `eigentone query`.

use super::{need_folder, refuse_same, write_picture};
use crate::args::QueryArgs;
use crate::files::{Content, check_names};
use crate::output::{self, Failure, say};
use eigentone::io::{AudioBuffer, SampleFormat, write_wav};
use eigentone::rooms::{self, Hearing};
use serde_json::json;
use std::sync::Arc;

pub fn run(args: &QueryArgs) -> Result<(), Failure> {
    refuse_same(&[&args.field], &[args.ir.as_ref(), args.plot.as_ref()])?;
    check_names([("--ir", args.ir.as_ref(), Content::Sound), ("--plot", args.plot.as_ref(), Content::Picture)])?;
    let field = Arc::new(eigentone::io::read_field(&args.field)?);
    let answer = rooms::query(&field, args.source, args.listener);
    if args.ir.is_some() || args.plot.is_some() {
        let look = args.look.unwrap_or(args.source - args.listener);
        let hearing = Hearing { source: args.source, listener: args.listener, look };
        let response = rooms::impulse_response(&field, &hearing, f64::from(args.rate));
        if let Some(file) = &args.plot {
            let named = [("impulse response", &response.channels)];
            let picture = eigentone::plot::responses_picture(&field.info().name, f64::from(args.rate), &named);
            write_picture(&picture, file)?;
        }
        if let Some(file) = &args.ir {
            need_folder(file)?;
            // Floats, because levels mean something and nothing must be cut off.
            let audio = AudioBuffer { sample_rate_hz: args.rate, channels: response.channels.to_vec() };
            write_wav(file, &audio, SampleFormat::Float32)?;
        }
    }
    if args.json {
        let mut told = json!(answer);
        if let Some(file) = &args.ir {
            told["ir"] = json!(file);
        }
        output::say_json(&told);
        return Ok(());
    }
    let p = &answer.parameters;
    say(format_args!("distance {:.2} m, confidence {:.2}", answer.distance_m, answer.confidence));
    say(format_args!("direct sound {:+.0} dB of the free field, {:+.0} dB per octave", p.direct_db, p.tilt_db));
    say(format_args!("early reflections {:.0} dB of the direct sound at 1 m", p.early_db));
    say(format_args!("decay {:.2} s early, {:.2} s late", p.early_decay_s, p.late_decay_s));
    if answer.confidence == 0.0 {
        output::say_remarks(&[], &["the field knows nothing about these points; this is the free field".to_owned()]);
    }
    if let Some(file) = &args.ir {
        say(format_args!("wrote {} ({})", file.display(), output::size(file)));
    }
    Ok(())
}
