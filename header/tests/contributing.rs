//! CONTRIBUTING's section on stamps, reports and phases names files that exist.

use std::path::Path;

#[test]
fn the_guide_to_stamps_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Add a stamp")).unwrap();
    let files: Vec<&str> = section.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains('/')).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        assert!(root.join(file).is_file(), "{file}");
    }
}
