//! The names that the library exports, compared with the table and with NVIDIA's library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[cfg(runtime = "11")]
use cudart11::table;
#[cfg(runtime = "12")]
use cudart12::table;
#[cfg(runtime = "13")]
use cudart13::table;
use object::{Object, ObjectSymbol};

/// The version, and the file name by which programs look for the library.
const LIBRARY: (u8, &str) = if cfg!(runtime = "11") {
    (11, "libcudart.so.11.0")
} else if cfg!(runtime = "12") {
    (12, "libcudart.so.12")
} else {
    (13, "libcudart.so.13")
};

/// Returns the functions that a library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let bytes =
        std::fs::read(library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let file = object::File::parse(&*bytes).unwrap();
    let symbols =
        file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let names = symbols.map(|symbol| symbol.name().unwrap().to_string());
    // The symbols' version is itself a symbol.
    names.filter(|name| name != LIBRARY.1).collect()
}

fn table() -> BTreeSet<String> {
    table::names(LIBRARY.0).collect()
}

#[test]
fn the_library_exports_the_table() {
    let file = format!("libcudart{}.so", LIBRARY.0);
    let library = std::env::current_exe().unwrap().with_file_name(file);
    assert_eq!(exported(&library), table());
}

#[test]
fn no_name_comes_twice() {
    assert_eq!(table::names(LIBRARY.0).count(), table().len());
}

/// Checks NVIDIA's libraries in the folders that `WARPLOOM_NVIDIA_CUDART` names, such as
/// `site-packages/nvidia/cuda_runtime/lib`, and in an installed toolkit.
#[test]
fn the_table_has_the_names_of_nvidias_library() {
    let named = std::env::var_os("WARPLOOM_NVIDIA_CUDART").unwrap_or_default();
    let toolkit = PathBuf::from("/usr/local/cuda/lib64");
    let folders: Vec<PathBuf> = std::env::split_paths(&named).chain([toolkit]).collect();
    let libraries =
        folders.iter().map(|folder| folder.join(LIBRARY.1)).filter(|path| path.is_file());
    for library in libraries {
        // An older library of this version has fewer names.
        let missing: Vec<String> = exported(&library).difference(&table()).cloned().collect();
        assert!(
            missing.is_empty(),
            "{} has names that the table has not: {missing:?}",
            library.display()
        );
    }
}
