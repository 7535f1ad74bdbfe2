//! What the command says: text for people, one JSON document for programs, errors with a way out.

use eigentone::Error;
use eigentone::core::material::MaterialError;
use eigentone::core::mesh::repair::MeshError;
use eigentone::core::mesh::unit_guesses;
use eigentone::modal::MeshModelError;
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// Why the command failed.
pub enum Failure {
    /// The job could not be done.
    Job(eigentone::Error),
    /// The job could not be done, and this is what to do.
    Advised(Box<eigentone::Error>, String),
    /// The same, in words that say what to do.
    Other(String),
    /// The command line contradicts itself.
    Usage(String),
}

impl From<eigentone::Error> for Failure {
    fn from(error: eigentone::Error) -> Self {
        Failure::Job(error)
    }
}

macro_rules! job_failure {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Job(error.into())
            }
        })*
    };
}

job_failure!(
    eigentone::io::ReadError,
    eigentone::io::WriteError,
    eigentone::core::material::MaterialError,
    eigentone::modal::analytic::AnalyticError,
    eigentone::synth::EngineError
);

#[cfg(feature = "device")]
job_failure!(eigentone::device::DeviceError);

impl Failure {
    /// 2 for wrong usage, 1 for the rest.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Job(_) | Failure::Advised(..) | Failure::Other(_) => 1,
            Failure::Usage(_) => 2,
        })
    }
}

/// Tells on standard error what went wrong and what to do.
pub fn print_failure(failure: &Failure) {
    match failure {
        Failure::Other(message) => eprintln!("error: {message}"),
        Failure::Usage(message) => eprintln!("error: {message}\n\nFor more information, try '--help'."),
        Failure::Job(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = command_hint(error).map(str::to_owned).or_else(|| error.hint()) {
                eprintln!("  hint: {hint}");
            }
        }
        Failure::Advised(error, hint) => eprintln!("error: {error}\n  hint: {hint}"),
    }
}

/// The way out on the command line, where the library cannot know it.
fn command_hint(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Material(MaterialError::Unknown { .. }) => {
            "`eigentone materials` lists all; --materials FILE.toml adds your own"
        }
        Error::Mesh { source: MeshError::TooLarge(_), .. }
        | Error::Model {
            source: MeshModelError::TooLarge { .. } | MeshModelError::Mesh(MeshError::TooLarge(_)), ..
        } => {
            "if the file is not in metres, use --scale: 0.001 for millimetres, 0.01 for centimetres, 0.0254 for inches"
        }
        Error::Model { source: MeshModelError::NotClosed { .. }, .. } => "use --method shell with --thickness",
        Error::Model { source: MeshModelError::TooThin { .. }, .. } => {
            "use --method shell, a larger --cell, or raise --max-unknowns"
        }
        Error::Model { source: MeshModelError::Silent { .. }, .. } => {
            "small or stiff bodies ring above the band: raise --max-frequency. Is the mesh in metres? If not, use --scale"
        }
        Error::UnfinishedBake { .. } => "--resume goes on with it",
        _ => return None,
    })
}

/// The sentence for a mesh whose size, after it was multiplied by `scale`, makes one ask in which unit it was drawn.
pub fn unit_advice(diagonal_m: f64, scale: f64) -> Option<String> {
    let guesses = unit_guesses(diagonal_m);
    let ways: Vec<String> = guesses
        .iter()
        .map(|g| {
            // Without the noise of binary fractions.
            let factor: f64 = format!("{:.6e}", g.factor * scale).parse().unwrap_or(g.factor * scale);
            format!("if it {} use --scale {factor} ({} then)", g.reason, length(diagonal_m * g.factor))
        })
        .collect();
    (!ways.is_empty()).then(|| format!("the mesh is {} across; {}", length(diagonal_m), ways.join(", ")))
}

/// A length for people.
pub fn length(metres: f64) -> String {
    match metres {
        m if m >= 1e4 => format!("{m:.2e} m"),
        m if m >= 10.0 => format!("{m:.0} m"),
        m if m >= 1.0 => format!("{m:.1} m"),
        m if m >= 0.1 => format!("{:.0} cm", 1e2 * m),
        m if m >= 1e-4 => format!("{:.1} mm", 1e3 * m),
        m => format!("{m:.2e} m"),
    }
}

/// Tells on standard error what to worry about.
pub fn warn(warning: impl Display) {
    eprintln!("warning: {warning}");
}

/// Prints a line; a closed pipe is no reason to panic.
pub fn say(line: impl Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints the one JSON document of `--json`.
pub fn say_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => say(text),
        Err(error) => eprintln!("error: the result cannot be written as JSON: {error}"),
    }
}

/// What was decided and what to worry about, one a line.
pub fn say_remarks(notes: &[String], warnings: &[String]) {
    for note in notes {
        say(format_args!("note: {note}"));
    }
    for warning in warnings {
        say(format_args!("warning: {warning}"));
    }
}

/// A file's size for people.
pub fn size(path: &std::path::Path) -> String {
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len()) as f64;
    if bytes < 1e6 { format!("{:.0} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}
