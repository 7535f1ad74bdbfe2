//! What `[acoustics]` must be.

use super::Table;
use crate::scene::Scene;
use crate::scene::acoustics::{Absorption, Acoustics};
use crate::scene::file::strays;

/// Probes by hand, regions and the like.
const MOST: usize = 10_000;

pub(super) fn check(scene: &Scene, problems: &mut Vec<String>) {
    let Some(acoustics) = &scene.acoustics else { return };
    let mut table = Table::new("[acoustics]", problems);
    numbers(acoustics, &mut table);
    if let Some(file) = &acoustics.field
        && let Some(why) = strays(file)
    {
        table.say("field", &format!("the path `{file}` {why}"));
    }
    if let Some(size) = &acoustics.size {
        table.finite("size", size);
        if size.iter().any(|m| *m <= 0.0 || *m > 1000.0) {
            table.say("size", "expected three lengths above 0 and up to 1000 m");
        }
        if acoustics.room.as_deref() != Some("shoebox") {
            table.say("size", "only a `shoebox` has one; leave it out");
        }
    }
    let counts =
        [("probes", acoustics.probes.len()), ("seeds", acoustics.seeds.len()), ("region", acoustics.region.len())];
    for (key, _) in counts.into_iter().filter(|(_, n)| *n > MOST) {
        table.say(key, &format!("there are more than {MOST}"));
    }
    for (key, points) in [("probes", &acoustics.probes), ("seeds", &acoustics.seeds)] {
        points.iter().take(MOST).for_each(|p| table.finite(key, p));
    }
    for region in acoustics.region.iter().take(MOST) {
        for (key, corner) in [("region.min", &region.min), ("region.max", &region.max)] {
            if let Some(corner) = corner {
                table.finite(key, corner);
            }
        }
    }
    if let Some(ground) = &acoustics.ground {
        table.finite("ground.z_m", &[ground.z_m]);
        if let Absorption::Share(share) = ground.material {
            table.within("ground.material", share, 0.0, 1.0);
        }
    }
}

fn numbers(a: &Acoustics, table: &mut Table<'_>) {
    for (key, value, low, high) in [
        ("f_max_hz", a.f_max_hz, 20.0, 8000.0),
        ("radius_m", a.radius_m, 1.0, 1000.0),
        ("height_m", a.height_m, 1.0, 1000.0),
        ("padding_m", a.padding_m, 0.0, 100.0),
        ("margin_m", a.margin_m, 0.0, 1000.0),
        ("grid_m", a.grid_m, 0.05, 100.0),
        ("spacing_m", a.spacing_m, 0.05, 1000.0),
        ("spacing_z_m", a.spacing_z_m, 0.05, 1000.0),
        ("above_floor_m", a.above_floor_m, 0.0, 100.0),
        ("direct_s", a.direct_s, 1e-4, 1.0),
        ("early_s", a.early_s, 1e-3, 2.0),
        ("late_s", a.late_s, 1e-2, 10.0),
        ("onset_db", a.onset_db, -140.0, -20.0),
        ("quantum", a.quantum, 0.1, 20.0),
        ("scale", a.scale, 1e-6, 1e6),
    ] {
        table.maybe_within(key, value, low, high);
    }
}
