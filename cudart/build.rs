//! Sets the version of the runtime library that this package builds, and the linker's options.

fn main() {
    let package = std::env::var("CARGO_PKG_NAME").expect("Cargo sets it");
    let (version, soname) = match package.as_str() {
        "warploom-cudart11" => (11, "libcudart.so.11.0"),
        "warploom-cudart12" => (12, "libcudart.so.12"),
        "warploom-cudart13" => (13, "libcudart.so.13"),
        _ => panic!("{package} is no build of the runtime library"),
    };
    println!("cargo:rustc-check-cfg=cfg(runtime, values(\"11\", \"12\", \"13\"))");
    println!("cargo:rustc-cfg=runtime=\"{version}\"");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Programs ask for symbols whose version is the library's own name. Only GNU's linker gives
        // symbols this version. `nodelete`: programs that close the library may have passed on
        // pointers into it.
        for argument in [
            "-fuse-ld=bfd",
            &format!("-Wl,-soname,{soname}"),
            "-Wl,--default-symver",
            "-Wl,-z,nodelete",
        ] {
            println!("cargo:rustc-cdylib-link-arg={argument}");
        }
    }
}
