//! What shapes a model besides mesh and material.

use super::MeshModelError;
use crate::Detail;
use crate::springs::Springs;
use crate::supports::Supports;
use eigentone_core::Grain;
use eigentone_core::material::DampingLaw;

/// How to look at a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodChoice {
    /// Whatever fits: a shell if the surface is open, its middle surface if it closes around thin walls, a solid otherwise.
    #[default]
    Auto,
    /// A thin shell along the surface.
    Shell,
    /// A thin shell along the middle of the walls that the surface closes around.
    Walls,
    /// The filled inside of the surface.
    Solid,
    /// Point masses and springs along the surface, as in Raghuvanshi & Lin (2006).
    Springs,
}

/// Everything that shapes a model besides mesh and material. The defaults suit objects of everyday size.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshModelSettings {
    /// A name for the model.
    pub name: String,
    /// Shell, walls, solid or springs.
    pub method: MethodChoice,
    /// How finely the body is modelled.
    pub detail: Detail,
    /// Thickness of a shell in metres. If not given, the measured wall, or a hundredth of the size of an open surface.
    pub thickness_m: Option<f64>,
    /// How the body was cut, for materials with a grain.
    pub grain: Grain,
    /// How it is held; free if nothing is said.
    pub supports: Supports,
    /// Stiffness of the edges, with [`MethodChoice::Springs`].
    pub springs: Springs,
    /// Which damping law of the material to use.
    pub damping: DampingLaw,
    /// Lowest frequency kept, in Hz.
    pub lowest_hz: f64,
    /// Highest frequency kept, in Hz.
    pub highest_hz: f64,
    /// At most this many modes, the lowest.
    pub max_modes: usize,
    /// At most this many contact sites.
    pub max_sites: usize,
    /// With [`MethodChoice::Springs`]: split triangles until the mesh can carry `highest_hz`, up to this many vertices; 0 leaves it as it is.
    pub refine_vertices: usize,
    /// At most this many vertices of a shell.
    pub max_vertices: usize,
    /// Edge of a solid's cells in metres; chosen by size, wall and frequency if not given.
    pub cell_m: Option<f64>,
    /// Solids with more unknowns than this get coarser cells, or become shells.
    pub max_unknowns: usize,
    /// Multiplies all frequencies (and so stands for an unknown stiffness): `λ → s²λ`.
    pub frequency_scale: f64,
}

impl Default for MeshModelSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            method: MethodChoice::Auto,
            detail: Detail::Normal,
            thickness_m: None,
            grain: Grain::default(),
            supports: Supports::default(),
            springs: Springs::AreaWeighted,
            damping: DampingLaw::Rayleigh,
            lowest_hz: *eigentone_core::AUDIBLE_HZ.start(),
            highest_hz: *eigentone_core::AUDIBLE_HZ.end(),
            max_modes: 2000,
            max_sites: 1024,
            refine_vertices: 2500,
            max_vertices: 6000,
            cell_m: None,
            max_unknowns: 45_000,
            frequency_scale: 1.0,
        }
    }
}

impl MeshModelSettings {
    pub(super) fn check(&self) -> Result<(), MeshModelError> {
        let setting = |what, value, expected, good: bool| {
            if good { Ok(()) } else { Err(MeshModelError::Setting { what, value, expected }) }
        };
        if let Some(t) = self.thickness_m {
            setting("thickness", t, "above 0 and at most 100 m", t > 0.0 && t <= 100.0)?;
        }
        if let Some(c) = self.cell_m {
            setting("cell", c, "above 0 and at most 100 m", c > 0.0 && c <= 100.0)?;
        }
        let (low, high) = (self.lowest_hz, self.highest_hz);
        setting("the lowest frequency", low, "at least 1 Hz", low >= 1.0)?;
        let good = high > low && high <= 96_000.0;
        setting("the highest frequency", high, "above the lowest and at most 96000 Hz", good)?;
        let scale = self.frequency_scale;
        setting("the frequency scale", scale, "between 0.01 and 100", (0.01..=100.0).contains(&scale))?;
        let modes = (1..=20_000).contains(&self.max_modes);
        setting("the number of modes", self.max_modes as f64, "between 1 and 20000", modes)?;
        let sites = (4..=65_536).contains(&self.max_sites);
        setting("the number of sites", self.max_sites as f64, "between 4 and 65536", sites)?;
        let vertices = (16..=100_000).contains(&self.max_vertices);
        setting("the number of vertices", self.max_vertices as f64, "between 16 and 100000", vertices)
    }
}
