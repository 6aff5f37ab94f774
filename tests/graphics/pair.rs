//! Vertex programs and fragment programs, with the rasteriser between them, against pictures that
//! NumPy drew (`make.py` in the folders of the examples).

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::{Launch, Session, write};

use super::run;

fn decoded(bytes: &[u8]) -> ([u32; 2], Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    ([info.width, info.height], pixels)
}

#[test]
fn pairs_of_programs_give_pictures() {
    // GFX9 and Maxwell.
    for example in ["knot", "knot-maxwell"] {
        draws(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shaders"), example);
    }
}

fn draws(shaders: &Path, name: &str) {
    let example = shaders.join(name);
    let vertex = Launch::read(&example.join("vertex.toml")).unwrap();
    let (_, exported) = run(&vertex, "vertex");
    // The fragment program's input is the vertex program's output.
    let folders = tempfile::tempdir().unwrap();
    for name in [name, "knot"] {
        let folder = folders.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for file in std::fs::read_dir(shaders.join(name)).unwrap().map(|file| file.unwrap().path())
        {
            if file.is_file() {
                std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    let folder = folders.path().join(name);
    let shader = vertex.shader.as_ref().unwrap();
    for (target, words) in shader.exports.iter().zip(&exported.targets) {
        let array = target.array(words, &exported.kept);
        write::array(&folder.join(format!("{}.npy", target.name)), &array).unwrap();
    }
    let fragment = Launch::read(&folder.join("fragment.toml")).unwrap();
    let (_, exported) = run(&fragment, "fragment");
    let shader = fragment.shader.as_ref().unwrap();
    let drawn = shader.draw(shader.picture.unwrap(), &exported).unwrap();
    let (size, drawn) = decoded(&drawn);
    let (expected_size, expected) = decoded(&std::fs::read(example.join("knot.png")).unwrap());
    assert_eq!(size, expected_size);
    let pairs = || drawn.as_chunks::<4>().0.iter().zip(expected.as_chunks::<4>().0);
    let covered = pairs().filter(|(_, expected)| expected[3] != 0).count();
    assert!(covered > 30_000, "{covered}");
    // At edges, places in 256ths of a pixel and places in doubles differ.
    let off = pairs().filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2)).count();
    assert!(off * 200 < covered, "{name}: {off} of {covered} pixels are off");
}

/// Waves at the edges of triangles, where some lanes are helpers, run the code of whole waves: it
/// loads and stores rows inline.
#[test]
fn helpers_cost_nothing() {
    let launch = Launch::read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shaders/knot/fragment.toml"),
    )
    .unwrap();
    let shader = launch.shader.as_ref().unwrap();
    assert!(shader.covered.iter().filter(|covered| !**covered).count() * 4 > shader.lanes);
    let session = Session::new(&launch).unwrap();
    let outcome = session.launch(&session.options(EngineKind::Jit, 1), None).unwrap();
    let waves = shader.lanes.div_ceil(64) as u64;
    assert!(
        waves > 3000 && outcome.counts.helper_calls < waves / 5,
        "{} of {waves}",
        outcome.counts.helper_calls
    );
}
