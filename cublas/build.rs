//! Sets the library's name and the version of its symbols for which programs ask.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let package = std::env::var("CARGO_PKG_NAME").expect("Cargo sets it");
    let soname = match package.as_str() {
        "warploom-cublas12" => "libcublas.so.12",
        "warploom-cublas13" => "libcublas.so.13",
        _ => panic!("{package} is no build of the library"),
    };
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Only GNU's linker gives each symbol the library's own name as its version.
        for argument in [
            "-fuse-ld=bfd",
            &format!("-Wl,-soname,{soname}"),
            "-Wl,--default-symver",
            "-Wl,-z,nodelete",
        ] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
}
