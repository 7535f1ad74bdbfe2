//! `eigentone materials`.

use super::material_table;
use crate::args::MaterialsArgs;
use crate::output::{Failure, say, say_json};
use eigentone::core::Material;

pub fn run(args: &MaterialsArgs) -> Result<(), Failure> {
    let table = material_table(args.materials.as_deref())?;
    let all: Vec<&Material> = table.iter().collect();
    if args.json {
        say_json(&all);
        return Ok(());
    }
    say("name        E GPa (range)          kg/m³     ν   tanφ (range)            γ 1/s      η s   also");
    for m in all {
        let young = format!("{} ({}–{})", m.young_pa / 1e9, m.young_range_pa.low / 1e9, m.young_range_pa.high / 1e9);
        let loss = format!("{:.1e} ({:.0e}–{:.0e})", m.tan_phi, m.tan_phi_range.low, m.tan_phi_range.high);
        say(format_args!(
            "{:<11} {young:<22} {:>5} {:>5}   {loss:<22} {:>6} {:>8.0e}   {}",
            m.name,
            m.density_kg_m3,
            m.poisson,
            m.gamma_per_s,
            m.eta_s,
            m.aliases.join(", ")
        ));
    }
    say("\nAll values with their origin: --json. Your own: --materials FILE.toml (see docs/materials.md).");
    Ok(())
}
