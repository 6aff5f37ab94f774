//! Variables of a module, `[symbol.NAME]`: their initial content, their expected content, and the
//! content that is written.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use warploom_replay::{Array, Dtype, npy, write};

const BINARIES: [&str; 2] = ["tally.sm_50.cubin", "tally.gfx900.hsaco"];

struct Ran {
    code: Option<i32>,
    err: String,
}

/// A folder with one of the binaries, and the expected content as files.
struct Folder(TempDir);

impl Folder {
    fn new(binary: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/symbols").join(binary);
        std::fs::copy(source, folder.0.path().join("binary")).unwrap();
        folder
    }

    fn integers(&self, name: &str, values: &[i32]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        write::array(&self.0.path().join(name), &Array::flat(Dtype::I32, bytes)).unwrap();
    }

    /// Launches 256 lanes, of which 200 have work.
    fn run(&self, symbols: &str, options: &[&str]) -> Ran {
        let head = "[kernel]\nbinary = \"binary\"\n[launch]\ngrid = [4, 1, 1]\nblock = [64, 1, 1]\n[[arg]]\ni32 = 200\n";
        let manifest = self.0.path().join("m.toml");
        std::fs::write(&manifest, format!("{head}{symbols}")).unwrap();
        let command = if options.contains(&"--seconds") { "bench" } else { "run" };
        let mut warploom = Command::new(env!("CARGO_BIN_EXE_warploom"));
        warploom.env("WARPLOOM_CACHE", "off");
        let output = warploom
            .env_remove("WARPLOOM_ENGINE")
            .arg(command)
            .arg(&manifest)
            .args(options)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), err: text(output.stderr) }
    }
}

/// Each remainder occurs 40 times among 200 numbers, and each time adds its weight to the count.
const COUNTS: [i32; 5] = [140, 280, 420, 560, 700];

#[test]
fn what_is_expected_is_compared() {
    for binary in BINARIES {
        let folder = Folder::new(binary);
        folder.integers("counts.npy", &COUNTS);
        folder.integers("first.npy", &COUNTS[..2]);
        folder.integers("wrong.npy", &[140, 280, 421, 560, 700]);
        folder.integers("long.npy", &[0; 6]);
        for options in
            [&["--engine", "both"][..], &["--engine", "both", "--threads", "2", "--repeat", "3"]]
        {
            for file in ["counts", "first"] {
                let ran =
                    folder.run(&format!("[symbol.counts]\nexpect = \"{file}.npy\"\n"), options);
                assert_eq!(ran.code, Some(0), "{binary}: {}", ran.err);
                assert!(ran.err.contains(" elements as expected"), "{binary}: {}", ran.err);
            }
        }
        let wrong = "[symbol.counts]\nexpect = \"wrong.npy\"\n";
        for options in [&[][..], &["--seconds", "0"]] {
            let ran = folder.run(wrong, options);
            let message = "variable `counts`: 1 of 5 elements";
            assert!(
                ran.code == Some(1) && ran.err.contains(message),
                "{binary}: {:?} {}",
                ran.code,
                ran.err
            );
        }
        let ran = folder.run(&format!("{wrong}atol = 1.0\n"), &[]);
        assert_eq!(ran.code, Some(0), "{binary}: {}", ran.err);
        let ran = folder.run("[symbol.counts]\nexpect = \"long.npy\"\n", &[]);
        let message = "24 bytes for variable `counts`, which has 20";
        assert!(ran.code == Some(3) && ran.err.contains(message), "{binary}: {}", ran.err);
    }
}

/// Proves that content of the manifest replaces content of the module, also in constant memory.
#[test]
fn what_is_given_counts() {
    for binary in BINARIES {
        let folder = Folder::new(binary);
        folder.integers("counts.npy", &[40, 80, 121, 200, 540]);
        folder.integers("weights.npy", &[1, 2, 3, 5, 1]);
        let symbols = "
[symbol.counts]
values = [0, 0, 1, 0, 500]
dtype = \"i32\"
expect = \"counts.npy\"
[symbol.weights]
file = \"weights.npy\"
expect = \"weights.npy\"
";
        for threads in ["1", "2"] {
            let ran =
                folder.run(symbols, &["--engine", "both", "--threads", threads, "--repeat", "2"]);
            assert_eq!(ran.code, Some(0), "{binary}: {}", ran.err);
        }
    }
}

#[test]
fn what_has_changed_is_written() {
    for (binary, sum) in BINARIES.into_iter().zip([50.5_f32.to_bits(), 401]) {
        let folder = Folder::new(binary);
        folder.integers("weights.npy", &[1, 2, 3, 4, 5]);
        folder.integers("counts.npy", &COUNTS);
        let symbols = "
[symbol.counts]
expect = \"counts.npy\"
[symbol.sum]
expect = \"sum.bin\"
[symbol.untouched]
values = [7, 0]
dtype = \"i16\"
[symbol.weights]
expect = \"weights.npy\"
";
        std::fs::write(folder.0.path().join("sum.bin"), sum.to_le_bytes()).unwrap();
        let out = folder.0.path().join("out");
        let ran = folder.run(symbols, &["--out", out.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{binary}: {}", ran.err);
        let written = npy::read(&std::fs::read(out.join("counts.npy")).unwrap()).unwrap();
        assert_eq!((written.dtype, written.shape.as_slice()), (Dtype::I32, &[5][..]), "{binary}");
        assert_eq!(written.bytes, COUNTS.map(i32::to_le_bytes).concat(), "{binary}");
        let written = npy::read(&std::fs::read(out.join("sum.npy")).unwrap()).unwrap();
        assert_eq!(
            (written.dtype, written.bytes),
            (Dtype::U8, sum.to_le_bytes().to_vec()),
            "{binary}"
        );
        assert!(
            !out.join("weights.npy").exists() && !out.join("untouched.npy").exists(),
            "{binary}"
        );
    }
}

#[test]
fn what_cannot_be_is_named() {
    let folder = Folder::new(BINARIES[0]);
    folder.integers("counts.npy", &COUNTS);
    for (symbols, message) in [
        (
            "[symbol.counts]\n",
            "symbol.counts: expected exactly one of `file`, `zeros` and `values`",
        ),
        (
            "[symbol.counts]\nzeros = 4\nrtol = 0.5\n",
            "symbol.counts.rtol: there is no `expect` for it",
        ),
        (
            "[symbol.counts]\ndtype = \"f32\"\nexpect = \"counts.npy\"\n",
            "elements are i32, but symbol.counts has f32",
        ),
        ("[symbol.nothing]\nexpect = \"counts.npy\"\n", "no variable `nothing`"),
        (
            "[symbol.counts]\nexpect = \"counts.npy\"\n[buffer.counts]\nzeros = 4\n",
            "symbol.counts: counts.npy would hold two things",
        ),
    ] {
        let ran = folder.run(symbols, &[]);
        assert!(ran.code == Some(3) && ran.err.contains(message), "{message}: {}", ran.err);
    }
}
