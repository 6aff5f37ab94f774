//! Sets the library's name and the version of its symbols for which programs ask.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Only GNU's linker gives each symbol the library's own name as its version.
        for argument in [
            "-fuse-ld=bfd",
            "-Wl,-soname,libcublas.so.12",
            "-Wl,--default-symver",
            "-Wl,-z,nodelete",
        ] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
}
