//! `eigentone query`.

use crate::args::QueryArgs;
use crate::output::{self, Failure, say};
use eigentone::bake;

pub fn run(args: &QueryArgs) -> Result<(), Failure> {
    let field = eigentone::io::read_field(&args.field)?;
    let answer = bake::query(&field, args.source, args.listener);
    if args.json {
        output::say_json(&answer);
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
    Ok(())
}
