//! A progress bar on a terminal; nothing when piped.

use eigentone::modal::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs a job with a bar that follows it.
pub fn with_bar<T>(quiet: bool, job: impl FnOnce(&Progress<'_>) -> T) -> T {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(1000), target);
    if let Ok(style) = ProgressStyle::with_template("{msg:>14} [{bar:32}] {percent:>3} %  {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let report = |stage: &str, share: f64| {
        bar.set_message(stage.to_owned());
        bar.set_position((1000.0 * share.clamp(0.0, 1.0)) as u64);
    };
    let result = job(&Progress::new(&report));
    bar.finish_and_clear();
    result
}
