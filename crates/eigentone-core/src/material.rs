//! Materials: stiffness, density and, above all for the ear, damping.
//!
//! Two damping laws are offered, with `d` the decay rate of a mode's amplitude (`e^{−dt}`, T60 = ln(1000)/d):
//!
//! - Rayleigh: `d = ½(γ + η ω²)`, the law under which a finite-element model decouples exactly;
//! - loss factor: `d = π f tanφ + d₀`, internal friction that is the same at every frequency plus a mounting loss `d₀`.
//!   Listeners tell materials apart mostly by tanφ (Wildes & Richards 1988; Klatzky, Pai & Krotkov 2000).

pub mod orthotropy;

pub use orthotropy::{Grain, Orthotropy, PlaneStress, rotate_voigt};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How fast a mode of a given frequency dies away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "snake_case", deny_unknown_fields)]
pub enum Damping {
    /// `d = ½(γ + η ω²)`.
    Rayleigh {
        /// Mass-proportional part γ, in 1/s.
        gamma_per_s: f64,
        /// Stiffness-proportional part η, in s.
        eta_s: f64,
    },
    /// `d = π f tanφ + d₀`.
    LossFactor {
        /// Internal friction tanφ, dimensionless.
        tan_phi: f64,
        /// Loss to mounting and air d₀, in 1/s.
        mounting_per_s: f64,
    },
}

impl Damping {
    /// Decay rate in 1/s of a mode whose undamped frequency is `frequency_hz`.
    pub fn decay_per_s(&self, frequency_hz: f64) -> f64 {
        match *self {
            Damping::Rayleigh { gamma_per_s, eta_s } => {
                let omega = std::f64::consts::TAU * frequency_hz;
                0.5 * (gamma_per_s + eta_s * omega * omega)
            }
            Damping::LossFactor { tan_phi, mounting_per_s } => {
                std::f64::consts::PI * frequency_hz * tan_phi + mounting_per_s
            }
        }
    }

    /// The Rayleigh law through two measured points `(frequency in Hz, decay in 1/s)`:
    /// `η = 2(d₂−d₁)/(ω₂²−ω₁²)`, `γ = 2d₁ − ηω₁²`. `None` if the frequencies coincide or the result is negative.
    pub fn rayleigh_through(a: (f64, f64), b: (f64, f64)) -> Option<Damping> {
        let [w1, w2] = [a.0, b.0].map(|f| (std::f64::consts::TAU * f).powi(2));
        let eta_s = 2.0 * (b.1 - a.1) / (w2 - w1);
        let gamma_per_s = 2.0 * a.1 - eta_s * w1;
        (eta_s >= 0.0 && gamma_per_s >= 0.0).then_some(Damping::Rayleigh { gamma_per_s, eta_s })
    }
}

/// Which of a material's two damping laws to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DampingLaw {
    /// [`Damping::Rayleigh`], the default for models made from meshes.
    #[default]
    Rayleigh,
    /// [`Damping::LossFactor`], the default for analytic shapes.
    LossFactor,
}

/// A value with the range in which samples of the material are found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Smallest common value.
    pub low: f64,
    /// Largest common value.
    pub high: f64,
}

/// An elastic material that can ring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Canonical lower-case name.
    pub name: String,
    /// Other names under which it is found.
    pub aliases: Vec<String>,
    /// Young's modulus in Pa; of wood that along the grain.
    pub young_pa: f64,
    /// Mass density in kg/m³.
    pub density_kg_m3: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Elastic constants of a material with a grain. Where it is given, shells and solids use it instead of `young_pa` and
    /// `poisson`, which remain for shapes in closed form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orthotropy: Option<Orthotropy>,
    /// Internal friction tanφ.
    pub tan_phi: f64,
    /// Mounting and air loss d₀ in 1/s, used with [`DampingLaw::LossFactor`].
    pub mounting_per_s: f64,
    /// Rayleigh γ in 1/s.
    pub gamma_per_s: f64,
    /// Rayleigh η in s.
    pub eta_s: f64,
    /// Range of Young's modulus in Pa.
    pub young_range_pa: Range,
    /// Range of the density in kg/m³.
    pub density_range_kg_m3: Range,
    /// Range of tanφ.
    pub tan_phi_range: Range,
    /// Where the numbers come from.
    pub origin: String,
}

