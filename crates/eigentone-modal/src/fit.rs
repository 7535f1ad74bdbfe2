//! Models fitted to recordings.
