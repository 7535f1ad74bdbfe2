//! What the tests of the command share.
#![allow(dead_code)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of its own, and the command in it.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_eigentone")).current_dir(self.folder.path()).args(args).output().unwrap()
    }

    /// Runs a command that must succeed and returns what it printed.
    pub fn good(&self, args: &[&str]) -> String {
        let out = self.run(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.good(args)).unwrap()
    }

    /// Runs a command that must fail with a message that holds all the words, and returns its exit status.
    pub fn bad(&self, args: &[&str], words: &[&str]) -> i32 {
        let out = self.run(args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let code = out.status.code().unwrap();
        assert!(code == 1 || code == 2, "{args:?}: exit {code}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{args:?}: no `{word}` in: {said}");
        }
        code
    }
}