/// Why a set of numbers is not a material.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// No such name in the table.
    #[error("unknown material `{name}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar known name, if any is close.
        suggestion: Option<String>,
    },
    /// A property is outside what physics allows.
    #[error("material `{name}`: {property} is {value}, but must be {expected}")]
    Impossible {
        /// The material.
        name: String,
        /// The property.
        property: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
}

/// Lamé's λ = Eν/((1+ν)(1−2ν)) and the shear modulus μ = E/(2(1+ν)), in Pa.
pub fn lame_pa(young_pa: f64, poisson: f64) -> [f64; 2] {
    [young_pa * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young_pa / (2.0 * (1.0 + poisson))]
}

impl Material {
    /// The damping law in use.
    pub fn damping(&self, law: DampingLaw) -> Damping {
        match law {
            DampingLaw::Rayleigh => Damping::Rayleigh { gamma_per_s: self.gamma_per_s, eta_s: self.eta_s },
            DampingLaw::LossFactor => {
                Damping::LossFactor { tan_phi: self.tan_phi, mounting_per_s: self.mounting_per_s }
            }
        }
    }

    /// Lamé's first parameter λ in Pa.
    pub fn lame_lambda_pa(&self) -> f64 {
        lame_pa(self.young_pa, self.poisson)[0]
    }

    /// Shear modulus μ in Pa.
    pub fn shear_pa(&self) -> f64 {
        lame_pa(self.young_pa, self.poisson)[1]
    }

    /// Bending stiffness of a plate, `D = E t³ / 12(1−ν²)`, in N·m.
    pub fn bending_stiffness_n_m(&self, thickness_m: f64) -> f64 {
        self.young_pa * thickness_m.powi(3) / (12.0 * (1.0 - self.poisson * self.poisson))
    }

    /// Checks that every property is physically possible.
    ///
    /// # Errors
    /// Names the first property that is not.
    pub fn validate(&self) -> Result<(), MaterialError> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let loss = |v: f64| v.is_finite() && (0.0..=1e6).contains(&v);
        let checks = [
            ("young_pa", self.young_pa, positive(self.young_pa) && self.young_pa <= 1e13, "between 0 and 1e13 Pa"),
            (
                "density_kg_m3",
                self.density_kg_m3,
                positive(self.density_kg_m3) && self.density_kg_m3 <= 1e5,
                "between 0 and 1e5 kg/m³",
            ),
            ("poisson", self.poisson, (-0.99..=0.499).contains(&self.poisson), "between -0.99 and 0.499"),
            ("tan_phi", self.tan_phi, loss(self.tan_phi) && self.tan_phi <= 2.0, "between 0 and 2"),
            ("mounting_per_s", self.mounting_per_s, loss(self.mounting_per_s), "between 0 and 1e6 1/s"),
            ("gamma_per_s", self.gamma_per_s, loss(self.gamma_per_s), "between 0 and 1e6 1/s"),
            ("eta_s", self.eta_s, loss(self.eta_s) && self.eta_s <= 1.0, "between 0 and 1 s"),
        ];
        match checks.into_iter().find(|(_, _, good, _)| !good) {
            None => self.orthotropy.as_ref().map_or(Ok(()), |wood| wood.validate(&self.name)),
            Some((property, value, _, expected)) => {
                Err(MaterialError::Impossible { name: self.name.clone(), property, value, expected })
            }
        }
    }
}

/// Materials by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialTable {
    materials: Vec<Material>,
}

impl MaterialTable {
    /// The table that ships with the engine.
    pub fn builtin() -> Self {
        Self { materials: BUILTIN.iter().map(Row::material).collect() }
    }

