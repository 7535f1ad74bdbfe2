//! Making models of meshes.

use super::point;
use clap::{Args, ValueEnum};
use eigentone::core::Vec3;
use eigentone::modal::Support;
use std::path::PathBuf;

#[derive(Args)]
pub struct MaterialArgs {
    /// Material, by name or alias; `eigentone materials` lists them. Without it, a model takes the one that a glTF or OBJ names
    #[arg(short, long, value_name = "NAME")]
    pub material: Option<String>,
    /// Your own materials, a TOML file with [[material]] tables
    #[arg(long, value_name = "TOML")]
    pub materials: Option<PathBuf>,
    /// Damping law: `rayleigh`, or `loss` (loss factor plus mounting loss); meshes default to rayleigh, shapes to loss
    #[arg(long, value_enum)]
    pub damping: Option<Damping>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Damping {
    Rayleigh,
    Loss,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum MethodArg {
    /// Whatever fits: a shell if the surface is open, walls if it closes around thin ones, a solid otherwise
    Auto,
    /// A thin shell along the surface
    Shell,
    /// A thin shell along the middle of the walls that the surface closes around
    Walls,
    /// The filled inside of the surface
    Solid,
    /// Point masses and springs along the surface
    Springs,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum DetailArg {
    /// About a second
    Draft,
    /// A few seconds: every mode that is heard by itself, and more
    Normal,
    /// As many modes as the limits allow
    Fine,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SpringsArg {
    /// Weighted with the area at each edge: isotropic, independent of the mesh
    Area,
    /// k = E·t for every edge, as the paper has it
    Uniform,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct ModelArgs {
    /// Mesh, .node/.ele file, or mode table
    pub mesh: PathBuf,
    #[command(flatten)]
    pub material: MaterialArgs,
    /// File to write, usually NAME.modal.safetensors
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Thickness of a shell in metres
    #[arg(short, long, value_name = "M")]
    pub thickness: Option<f64>,
    /// How to look at the mesh
    #[arg(long, value_enum, default_value = "auto")]
    pub method: MethodArg,
    /// How finely
    #[arg(long, value_enum, default_value = "normal")]
    pub detail: DetailArg,
    /// How it is held, if it is: clamped-border, pinned-border, feet, feet:4, hang:X,Y,Z or point:X,Y,Z; may be given several times
    #[arg(long, value_name = "HOW")]
    pub support: Vec<Support>,
    /// Direction of the grain, for woods
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub grain: Option<Vec3>,
    /// Multiply the file's lengths by this to get metres: 0.001 for millimetres, 0.0254 for inches
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub scale: f64,
    /// At most this many modes, the lowest
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub modes: usize,
    /// Highest frequency in Hz
    #[arg(long, value_name = "HZ", default_value_t = 22_000.0)]
    pub max_frequency: f64,
    /// With --method springs: stiffness of the edges
    #[arg(long, value_enum, default_value = "area")]
    pub springs: SpringsArg,
    /// With --method springs: refine up to this many vertices so that the highest frequency is carried; 0 takes the mesh as it is
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub refine: usize,
    /// At most this many vertices of a shell
    #[arg(long, value_name = "N", default_value_t = 6000)]
    pub max_vertices: usize,
    /// Edge of a solid's cells in metres; chosen by size, walls and frequency if not given
    #[arg(long, value_name = "M")]
    pub cell: Option<f64>,
    /// Largest number of unknowns of a solid
    #[arg(long, value_name = "N", default_value_t = 45_000)]
    pub max_unknowns: usize,
    /// At most this many contact sites
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub sites: usize,
    /// Scale all frequencies so that the first mode has this one
    #[arg(long, value_name = "HZ")]
    pub tune: Option<f64>,
    /// Merge modes that the ear cannot tell apart
    #[arg(long)]
    pub compress: bool,
    /// With --compress: keep modes apart whose beating can be heard
    #[arg(long, requires = "compress")]
    pub keep_beats: bool,
    /// Leave out modes that others mask wherever it is struck, at 60 dB; DB is how far below its own level a mode masks: 5 is inaudible to most, 0 leaves out more
    #[arg(long, value_name = "DB")]
    pub self_mask: Option<f64>,
    /// With a mode table: the model it was exported from, whose shapes are kept
    #[arg(long, value_name = "MODEL")]
    pub base: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}
