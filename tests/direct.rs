//! The command without a manifest: `run BINARY KERNEL`, `init`, JSON, and what a newcomer gets
//! wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use warploom_replay::{Array, Dtype, npy, write};

const CUBIN: &str = "tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin";

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn ends(self, code: i32, parts: &[&str]) -> Ran {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in: {}", self.err);
        }
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder in which the command runs, with saxpy's cubin as `k.cubin` and its x as `x.npy`.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.copy(CUBIN, "k.cubin");
        let x: Vec<u8> = (0..100).flat_map(|i| (i as f32).to_le_bytes()).collect();
        write::array(&folder.path("x.npy"), &Array::flat(Dtype::F32, x)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn copy(&self, from: &str, name: &str) {
        std::fs::copy(project(from), self.path(name)).unwrap();
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn warploom(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
        command.env("WARPLOOM_CACHE", "off").env_remove("WARPLOOM_ENGINE");
        command.current_dir(self.0.path()).args(args).output().unwrap().into()
    }

    /// Runs a command line, split at spaces.
    fn line(&self, line: &str) -> Ran {
        self.warploom(&line.split(' ').collect::<Vec<_>>())
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let array = npy::read(&std::fs::read(self.path(name)).unwrap()).unwrap();
        assert_eq!(array.dtype, Dtype::F32);
        array.bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

const ARGS: &str =
    "--grid 4 --block 32 --arg i32=100 --arg f32=2 --arg buffer=x.npy --arg zeros=f32[100]";

#[test]
fn a_kernel_runs_without_a_manifest() {
    let folder = Folder::new();
    let expected: Vec<f32> = (0..100).map(|i| 2.0 * i as f32).collect();
    for kernel in ["", " saxpy"] {
        let ran = folder.line(&format!("run k.cubin{kernel} {ARGS} --engine both --out out"));
        let ran = ran.ends(0, &["saxpy: grid 4 x 1 x 1", "both engines agree", "wrote out"]);
        assert_eq!(ran.out, "");
        assert_eq!(folder.floats("out/arg4.npy"), expected);
    }
    // Values on the command line, two dimensions, and a summary that is not wanted.
    let ran = folder.line(
        "run k.cubin --grid 1,1 --block 2x1 --arg i32=1 --arg f32=-0.5 --arg values=f32[8] \
         --arg values=f32[1] --out out --quiet",
    );
    assert_eq!(ran.ends(0, &[]).err, "");
    assert_eq!(folder.floats("out/arg4.npy"), [-3.0]);
}

#[test]
fn binaries_of_all_guests_have_a_command_that_runs() {
    let folder = Folder::new();
    let binaries = [
        CUBIN,
        "tests/fixtures/gfx9/containers/variables.hsaco",
        "tests/fixtures/visa/pvc/k01_saxpy.zebin",
        "tests/fixtures/visa/pvc/k02_matmul_slm.zebin",
        "examples/ptx/saxpy.ptx",
        "benches/fixtures/turing/saxpy.sm_80.cubin",
        "tests/fixtures/ptx/warp/../triton/softmax.ptx",
    ];
    for (number, binary) in binaries.into_iter().filter(|one| project(one).exists()).enumerate() {
        let extension = Path::new(binary).extension().unwrap().to_str().unwrap();
        let name = format!("binary{number}.{extension}");
        folder.copy(binary, &name);
        let listing = folder.line(&format!("run {name}")).ends(0, &[]).out;
        let commands: Vec<&str> =
            listing.lines().filter_map(|line| line.trim().strip_prefix("warploom ")).collect();
        assert!(!commands.is_empty(), "{binary}: {listing}");
        for command in commands {
            let words: Vec<String> =
                command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = folder.warploom(&words);
            // A kernel may find its arguments nonsensical; nothing else goes wrong.
            assert!(matches!(ran.code, Some(0 | 2)), "{binary}: {command}: {}", ran.err);
        }
    }
}

#[test]
fn init_writes_a_manifest_that_runs() {
    let folder = Folder::new();
    let text = folder.line("init k.cubin").ends(0, &[]).out;
    for part in ["binary = \"k.cubin\"", "entry = \"saxpy\"", "[[arg]]", "[buffer.arg3]"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    folder.write("m.toml", &text);
    folder.line("run m.toml --engine both").ends(0, &["both engines agree"]);
    // Paths are relative to the folder of the manifest; a file is not replaced.
    std::fs::create_dir(folder.path("deep")).unwrap();
    folder.line("init k.cubin saxpy --out deep/m.toml").ends(0, &[]);
    let deep = std::fs::read_to_string(folder.path("deep/m.toml")).unwrap();
    assert!(deep.contains("binary = \"../k.cubin\""), "{deep}");
    folder.line("run deep/m.toml").ends(0, &[]);
    folder.line("init k.cubin --out deep/m.toml").ends(3, &["it exists"]);
    folder.line("init k.cubin sxpy").ends(3, &["did you mean `saxpy`?"]);
}

/// Proves that types and names come from each format's own data.
#[test]
fn init_knows_what_binaries_say() {
    let folder = Folder::new();
    let text = |binary: &str| {
        folder.copy(binary, "binary");
        folder.line("init binary").ends(0, &[]).out
    };
    let zebin = text("tests/fixtures/visa/pvc/k01_saxpy.zebin");
    assert!(zebin.contains("f32 = 0.0") && zebin.contains("dtype = \"f32\""), "{zebin}");
    // The types of C++ are in the kernel's name.
    folder.write(
        "cpp.ptx",
        ".version 6.0\n.target sm_50\n.address_size 64\n\
         .visible .entry _Z4fillPfij(.param .u64 p_param_0, .param .u32 p_param_1, \
         .param .u32 p_param_2)\n{\n ret;\n}\n",
    );
    let text = folder.line("init cpp.ptx").ends(0, &[]).out;
    for part in ["# float*", "i32 = 0", "u32 = 0", "dtype = \"f32\""] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let listing = folder.line("run cpp.ptx").ends(0, &[]).out;
    assert!(listing.contains("fill(float*, int, unsigned int)"), "{listing}");
}

#[test]
fn reports_are_json() {
    let folder = Folder::new();
    let run = folder.line(&format!("run k.cubin {ARGS} --engine both --json")).ends(0, &[]);
    assert_eq!(run.err, "");
    let run = run.json();
    assert_eq!((&run["schema"], &run["kernel"]), (&1.into(), &"saxpy".into()));
    assert_eq!(run["grid"], serde_json::json!([4, 1, 1]));

    let inspect = folder.line("inspect k.cubin --json").ends(0, &[]).json();
    let kernel = &inspect["modules"][0]["kernels"][0];
    assert_eq!(kernel["name"], "saxpy");
    assert_eq!(kernel["arguments"].as_array().unwrap().len(), 4);
    assert_eq!(kernel["arguments"][3]["form"], "buffer");

    let disasm = folder.line("disasm k.cubin --json").ends(0, &[]).json();
    let first = &disasm["modules"][0]["sections"][0]["instructions"][0];
    assert_eq!(first["text"], "MOV R1, c[0x0][0x20]");
    folder.line("disasm k.cubin sexpy --json").ends(3, &["did you mean `saxpy`?"]);

    let manifest = project("examples/saxpy/saxpy.toml");
    let bench = folder.warploom(&["bench", manifest.to_str().unwrap(), "--seconds", "0", "--json"]);
    let bench = bench.ends(0, &[]).json();
    assert_eq!(bench["engines"].as_array().unwrap().len(), 2);
    assert!(bench["ratio"].as_f64().unwrap() > 0.0);
}

/// Proves that the schemas take what the command reads and prints, and nothing misspelt.
#[test]
fn schemas_describe_what_is_read_and_printed() {
    let folder = Folder::new();
    let schema = |of: &str| {
        let schema = folder.warploom(&["schema", of]).ends(0, &[]).json();
        jsonschema::validator_for(&schema).unwrap()
    };
    let check = |validator: &jsonschema::Validator, value: &Value, what: &str| {
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path))
            .collect();
        assert!(errors.is_empty(), "{what}: {}", errors.join("\n"));
    };
    let manifests = schema("manifest");
    let mut count = 0;
    let mut left = vec![project("examples"), project("tests/fixtures")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            check(&manifests, &serde_json::to_value(table).unwrap(), &path.display().to_string());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
    let wrong = |text: &str| {
        let table: toml::Table = text.parse().unwrap();
        let value = serde_json::to_value(table).unwrap();
        assert!(!manifests.is_valid(&value), "{text}");
    };
    wrong("[kernel]\nbinry = \"k\"\n");
    wrong("[kernel]\nbinary = \"k\"\n[[arg]]\ni33 = 1\n");
    wrong("[kernel]\nbinary = \"k\"\n[[arg]]\ni32 = 1\nf32 = 1.0\n");
    wrong("[kernel]\nbinary = \"k\"\n[launch]\ngrid = [1, 1]\n");

    let manifest = project("examples/saxpy/saxpy.toml");
    let manifest = manifest.to_str().unwrap();
    for (of, line) in [
        ("run", format!("run {manifest} --engine both --json")),
        ("bench", format!("bench {manifest} --seconds 0 --json")),
        ("inspect", "inspect k.cubin --json".into()),
        ("disasm", "disasm k.cubin --json".into()),
    ] {
        check(&schema(of), &folder.line(&line).ends(0, &[]).json(), of);
    }
}

#[test]
fn printed_text_and_the_summary_are_apart() {
    let folder = Folder::new();
    let manifest = project("examples/printf/printf.toml");
    let ran = folder.warploom(&["run", manifest.to_str().unwrap()]).ends(0, &["translated in"]);
    assert!(!ran.out.is_empty() && !ran.out.contains("translated in"), "{}", ran.out);
    let json = folder.warploom(&["run", manifest.to_str().unwrap(), "--json"]).ends(0, &[]).json();
    assert_eq!(json["printed"], ran.out.as_str());
}

#[test]
fn the_doctor_finds_this_machine_well() {
    let folder = Folder::new();
    let ran = folder.warploom(&["doctor"]).ends(0, &[]);
    for part in ["interp: a test kernel ran", "jit: a test kernel ran", "Cranelift"] {
        assert!(ran.out.contains(part), "no {part} in {}", ran.out);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off").env("WARPLOOM_ENGINE", "fast").env("WARPLOOM_THREAD", "2");
    let ran: Ran = command.arg("doctor").output().unwrap().into();
    let ran = ran.ends(1, &[]);
    for part in ["WARPLOOM_ENGINE is `fast`", "did you mean `WARPLOOM_THREADS`?"] {
        assert!(ran.out.contains(part), "no {part} in {}", ran.out);
    }
}

#[test]
fn shells_and_man_have_what_they_need() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = folder.warploom(&["completions", shell]).ends(0, &[]).out;
        assert!(text.contains("disasm"), "{shell}: {text}");
    }
    folder.line("man pages").ends(0, &["wrote"]);
    let page = std::fs::read_to_string(folder.path("pages/warploom-run.1")).unwrap();
    assert!(page.contains("instruction"), "{page}");
    let version = folder.warploom(&["--version"]).ends(0, &[]).out;
    assert!(version.contains("Cranelift"), "{version}");
}

/// A wrong command line in a folder with files, and the parts of its message.
type Wrong<'a> = (&'a str, &'a [&'a str]);