    /// Finds a material by name or alias, ignoring case, and treating `-`, `_` and blanks alike.
    ///
    /// # Errors
    /// [`MaterialError::Unknown`], with the nearest known name if one is close.
    pub fn get(&self, name: &str) -> Result<&Material, MaterialError> {
        let wanted = normalise(name);
        // A later entry wins, so that a user's table can override ours.
        self.materials
            .iter()
            .rev()
            .find(|m| normalise(&m.name) == wanted)
            .or_else(|| self.materials.iter().rev().find(|m| m.aliases.iter().any(|a| normalise(a) == wanted)))
            .ok_or_else(|| MaterialError::Unknown { name: name.to_owned(), suggestion: self.nearest_name(&wanted) })
    }

    /// Adds a material; one of the same name is replaced.
    ///
    /// # Errors
    /// [`MaterialError::Impossible`] if a property is.
    pub fn insert(&mut self, material: Material) -> Result<(), MaterialError> {
        material.validate()?;
        self.materials.retain(|m| normalise(&m.name) != normalise(&material.name));
        self.materials.push(material);
        Ok(())
    }

    /// All materials in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Material> {
        self.materials.iter()
    }

    fn nearest_name(&self, wanted: &str) -> Option<String> {
        self.materials
            .iter()
            .flat_map(|m| std::iter::once(&m.name).chain(&m.aliases))
            .map(|name| (edit_distance(&normalise(name), wanted), name))
            .min()
            .filter(|(distance, name)| *distance <= 2.max(name.len() / 3))
            .map(|(_, name)| name.clone())
    }
}

fn normalise(name: &str) -> String {
    name.trim().to_lowercase().replace(['-', ' '], "_")
}

/// Levenshtein distance, for "did you mean".
pub fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    /// GPa: value, low, high.
    young_gpa: [f64; 3],
    density: [f64; 3],
    poisson: f64,
    tan_phi: [f64; 3],
    mounting: f64,
    gamma: f64,
    eta: f64,
    origin: &'static str,
}

impl Row {
    fn material(&self) -> Material {
        let range = |v: [f64; 3], unit: f64| Range { low: v[1] * unit, high: v[2] * unit };
        Material {
            name: self.name.to_owned(),
            aliases: self.aliases.iter().map(|a| (*a).to_owned()).collect(),
            young_pa: self.young_gpa[0] * 1e9,
            density_kg_m3: self.density[0],
            poisson: self.poisson,
            orthotropy: Orthotropy::builtin(self.name),
            tan_phi: self.tan_phi[0],
            mounting_per_s: self.mounting,
            gamma_per_s: self.gamma,
            eta_s: self.eta,
            young_range_pa: range(self.young_gpa, 1e9),
            density_range_kg_m3: range(self.density, 1.0),
            tan_phi_range: range(self.tan_phi, 1.0),
            origin: self.origin.to_owned(),
        }
    }
}

const HANDBOOK: &str = "engineering handbook values (elastic constants, density); tanφ from the material-damping \
                        literature; Rayleigh γ, η tuned so that T60 at 0.5–5 kHz is that of common objects";

