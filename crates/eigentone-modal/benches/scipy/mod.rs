//! The same eigenvalues by scipy, for comparison, and the clock both sides are measured with.

use eigentone_modal::eigen::Pencil;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// CPU seconds of this process so far; wall seconds where the system does not tell.
pub fn cpu_seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return wall };
    // Fields 14 and 15 after the parenthesised name, in ticks of 10 ms.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    match (fields.get(11).and_then(|f| f.parse::<f64>().ok()), fields.get(12).and_then(|f| f.parse::<f64>().ok())) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => wall,
    }
}

/// Eigenvalues and CPU seconds of scipy on the same pencil.
pub fn eigsh(pencil: &Pencil, most: usize) -> Option<(Vec<f64>, f64)> {
    let folder = std::env::temp_dir().join(format!("eigentone-eigen-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let result = write_matrices(pencil, &folder).ok().and_then(|()| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scipy_eigsh.py");
        let run = Command::new("python3")
            .env("OPENBLAS_NUM_THREADS", "1")
            .env("OMP_NUM_THREADS", "1")
            .args([script.as_os_str(), folder.as_os_str(), most.to_string().as_ref()])
            .output()
            .ok()?;
        let text = String::from_utf8(run.stdout).ok()?;
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let (seconds, values) = numbers.split_first()?;
        (run.status.success() && values.len() == most).then(|| (values.to_vec(), *seconds))
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// Coordinate lists of K and M as raw little-endian arrays.
fn write_matrices(pencil: &Pencil, folder: &Path) -> std::io::Result<()> {
    let mut files = ["rows", "columns", "stiffness", "mass"]
        .map(|name| std::fs::File::create(folder.join(name)).map(std::io::BufWriter::new))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut outcome = Ok(());
    pencil.for_each(|i, j, block, mass| {
        for (k, row) in block.iter().enumerate() {
            for (l, &stiffness) in row.iter().enumerate() {
                let mass = if k == l { mass } else { 0.0 };
                let index = [3 * i + k, 3 * j + l].map(|n| (n as u32).to_le_bytes());
                let values = [stiffness.to_le_bytes(), mass.to_le_bytes()];
                let mut write = || -> std::io::Result<()> {
                    files[0].write_all(&index[0])?;
                    files[1].write_all(&index[1])?;
                    files[2].write_all(&values[0])?;
                    files[3].write_all(&values[1])
                };
                if outcome.is_ok() {
                    outcome = write();
                }
            }
        }
    });
    outcome?;
    files.iter_mut().try_for_each(Write::flush)
}
