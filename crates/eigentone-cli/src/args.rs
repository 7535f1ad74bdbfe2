//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use eigentone::core::Vec3;
use eigentone::modal::Support;
use std::path::PathBuf;

/// Give it a mesh and a material, and hear it.
#[derive(Parser)]
#[command(name = "eigentone", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Make five objects and strike them, play three scenes, and write sounds, pictures and a page: start here
    Demo(DemoArgs),
    /// Make a model from a mesh (OBJ, STL, PLY, OFF, glTF), from tetrahedra (.node/.ele), or from an edited mode table (CSV, JSON)
    Model(ModelArgs),
    /// Make a model of a string, bar, plate or disc in closed form
    Shape(ShapeArgs),
    /// Fit a model to recordings of a struck object
    Fit(FitArgs),
    /// Hit a model and write the sound
    Strike(StrikeArgs),
    /// Simulate a scene and write its sound
    Render(RenderArgs),
    /// Play a scene live, on the sound device or without one
    Play(PlayArgs),
    /// Strike, drag, shape and export sounding objects in the browser
    Studio(StudioArgs),
    /// Compute the acoustics of a scene's rooms
    Bake(BakeArgs),
    /// Make one field of the shards of a bake
    Merge(MergeArgs),
    /// Tell what a field says about sound from one point to another
    Query(QueryArgs),
    /// Tell what is in a mesh, model, mode table, scene, field or sound, and what is wrong with it
    Inspect(InspectArgs),
    /// List the materials
    Materials(MaterialsArgs),
}

