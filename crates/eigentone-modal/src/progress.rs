//! How a long job tells where it is.

/// Receives the name of the current stage and the share of it that is done, 0 to 1.
#[derive(Clone, Copy)]
pub struct Progress<'a>(&'a (dyn Fn(&str, f64) + Sync));

impl<'a> Progress<'a> {
    /// Calls `report` now and then during a job.
    pub fn new(report: &'a (dyn Fn(&str, f64) + Sync)) -> Self {
        Self(report)
    }

    /// Tells nobody.
    pub fn silent() -> Progress<'static> {
        Progress(&|_, _| {})
    }

    /// Reports a stage.
    pub fn report(&self, stage: &str, share: f64) {
        (self.0)(stage, share);
    }
}
