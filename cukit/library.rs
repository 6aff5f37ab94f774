//! The build script of a library that programs load: sets its name, and the version of its symbols for
//! which programs ask.
//!
//! The package `warploom-cublas12` is `libcublas.so.12`.

fn main() {
    println!("cargo::rerun-if-changed=../../cukit/library.rs");
    let package = std::env::var("CARGO_PKG_NAME").expect("Cargo sets it");
    let name = package.strip_prefix("warploom-").expect("each package of ours has the prefix");
    let (name, version) = name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    let name = match name {
        "nvjitlink" => "nvJitLink",
        "cublaslt" => "cublasLt",
        name => name,
    };
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Only GNU's linker gives each symbol the library's own name as its version.
        for argument in [
            "-fuse-ld=bfd",
            &format!("-Wl,-soname,lib{name}.so.{version}"),
            "-Wl,--default-symver",
            "-Wl,-z,nodelete",
        ] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
}