#[derive(Args)]
pub struct DemoArgs {
    /// Folder to write to; created if need be
    #[arg(short, long, default_value = "demo")]
    pub output: PathBuf,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

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

#[derive(Args)]
pub struct ShapeArgs {
    #[command(subcommand)]
    pub shape: ShapeCommand,
}

#[derive(Subcommand)]
pub enum ShapeCommand {
    /// A stiff string along x
    String {
        /// Length in m
        #[arg(long)]
        length: f64,
        /// Diameter in m
        #[arg(long)]
        diameter: f64,
        /// Tension in N
        #[arg(long, conflicts_with = "pitch", required_unless_present = "pitch")]
        tension: Option<f64>,
        /// Frequency of the first partial in Hz
        #[arg(long)]
        pitch: Option<f64>,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A bar along x that bends along z
    Bar {
        /// Length in m
        #[arg(long)]
        length: f64,
        /// Width in m
        #[arg(long)]
        width: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Clamped at one end (x < 0) instead of free
        #[arg(long)]
        clamped: bool,
        /// Partials as the maker tunes them: `xylophone` (1:3:6), `marimba` (1:4:9.2), or ratios such as 1,2,3
        #[arg(long, value_name = "NAME|RATIOS")]
        tuning: Option<String>,
        /// Frequency of the first partial in Hz
        #[arg(long)]
        pitch: Option<f64>,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A rectangular plate in the xy plane
    Plate {
        /// Length along x in m
        #[arg(long)]
        length: f64,
        /// Width along y in m
        #[arg(long)]
        width: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Simply supported edges instead of free ones
        #[arg(long)]
        supported: bool,
        #[command(flatten)]
        common: ShapeCommon,
    },
    /// A disc in the xy plane
    Disc {
        /// Radius in m
        #[arg(long)]
        radius: f64,
        /// Thickness in m
        #[arg(long)]
        thickness: f64,
        /// Clamped rim instead of a free one
        #[arg(long)]
        clamped: bool,
        #[command(flatten)]
        common: ShapeCommon,
    },
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct ShapeCommon {
    #[command(flatten)]
    pub material: MaterialArgs,
    /// File to write, usually NAME.modal.safetensors
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// At most this many modes, the lowest
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub modes: usize,
    /// Hear one point of the shape (a pickup) instead of all it radiates
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub pickup: Option<Vec3>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct FitArgs {
    /// Recordings (WAV, FLAC) of one object, each with the struck place in metres if there are several: REC@X,Y,Z
    #[arg(required = true, value_name = "RECORDING[@X,Y,Z]", value_parser = recording)]
    pub recordings: Vec<Recording>,
    /// Model file to write
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write original (left) and resynthesis (right), take after take
    #[arg(long, value_name = "WAV")]
    pub compare: Option<PathBuf>,
    /// Draw original and resynthesis
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// At most this many modes
    #[arg(long, value_name = "N", default_value_t = 160)]
    pub modes: usize,
    /// Leave out modes this far below the strongest
    #[arg(long, value_name = "DB", default_value_t = 60.0)]
    pub floor: f64,
    /// Lowest frequency in Hz
    #[arg(long, value_name = "HZ", default_value_t = 20.0)]
    pub min_frequency: f64,
    /// Highest frequency in Hz
    #[arg(long, value_name = "HZ", default_value_t = 18_000.0)]
    pub max_frequency: f64,
    /// Material to note in the model
    #[arg(long, value_name = "NAME", default_value = "")]
    pub material: String,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct RenderArgs {
    /// Scene, a TOML file; docs/scenes.md has all keys. Or a take of the studio, NAME.take.json: the same samples as were recorded
    pub scene: PathBuf,
    /// Sound to write, in stereo
    #[arg(short, long, value_name = "WAV")]
    pub output: PathBuf,
    /// Write what it took: events, modes, times, level
    #[arg(long, value_name = "JSON")]
    pub stats: Option<PathBuf>,
    /// Write what happened: impacts and contacts with their times
    #[arg(long, value_name = "JSON")]
    pub events: Option<PathBuf>,
    /// Draw the events, the spectrogram and where particles struck
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Write the animation of soft bodies, as .glb or .gltf with morph targets
    #[arg(long, value_name = "GLB")]
    pub animation: Option<PathBuf>,
    /// Write a web page that plays animation and sound in step; the .glb is written too
    #[arg(long, value_name = "HTML")]
    pub player: Option<PathBuf>,
    /// Draw frames of the animation side by side
    #[arg(long, value_name = "PNG")]
    pub strip: Option<PathBuf>,
    /// Write the exact motion of each soft body beside the sound, as a .pc2 point cache
    #[arg(long)]
    pub point_cache: bool,
    /// Compute at most this many modes at once, in place of the scene's budget
    #[arg(long, value_name = "MODES")]
    pub budget: Option<usize>,
    /// Seed in place of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Threads that make models; as many as there are cores if not given. The sound is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write the contact stream, one JSON line per step (.jsonl)
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Take the contacts from a recorded stream instead of simulating
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Write the dry sound of every body that sounds into this folder, one WAV each, in Pa at one metre
    #[arg(long, value_name = "DIR")]
    pub stems: Option<PathBuf>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Samples of the file: pcm24 if not given, and of a take float32, as it was recorded
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct StudioArgs {
    /// Scene to open, a TOML file; a table of things if not given
    pub scene: Option<PathBuf>,
    /// Port on 127.0.0.1; any that is free if not given
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address, but open no browser
    #[arg(long)]
    pub no_open: bool,
    /// Serve the page from this folder in place of the one that is built in
    #[arg(long, value_name = "DIR")]
    pub page_dir: Option<PathBuf>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Print the address as one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct PlayArgs {
    /// Scene, a TOML file; it begins anew when it is over
    pub scene: PathBuf,
    /// Play against the clock without a sound device, and report what it took
    #[arg(long)]
    pub headless: bool,
    /// Stop after this many seconds; with ctrl-c if not given
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Samples that are asked for at a time, without a device
    #[arg(long, value_name = "SAMPLES", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub block: u32,
    /// Compute at most this many modes at once, in place of the scene's budget
    #[arg(long, value_name = "MODES")]
    pub budget: Option<usize>,
    /// Take at most this much processor time per 64 samples, in microseconds: quality falls in the order of audibility
    #[arg(long, value_name = "US")]
    pub budget_us: Option<f64>,
    /// Time from motion to sound, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30.0)]
    pub latency: f64,
    /// Seed in place of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Make all models anew, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct StrikeArgs {
    /// Model
    pub model: PathBuf,
    /// Sound to write
    #[arg(short, long, value_name = "WAV", required_unless_present = "play")]
    pub output: Option<PathBuf>,
    /// Play it on this machine's sound device (only if built with `--features device`)
    #[arg(long)]
    pub play: bool,
    /// Strike the surface nearest to this point, in metres, z up; where it sounds loudest if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub at: Option<Vec3>,
    /// Impulse in N·s. If given, the level is physical: full scale is 20 Pa at 1 m. Otherwise the peak is at -3 dBFS
    #[arg(long, value_name = "NS")]
    pub impulse: Option<f64>,
    /// Stiffness of the contact in N/m, or `felt` (1e4), `rubber` (1e5), `wood` (1e6), `plastic` (5e6), `metal` (1e8)
    #[arg(long, value_name = "K", default_value = "wood", value_parser = hardness)]
    pub hardness: f64,
    /// Mass of the mallet in kg
    #[arg(long, value_name = "KG", default_value_t = 0.02)]
    pub mass: f64,
    /// Length of the sound in s; until it has died away (10 s at most) if not given
    #[arg(long, value_name = "S")]
    pub duration: Option<f64>,
    /// Sample rate in Hz
    #[arg(long, value_name = "HZ", default_value_t = 44_100)]
    pub rate: u32,
    /// Gain in dB on top of the level
    #[arg(long, value_name = "DB", default_value_t = 0.0, allow_hyphen_values = true)]
    pub gain: f64,
    /// Samples of the file
    #[arg(long, value_enum, default_value = "pcm24")]
    pub format: Format,
    /// Draw the spectrogram
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    Pcm16,
    Pcm24,
    Float32,
}

#[derive(Args)]
pub struct BakeArgs {
    /// Scene with an [acoustics] table; docs/acoustics.md has all keys
    pub scene: PathBuf,
    /// Field to write, a .field.safetensors file
    #[arg(short, long, value_name = "FIELD", required_unless_present = "estimate")]
    pub output: Option<PathBuf>,
    /// Only tell what it would take
    #[arg(long)]
    pub estimate: bool,
    /// Go on where an earlier bake was stopped or killed
    #[arg(long)]
    pub resume: bool,
    /// Only a share of the probes: number I, from 0, of N
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<[u32; 2]>,
    /// Threads; as many as there are cores if not given. The field is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory that simulations may take together
    #[arg(long, value_name = "GB", default_value_t = 8.0)]
    pub memory: f64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MergeArgs {
    /// All shards of a bake
    #[arg(required = true)]
    pub fields: Vec<PathBuf>,
    /// Field to write
    #[arg(short, long, value_name = "FIELD")]
    pub output: PathBuf,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct QueryArgs {
    /// A .field.safetensors file
    pub field: PathBuf,
    /// Where the sound comes from
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub source: Vec3,
    /// Where it is heard
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub listener: Vec3,
    /// Where the listener looks; at the source if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub look: Option<Vec3>,
    /// Write the impulse response that the parameters stand for, as 32-bit floats; one is the direct sound at 1 m
    #[arg(long, value_name = "WAV")]
    pub ir: Option<PathBuf>,
    /// Sample rate of the impulse response in Hz
    #[arg(long, value_name = "HZ", default_value_t = 44_100, value_parser = clap::value_parser!(u32).range(8000..=192_000))]
    pub rate: u32,
    /// Draw the impulse response and its decay
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

fn shard(text: &str) -> Result<[u32; 2], String> {
    let parts: Option<(u32, u32)> =
        text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    match parts {
        Some((i, n)) if i < n && n <= 100_000 => Ok([i, n]),
        _ => Err("expected I/N with I from 0 and below N, for instance 0/4".to_owned()),
    }
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct InspectArgs {
    /// Mesh, tetrahedra, model, mode table, scene, field or sound
    pub file: PathBuf,
    /// Draw it
    #[arg(long, value_name = "PNG")]
    pub plot: Option<PathBuf>,
    /// Draw what this probe of a field hears, counted from 0; the one in the middle if not given
    #[arg(long, value_name = "N", requires = "plot", conflicts_with = "at")]
    pub probe: Option<usize>,
    /// Draw what the probe of a field nearest to this point hears
    #[arg(long, value_name = "X,Y,Z", requires = "plot", value_parser = point, allow_hyphen_values = true)]
    pub at: Option<Vec3>,
    /// Export the modes of a model for editing (.csv or .json); `eigentone model` takes them back
    #[arg(long, value_name = "TABLE")]
    pub export: Option<PathBuf>,
    /// Multiply a mesh's lengths by this to get metres
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub scale: f64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MaterialsArgs {
    /// Your own materials, a TOML file with [[material]] tables
    #[arg(long, value_name = "TOML")]
    pub materials: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// A recording and where it was struck.
#[derive(Clone)]
pub struct Recording {
    pub file: PathBuf,
    pub place: Option<Vec3>,
}

fn recording(text: &str) -> Result<Recording, String> {
    // A file name may hold an @ of its own: only what parses as a point is one.
    if let Some((file, place)) = text.rsplit_once('@') {
        match point(place) {
            Ok(place) => return Ok(Recording { file: file.into(), place: Some(place) }),
            Err(error) if place.contains(',') => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Recording { file: text.into(), place: None })
}

/// Parses `X,Y,Z` in metres.
pub fn point(text: &str) -> Result<Vec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse::<f64>()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, z]) if x.is_finite() && y.is_finite() && z.is_finite() => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("expected three numbers in metres such as 0.1,0,0.02, found `{text}`")),
    }
}

fn hardness(text: &str) -> Result<f64, String> {
    let stiffness = match text {
        "felt" => 1e4,
        "rubber" => 1e5,
        "wood" => 1e6,
        "plastic" => 5e6,
        "metal" => 1e8,
        number => number
            .parse()
            .map_err(|_| "expected a stiffness in N/m, or felt, rubber, wood, plastic or metal".to_owned())?,
    };
    if (1.0..=1e12).contains(&stiffness) {
        Ok(stiffness)
    } else {
        Err("expected a stiffness between 1 and 1e12 N/m".to_owned())
    }
}