/// Proves that 40 inputs that people try have a message of their own, which says how to go on.
#[test]
fn wrong_inputs_have_messages_of_their_own() {
    let folder = Folder::new();
    let source = "#include <cstdio>\n__global__ void f(int *x) { *x = 1; }\n";
    let files: &[(&str, &[u8])] = &[
        ("empty.cubin", b""),
        ("module.spv", &[3, 2, 0x23, 7, 0, 0, 1, 0]),
        ("library.a", b"!<arch>\nmember/"),
        ("torch.whl", b"PK\x03\x04....."),
        ("kernel.cu", source.as_bytes()),
        ("kernel.cl", b"__kernel void f(__global int *x) { *x = 1; }\n"),
        ("script.py", b"import torch\nprint(torch.ones(3))\n"),
        ("triton.py", b"import triton\n@triton.jit\ndef f(x): pass\n"),
        ("module.bc", b"BC\xc0\xde\x35\x14"),
        ("module.ll", b"; ModuleID = 'x'\ntarget triple = \"nvptx64-nvidia-cuda\"\n"),
        ("shader.glsl", b"#version 450\nvoid main() {}\n"),
        ("shader.hlsl", b"RWStructuredBuffer<int> x;\n"),
        ("shader.dxil", b"DXBC0123456789"),
        ("kernel.cubin.gz", b"\x1f\x8b\x08\x00"),
        ("kernel.cubin.xz", b"\xfd7zXZ\x00\x00"),
        ("kernel.cubin.zst", b"(\xb5/\xfd\x00"),
        ("kernel.cubin.bz2", b"BZh9"),
        ("program.exe", b"MZ\x90\x00"),
        ("program.dylib", b"\xcf\xfa\xed\xfe"),
        ("default.metallib", b"MTLB...."),
        ("launch.json", b"{\"kernel\": 1}"),
        ("listing.sass", b"\n\t\tFunction : saxpy\n\t.headerflags\n"),
        ("image.png", b"\x89PNG\r\n\x1a\n"),
        ("noise.bin", &[0x91, 0xff, 0x00, 0xfe, 0x12]),
        ("notes.md", b"# Notes\n\nNothing here.\n"),
        ("m.toml", b"[kernel]\nbinary = \"k.cubin\"\n[launch]\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\n"),
        ("key.toml", b"[kernel]\nbinry = \"k.cubin\"\n"),
        ("argument.toml", b"[kernel]\nbinary = \"k.cubin\"\n[[arg]]\ni32 = 1\n[[arg]]\ni33 = 1\n"),
        (
            "unused.toml",
            b"[kernel]\nbinary = \"k.cubin\"\n[launch]\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\n[[arg]]\n\
              i32 = 0\n[[arg]]\nf32 = 0.0\n[[arg]]\nbuffer = \"x\"\n[[arg]]\nbuffer = \"x\"\n\
              [buffer.x]\nzeros = 4\n[buffer.forgotten]\nzeros = 4\n",
        ),
        ("wrong.s", b".target sm_50\n.kernel k\n    FADDD R0, R1, R2\n    EXIT\n"),
    ];
    for (name, content) in files {
        folder.write(name, content);
    }
    std::fs::copy(env!("CARGO_BIN_EXE_warploom"), folder.path("program")).unwrap();
    std::fs::create_dir(folder.path("folder")).unwrap();
    let shape = "--grid 1 --block 1";
    let kinds: &[Wrong<'_>] = &[
        ("run empty.cubin", &["empty file"]),
        ("run module.spv", &["SPIR-V", "compile it"]),
        ("inspect library.a", &["archive", "ar x"]),
        ("run program", &["of a CPU", ".nv_fatbin"]),
        ("inspect torch.whl", &["ZIP", "wheel", "unpack it"]),
        ("run kernel.cu", &["CUDA or HIP source", "nvcc -cubin"]),
        ("disasm kernel.cl", &["OpenCL source"]),
        ("run script.py", &["Python program", "warploom cuda"]),
        ("run triton.py", &["Triton program", "warploom cuda"]),
        ("run module.bc", &["LLVM bitcode", "llc"]),
        ("run module.ll", &["LLVM IR", "llc"]),
        ("run shader.glsl", &["GLSL"]),
        ("run shader.hlsl", &["HLSL"]),
        ("run shader.dxil", &["DirectX"]),
        ("inspect kernel.cubin.gz", &["gzip -d"]),
        ("inspect kernel.cubin.xz", &["xz -d"]),
        ("inspect kernel.cubin.zst", &["zstd -d"]),
        ("inspect kernel.cubin.bz2", &["bzip2 -d"]),
        ("inspect program.exe", &["Windows"]),
        ("inspect program.dylib", &["macOS"]),
        ("inspect default.metallib", &["Metal"]),
        ("run launch.json", &["JSON", "TOML"]),
        ("run listing.sass", &["listing", ".target"]),
        ("run image.png", &["PNG", "surface"]),
        ("run x.npy", &["NumPy array", "--arg buffer="]),
        ("run noise.bin", &["expected a manifest", "neither text nor a GPU binary"]),
        ("inspect noise.bin", &["not a GPU binary", "91ff00"]),
        ("bench k.cubin", &["GPU code (NVIDIA cubin)", "warploom init"]),
        ("inspect m.toml", &["a manifest", "warploom run"]),
        ("run folder", &["folder", "cannot be read"]),
        ("run nowhere.cubin", &["nowhere.cubin", "cannot be read"]),
        ("run key.toml", &["line 2", "binry", "did you mean `binary`?"]),
        ("run argument.toml", &["line 5, arg 2", "i33", "did you mean `i32`?"]),
        ("run m.toml --grid 1 --block 1", &["it is a manifest", "--grid"]),
        ("run k.cubin sxpy", &["no kernel `sxpy`", "did you mean `saxpy`?"]),
        ("run k.cubin --grid 1", &["--block"]),
        ("run k.cubin --grid 1,2,3,4 --block 1", &["4 sizes: expected 1 to 3"]),
        ("run k.cubin --grid 0 --block 1", &["`0`", "from 1"]),
        ("run k.cubin SHAPE --arg 7", &["--arg 7", "KIND=VALUE"]),
        ("run k.cubin SHAPE --arg i23=7", &["no kind", "did you mean `i32`?"]),
        ("run k.cubin SHAPE --arg i32=x", &["--arg i32=x", "expected"]),
        ("run k.cubin SHAPE --arg i8=300", &["300 is no i8"]),
        ("run k.cubin SHAPE --arg zeros=f23[4]", &["f23", "did you mean `f32`?"]),
        ("run k.cubin SHAPE --arg buffer=none.npy", &["none.npy", "cannot be read"]),
        ("run k.cubin SHAPE --arg i32=1", &["`saxpy` has 4 parameters: 1 arguments are given"]),
        ("run k.cubin --arg i32=1", &["--arg without --grid"]),
        ("run wrong.s SHAPE", &["line 3", "FADDD", "did you mean `FADD`?"]),
        ("run notes.md", &["expected a manifest, but the file is text of another kind"]),
        ("rum k.cubin", &["run"]),
        ("init m.toml", &["a manifest"]),
        ("dump k.cubin sxpy --stage ir", &["no kernel `sxpy`"]),
    ];
    assert!(kinds.len() >= 40);
    for (line, parts) in kinds {
        let ran = folder.line(&line.replace("SHAPE", shape)).ends(3, parts);
        assert!(ran.err.len() < 900, "{line}: a long message: {}", ran.err);
    }
    // What is no error, but surely no intention either.
    folder.line("run unused.toml").ends(0, &["buffer.forgotten", "nothing has its address"]);
}
