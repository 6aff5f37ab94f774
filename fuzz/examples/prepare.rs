//! Writes the seeds and dictionaries of all targets into the fuzz folder.

fn main() -> std::io::Result<()> {
    warploom_fuzz::prepare::prepare(std::path::Path::new(env!("CARGO_MANIFEST_DIR")))
}