/// The shipped table. `mounting` is an engineering choice inside the 0.5–5 1/s that a hung or lightly held object has.
const BUILTIN: &[Row] = &[
    Row {
        name: "steel",
        aliases: &["iron", "stainless_steel", "metal"],
        young_gpa: [200.0, 190.0, 210.0],
        density: [7850.0, 7700.0, 8050.0],
        poisson: 0.29,
        tan_phi: [3e-4, 1e-4, 1e-3],
        mounting: 0.5,
        gamma: 5.0,
        eta: 3e-8,
        origin: HANDBOOK,
    },
    Row {
        name: "aluminium",
        aliases: &["aluminum", "alloy"],
        young_gpa: [70.0, 68.0, 72.0],
        density: [2700.0, 2640.0, 2810.0],
        poisson: 0.33,
        tan_phi: [5e-4, 1e-4, 1e-3],
        mounting: 0.5,
        gamma: 5.0,
        eta: 5e-8,
        origin: HANDBOOK,
    },
    Row {
        name: "brass",
        aliases: &[],
        young_gpa: [105.0, 97.0, 115.0],
        density: [8500.0, 8400.0, 8730.0],
        poisson: 0.34,
        tan_phi: [5e-4, 2e-4, 1e-3],
        mounting: 0.5,
        gamma: 3.0,
        eta: 5e-8,
        origin: HANDBOOK,
    },
    Row {
        name: "bronze",
        aliases: &["bell_bronze", "bell_metal", "copper_alloy"],
        young_gpa: [110.0, 96.0, 120.0],
        density: [8600.0, 8400.0, 8900.0],
        poisson: 0.34,
        tan_phi: [3e-4, 1e-4, 1e-3],
        mounting: 0.5,
        gamma: 1.5,
        eta: 2e-8,
        origin: "bell bronze (about 20–22 % tin), as for brass; γ and η tuned to the ring of small hand bells",
    },
    Row {
        name: "glass",
        aliases: &["crystal", "soda_lime_glass"],
        young_gpa: [65.0, 50.0, 90.0],
        density: [2500.0, 2200.0, 3000.0],
        poisson: 0.22,
        tan_phi: [1.5e-3, 6e-4, 4e-3],
        mounting: 1.0,
        gamma: 1.0,
        eta: 1e-7,
        origin: HANDBOOK,
    },
    Row {
        name: "ceramic",
        aliases: &["porcelain", "china", "earthenware", "clay"],
        young_gpa: [72.0, 60.0, 300.0],
        density: [2400.0, 2000.0, 3900.0],
        poisson: 0.20,
        tan_phi: [2e-3, 1e-3, 5e-3],
        mounting: 1.0,
        gamma: 6.0,
        eta: 1e-7,
        origin: HANDBOOK,
    },
    Row {
        name: "wood",
        aliases: &["oak", "pine", "maple", "beech", "timber", "plywood"],
        young_gpa: [11.0, 8.0, 16.0],
        density: [700.0, 400.0, 1000.0],
        poisson: 0.30,
        tan_phi: [1e-2, 5e-3, 2e-2],
        mounting: 3.0,
        gamma: 60.0,
        eta: 2e-6,
        origin: "grain direction, treated as isotropic; otherwise as the metals",
    },
    Row {
        name: "spruce",
        aliases: &["sitka_spruce", "tonewood", "soundboard"],
        young_gpa: [11.0, 8.0, 14.0],
        density: [420.0, 350.0, 500.0],
        poisson: 0.30,
        tan_phi: [7e-3, 5e-3, 2e-2],
        mounting: 3.0,
        gamma: 60.0,
        eta: 2e-6,
        origin: "Sitka spruce with its grain, Wood Handbook; tanφ along the grain (about three times as much across it)",
    },
    Row {
        name: "rosewood",
        aliases: &["palisander", "xylophone_bar", "hardwood", "padauk"],
        young_gpa: [20.0, 17.0, 26.0],
        density: [1000.0, 780.0, 1090.0],
        poisson: 0.30,
        tan_phi: [5e-3, 3e-3, 8e-3],
        mounting: 2.0,
        gamma: 20.0,
        eta: 5e-7,
        origin: "xylophone bars (Honduras rosewood) with their grain, E along it; γ, η tuned to bar T60 of 0.3–1 s",
    },
    Row {
        name: "plastic",
        aliases: &["abs", "pvc", "acrylic", "polycarbonate"],
        young_gpa: [2.3, 1.4, 3.2],
        density: [1150.0, 1050.0, 1400.0],
        poisson: 0.37,
        tan_phi: [3e-2, 1e-2, 5e-2],
        mounting: 3.0,
        gamma: 30.0,
        eta: 1e-6,
        origin: HANDBOOK,
    },
    Row {
        name: "rubber",
        aliases: &["elastomer", "silicone"],
        young_gpa: [0.005, 0.001, 0.1],
        density: [1100.0, 900.0, 1300.0],
        poisson: 0.49,
        tan_phi: [0.3, 0.1, 1.0],
        mounting: 5.0,
        gamma: 200.0,
        eta: 1e-4,
        origin: HANDBOOK,
    },
    Row {
        name: "stone",
        aliases: &["granite", "marble", "rock", "slate"],
        young_gpa: [50.0, 30.0, 70.0],
        density: [2650.0, 2400.0, 2900.0],
        poisson: 0.25,
        tan_phi: [4e-3, 2e-3, 1e-2],
        mounting: 2.0,
        gamma: 10.0,
        eta: 3e-7,
        origin: HANDBOOK,
    },
    Row {
        name: "ice",
        aliases: &[],
        young_gpa: [9.3, 9.0, 10.0],
        density: [917.0, 900.0, 920.0],
        poisson: 0.33,
        tan_phi: [1e-2, 5e-3, 3e-2],
        mounting: 2.0,
        gamma: 20.0,
        eta: 1e-6,
        origin: HANDBOOK,
    },
    Row {
        name: "concrete",
        aliases: &["cement", "brick"],
        young_gpa: [30.0, 20.0, 40.0],
        density: [2350.0, 2200.0, 2500.0],
        poisson: 0.20,
        tan_phi: [1e-2, 4e-3, 2e-2],
        mounting: 3.0,
        gamma: 20.0,
        eta: 1e-6,
        origin: HANDBOOK,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_material_is_possible_and_inside_its_own_range() {
        for m in MaterialTable::builtin().iter() {
            m.validate().unwrap();
            for (value, range) in
                [(m.young_pa, m.young_range_pa), (m.density_kg_m3, m.density_range_kg_m3), (m.tan_phi, m.tan_phi_range)]
            {
                assert!(range.low <= value && value <= range.high, "{}: {value} not in {range:?}", m.name);
            }
        }
    }

    #[test]
    fn aliases_and_spelling_find_the_material() {
        let table = MaterialTable::builtin();
        assert_eq!(table.get("Aluminum").unwrap().name, "aluminium");
        assert_eq!(table.get(" oak ").unwrap().name, "wood");
        assert_eq!(table.get("bell metal").unwrap().name, "bronze");
    }

    #[test]
    fn a_typing_error_gets_a_suggestion() {
        let error = MaterialTable::builtin().get("glas").unwrap_err();
        assert_eq!(error.to_string(), "unknown material `glas`; did you mean `glass`?");
    }

    #[test]
    fn a_user_material_overrides_and_is_checked() {
        let mut table = MaterialTable::builtin();
        let mut mine = table.get("steel").unwrap().clone();
        mine.young_pa = 1e9;
        table.insert(mine.clone()).unwrap();
        assert_eq!(table.get("steel").unwrap().young_pa, 1e9);
        mine.poisson = 0.5;
        assert!(table.insert(mine).unwrap_err().to_string().contains("poisson is 0.5"));
    }

    /// T60 = 2.2 / (f tanφ) for pure internal friction, to the rounding of 2.2 = ln(1000)/π.
    #[test]
    fn loss_factor_gives_the_textbook_decay_time() {
        let d = Damping::LossFactor { tan_phi: 1e-3, mounting_per_s: 0.0 }.decay_per_s(1000.0);
        assert!((1000f64.ln() / d - 2.2).abs() < 2e-3);
    }

    #[test]
    fn rayleigh_law_passes_through_its_two_points() {
        let law = Damping::rayleigh_through((200.0, 3.0), (4000.0, 40.0)).unwrap();
        assert!((law.decay_per_s(200.0) - 3.0).abs() < 1e-12);
        assert!((law.decay_per_s(4000.0) - 40.0).abs() < 1e-9);
    }
}
