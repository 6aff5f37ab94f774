//! Structural rules that the dependencies of crates do not enforce.

use std::path::Path;

/// Proves that code has no further order in which lanes, chunks and warps may run. A new order must
/// replace an old one.
#[test]
fn orders_of_execution_are_these() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/execution-orders.md")).unwrap();
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let known = [
        "Chunks",
        "Full warps (*groups*)",
        "Strips (*sweeps*)",
        "Loops in registers",
        "Scalarized loops",
        "Lanes one by one",
        "Gathers and scatters",
        "Going back: bailouts",
    ];
    assert_eq!(sections, known);
    // Each order with a folder has a section that names the folder.
    for entry in std::fs::read_dir(root.join("src/cranelift/lower")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Folders of families of operations.
        let is_family = ["arrays", "atomic", "rounding", "special"].contains(&&*name);
        let is_named = text.contains(&format!("`src/cranelift/lower/{name}/`"));
        assert!(
            !path.is_dir() || is_family || is_named,
            "{name} is neither an order nor a family of operations"
        );
    }
}
