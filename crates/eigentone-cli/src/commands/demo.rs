//! `eigentone demo`.

mod make;
mod page;
mod rooms;

use crate::args::DemoArgs;
use crate::output::{self, Failure};
use crate::progress::with_bar;

pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let report = with_bar(args.json, |progress| make::run(&args.output, progress))?;
    if args.json {
        output::say_json(&report);
        return Ok(());
    }
    for object in &report.objects {
        let hertz: Vec<String> = object.first_hz.iter().take(3).map(|f| format!("{f:.0}")).collect();
        let places: Vec<&str> = object.sounds.iter().map(|(place, _)| place.as_str()).collect();
        output::say(format_args!(
            "{:<15} {:<7} {:<6} {:>4} modes, first {:<18} struck at {}",
            object.title,
            object.material,
            object.method,
            object.modes,
            format!("{} Hz,", hertz.join(", ")),
            places.join(" and ")
        ));
    }
    for scene in &report.scenes {
        output::say(format_args!(
            "{:15} {} bodies, {} impacts, {} contacts that slide or roll",
            scene.name, scene.bodies, scene.impacts, scene.contacts
        ));
    }
    for room in &report.rooms.rooms {
        output::say(format_args!(
            "{:15} {} simulations, decay {:.1} s: {}",
            room.name, room.probes, room.late_decay_s, room.title
        ));
    }
    output::say(format_args!(
        "\nopen {} in a browser to hear them; {} shows them",
        report.page.display(),
        report.overview.display()
    ));
    Ok(())
}
