//! ARCHITECTURE.md names only what exists.

use std::path::Path;

#[test]
fn every_path_in_the_architecture_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|p| p.contains('/')).collect();
    assert!(paths.len() > 25, "{}", paths.len());
    for path in paths {
        assert!(root.join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
}
