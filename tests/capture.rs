//! Manifests: the examples read and write back, and errors name their place.

use std::path::{Path, PathBuf};

use warploom_container::hsaco::ValueKind;
use warploom_replay::manifest::{Arg, Buffer, Dim, Layout, Surface};
use warploom_replay::raw::Builtin;
use warploom_replay::{ArgValue, Array, Dtype, Launch, Manifest, Placed, RawValue, write};

/// Returns the manifests in the folders of `examples` and `examples/gfx9`, and of one fixture with
/// images.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let list = |folder: PathBuf| {
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>()
    };
    let image = root.parent().unwrap().join("tests/fixtures/gfx9/image");
    let folders = [list(root.clone()), list(root.join("gfx9")), vec![image]].concat();
    let files = folders.into_iter().filter(|p| p.is_dir()).flat_map(list);
    files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect()
}

#[test]
fn examples_resolve_and_survive_writing() {
    let examples = examples();
    assert!(examples.len() >= 60);
    let folder = tempfile::tempdir().unwrap();
    for path in examples {
        let manifest = Manifest::read(&path).unwrap();
        let copy = folder.path().join("copy.toml");
        write::manifest(&copy, &manifest).unwrap();
        assert_eq!(Manifest::read(&copy).unwrap(), manifest, "{}", path.display());
        let launch = Launch::resolve(manifest, &path).unwrap();
        assert!(launch.expects_something(), "{}", path.display());
    }
}

/// Proves that arguments have the sizes and kinds of the kernels' metadata.
#[test]
fn arguments_fit_the_kernels() {
    for path in examples() {
        let launch = Launch::read(&path).unwrap();
        if launch.raw.is_some() {
            continue;
        }
        let label = path.display();
        let module = warploom_container::modules(&launch.binary)
            .unwrap_or_else(|e| panic!("{label}: {e}"))
            .remove(0);
        let named = launch
            .entry
            .as_deref()
            .map(|name| module.kernel(name).unwrap_or_else(|| panic!("{label}: {name}")));
        let kernel = module.function(named.unwrap_or_else(|| module.kernels().next().unwrap().0));
        assert_eq!(launch.args.len(), kernel.params.len(), "{label}");
        let lanes = launch.shape.block.iter().product::<u32>();
        let most = kernel.hsa.as_ref().and_then(|hsa| hsa.max_flat_workgroup_size);
        assert!(most.is_none_or(|most| lanes <= most), "{label}: {lanes}");
        for symbol in &launch.symbols {
            let variable =
                module.variable(&symbol.name).unwrap_or_else(|| panic!("{label}: {}", symbol.name));
            let given = symbol.content.as_ref().map_or(0, |content| content.len());
            assert!(given <= module.symbol(variable).size, "{label}");
        }
        for (i, (arg, param)) in launch.args.iter().zip(&kernel.params).enumerate() {
            let bytes = match arg {
                ArgValue::Bytes(bytes, _) => bytes.len(),
                ArgValue::Local(_) => 4,
                _ => 8,
            };
            assert_eq!(bytes, param.size as usize, "{label}: argument {}", i + 1);
            let Some(hsa) = &kernel.hsa else { continue };
            let expected = match arg {
                ArgValue::Bytes(..) => ValueKind::ByValue,
                ArgValue::Local(_) => ValueKind::DynamicSharedPointer,
                ArgValue::Sampler(_) => ValueKind::Sampler,
                ArgValue::Surface(_) | ArgValue::Texture(_) | ArgValue::Sampled(_) => {
                    ValueKind::Image
                }
                _ => ValueKind::GlobalBuffer,
            };
            assert_eq!(hsa.args[i].kind, expected, "{label}: argument {}", i + 1);
        }
    }
}

/// The addresses of the buffers.
struct Addresses([u64; 2]);

impl Placed for Addresses {
    fn buffer(&self, i: usize) -> u64 {
        self.0[i]
    }

    fn image(&self, _: usize) -> [u32; 8] {
        [0; 8]
    }

    fn sampler(&self, _: usize) -> [u32; 4] {
        [0; 4]
    }
}

const HEAD: &str =
    "[kernel]\nbinary = \"k.cubin\"\n[launch]\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n";

fn resolve(rest: &str) -> Result<Launch, String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("k.cubin"), b"code").unwrap();
    std::fs::write(at("raw.bin"), [1, 2, 3, 4, 5, 6]).unwrap();
    write::array(&at("f.npy"), &Array { dtype: Dtype::F32, shape: vec![2, 1], bytes: vec![0; 8] })
        .unwrap();
    std::fs::write(at("m.toml"), format!("{HEAD}{rest}")).unwrap();
    Launch::read(&at("m.toml")).map_err(|e| e.to_string())
}

#[test]
fn everything_a_manifest_can_say() {
    let launch = resolve(
        r#"
shared_bytes = 64
stack_bytes = 2048
heap_bytes = 4096
cooperative = true
instruction_limit = 1000
time_limit = 1.5
[[arg]]
buffer = "a"
[[arg]]
u64 = "0xffffffffffffffff"
[[arg]]
bytes = "00 ff 10"
[[arg]]
sparse = "s"
[[arg]]
surface = "img"
[buffer.a]
file = "f.npy"
expect = "f.npy"
atol = 1e-3
[buffer.b]
file = "raw.bin"
dtype = "i16"
[buffer.c]
values = [1, -2.5, inf]
dtype = "f16"
[buffer.d]
zeros = 4096
[symbol.coefficients]
values = [7]
dtype = "i32"
[sparse.s]
bytes = 1048576
resident = [3, 0, 3]
[surface.img]
dim = "2d_array"
size = [4, 4, 2]
format = "r32_uint"
layout = "block_linear"
block_height = 2
[printf]
bytes = 80
expect = "raw.bin"
"#,
    )
    .unwrap();
    assert_eq!(launch.shape.time_limit, Some(1.5));
    assert_eq!(launch.buffers.iter().map(|b| b.content.len()).collect::<Vec<_>>(), [8, 6, 6, 4096]);
    assert_eq!(
        launch.buffers.iter().map(|b| b.dtype).collect::<Vec<_>>(),
        [Dtype::F32, Dtype::I16, Dtype::F16, Dtype::U8]
    );
    assert_eq!(launch.buffers[0].shape, [2, 1]);
    assert_eq!(launch.sparse[0].resident, [0, 3]);
    assert_eq!(launch.args.len(), 5);
    assert_eq!(launch.shape.heap_bytes, Some(4096));
    assert_eq!(
        (launch.printf.bytes, launch.printf.expect),
        (Some(80), Some(vec![1, 2, 3, 4, 5, 6]))
    );
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("[[arg]]\nbuffer = \"x\"", &["m.toml: arg 1", "no [buffer.x]"][..]),
        ("[[arg]]\nbuffer = \"x\"\ni32 = 1", &["exactly one key", "line 6"]),
        ("[[arg]]\ni33 = 1", &["unknown key `i33`", "f64"]),
        ("[[arg]]\nu8 = 256", &["256 is no u8", "from 0 to 255"]),
        (
            "[[arg]]\nsampler = { filter = \"cubic\", address = \"repeat\" }",
            &["`sampler`", "cubic"],
        ),
        ("[[arg]]\nlocal = -1", &["`local`", "-1"]),
        ("[buffer.x]\nzeros = 4\naddress = 4096", &["buffer.x.address", "multiple of 65536"]),
        ("[raw]\nvgprs = 4", &["raw", "gfx9-raw"]),
        ("[[arg]]\nbytes = \"0g\"", &["arg 1", "hex digits"]),
        ("[buffer.x]\nzeros = 4\nlength = 4", &["unknown field `length`", "line 8"]),
        ("[buffer.x]", &["buffer.x", "exactly one of"]),
        ("[buffer.x]\nzeros = 4\nfile = \"f.npy\"", &["exactly one of"]),
        ("[buffer.x]\nzeros = 0", &["buffer.x", "empty"]),
        ("[buffer.x]\nzeros = -1", &["line 7"]),
        ("[buffer.x]\nzeros = 6\ndtype = \"f32\"", &["buffer.x.zeros", "multiple of 4"]),
        ("[buffer.x]\nvalues = [1]", &["buffer.x.dtype", "missing"]),
        (
            "[buffer.x]\nvalues = [1, \"a\"]\ndtype = \"f32\"",
            &["buffer.x.values[1]", "expected a number"],
        ),
        ("[buffer.x]\nfile = \"none.npy\"", &["none.npy", "cannot be read"]),
        (
            "[buffer.x]\nfile = \"f.npy\"\ndtype = \"i32\"",
            &["f.npy", "elements are f32: expected i32"],
        ),
        (
            "[buffer.x]\nfile = \"raw.bin\"\ndtype = \"f32\"",
            &["raw.bin", "6 bytes", "multiple of 4"],
        ),
        (
            "[buffer.x]\nzeros = 12\nexpect = \"f.npy\"",
            &["f.npy", "8 bytes of data, but buffer.x has 12"],
        ),
        (
            "[buffer.x]\nzeros = 8\ndtype = \"i32\"\nexpect = \"f.npy\"",
            &["elements are f32, but buffer.x has i32"],
        ),
        ("[buffer.x]\nzeros = 8\nrtol = 0.1", &["buffer.x.rtol", "no `expect`"]),
        ("[buffer.x]\nzeros = 8\nexpect = \"f.npy\"\natol = -1.0", &["buffer.x.atol", "from 0"]),
        ("[buffer.\"../x\"]\nzeros = 8", &["no slashes"]),
        (
            "[buffer.x]\nzeros = 8\npng = { size = [3, 1], map = \"grey\" }",
            &["buffer.x.png", "3 x 1 pixels in 8"],
        ),
        ("[buffer.x]\nzeros = 8\npng = { size = [3, 1], map = \"gray\" }", &["line 8", "grey"]),
        ("[sparse.s]\nbytes = 65537\nresident = [2]", &["sparse.s.resident", "2 pages"]),
        ("[sparse.s]\nbytes = 0", &["sparse.s.bytes"]),
        ("[surface.i]\ndim = \"2d\"\nsize = [0, 1, 1]\nformat = \"r8\"", &["surface.i.size"]),
        (
            "[surface.i]\ndim = \"2d\"\nsize = [1, 1, 1]\nformat = \"r32_uint\"\nrtol = 0.1",
            &["surface.i.rtol", "no `expect`"],
        ),
        (
            "[surface.i]\ndim = \"2d\"\nsize = [1, 1, 1]\nformat = \"r32_uint\"\nexpect = \"f.npy\"\natol = -1.0",
            &["surface.i.atol", "from 0"],
        ),
        ("time_limit = 0.0", &["launch.time_limit"]),
        ("grid = [1, 1]", &["duplicate key"]),
        ("[kernels]", &["unknown field `kernels`"]),
        ("[", &["m.toml", "TOML parse error"]),
    ];
    for (rest, parts) in cases {
        let message = resolve(rest).expect_err(rest);
        for part in parts {
            assert!(message.contains(part), "{rest}\n{message}\nshould have: {part}");
        }
    }
}

#[test]
fn a_capture_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = Manifest::parse(HEAD, Path::new("head")).unwrap();
    manifest.args.push(Arg::Number(Dtype::F32, toml::Value::Float(2.5)));
    manifest.args.push(Arg::Buffer("x".into()));
    manifest.buffers.insert(
        "x".into(),
        Buffer { zeros: Some(16), dtype: Some(Dtype::U32), ..Buffer::default() },
    );
    let image = Surface {
        dim: Dim::D2,
        size: [4, 4, 1],
        levels: 1,
        format: "r32_uint".into(),
        layout: Layout::Pitch,
        block_height: None,
        block_depth: None,
        resident: None,
        file: None,
        expect: None,
        rtol: None,
        atol: None,
        png: false,
    };
    manifest.surfaces.insert("img".into(), image);
    let path = folder.path().join("capture.toml");
    write::manifest(&path, &manifest).unwrap();
    std::fs::write(folder.path().join("k.cubin"), b"code").unwrap();
    assert_eq!(Manifest::read(&path).unwrap(), manifest);
    assert_eq!(Launch::read(&path).unwrap().args.len(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    let nowhere = write::manifest(&folder.path().join("no/capture.toml"), &manifest).unwrap_err();
    assert!(nowhere.to_string().contains("cannot be written"), "{nowhere}");
}

#[test]
fn the_documented_manifest_is_one() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manifest.md"))
            .unwrap();
    let documented: Vec<Manifest> = text
        .split("```toml\n")
        .skip(1)
        .map(|text| &text[..text.find("```").unwrap()])
        .map(|text| {
            Manifest::parse(text, Path::new("docs/manifest.md")).unwrap_or_else(|e| panic!("{e}"))
        })
        .collect();
    let [manifest, stream] = &documented[..] else { panic!("{} manifests", documented.len()) };
    let raw = stream.raw.as_ref().unwrap();
    assert_eq!((raw.sgpr.len(), raw.vgpr.len(), stream.buffers["set0"].parts.len()), (4, 2, 2));
    assert_eq!((manifest.args.len(), manifest.buffers.len(), manifest.sparse.len()), (5, 3, 1));
}

/// Resolves a manifest of a plain stream of 8 bytes.
fn stream(raw: &str) -> Result<Launch, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.bin"), [0; 8]).unwrap();
    let head = "[kernel]\nbinary = \"s.bin\"\nformat = \"gfx9-raw\"\n[launch]\ngrid = [1, 1, 1]\nblock = [3, 1, 1]\n";
    let path = folder.path().join("m.toml");
    std::fs::write(&path, format!("{head}{raw}")).unwrap();
    Launch::read(&path).map_err(|e| e.to_string())
}

#[test]
fn registers_of_a_plain_stream() {
    let launch = stream(
        r#"
[raw]
entry = 4
vgprs = 4
sgpr = [
  { first = 0, buffer = "x" },
  { first = 2, buffer_low = "y" },
  { first = 4, buffer_descriptor = { buffer = "x", offset = 4, stride = 12 } },
  { first = 8, buffer_descriptor = { buffer = "y", stride = 16383, num_records = 7, swizzle = true, word3 = 5 } },
  { first = 12, u64 = "0x123456789abcdef0" },
  { first = 14, values = [1, "0xffffffff"] },
  { first = 16, f32 = 1.0 },
  { first = 17, builtin = "workgroup_id_z" },
]
vgpr = [{ first = 0, builtin = "thread_id_y" }, { first = 1, values = [7, 8, 9] }, { first = 2, f64 = 1.0 }]
[buffer.x]
zeros = 100
parts = [{ at = 96, buffer_low = "y" }, { at = 8, buffer_descriptor = { buffer = "x" } }]
[buffer.y]
zeros = 8
address = "0xffff800000010000"
"#,
    )
    .unwrap();
    let raw = launch.raw.unwrap();
    assert_eq!((raw.entry, raw.vgprs, raw.lds_bytes), (4, 4, 0));
    let placed = Addresses([0x1234_5678_9abc, 0xffff_8000_0001_0000]);
    let words: Vec<_> =
        raw.sgpr.iter().map(|(first, value)| (*first, value.words(&placed))).collect();
    let expected = [
        (0, vec![0x5678_9abc, 0x1234]),
        (2, vec![0x1_0000]),
        (4, vec![0x5678_9ac0, 12 << 16 | 0x1234, 8, 0x27fac]),
        (8, vec![0x1_0000, 1 << 31 | 16383 << 16 | 0x8000, 7, 5]),
        (12, vec![0x9abc_def0, 0x1234_5678]),
        (14, vec![1, u32::MAX]),
        (16, vec![0x3f80_0000]),
    ];
    assert_eq!(words[..7], expected.map(|(first, words)| (first, Some(words))));
    assert_eq!(words[7], (17, None));
    assert_eq!(raw.vgpr[0], (0, RawValue::Builtin(Builtin::ThreadIdY)));
    assert_eq!(raw.vgpr[1], (1, RawValue::Lanes(vec![7, 8, 9])));
    assert_eq!(raw.vgpr[2].1.words(&placed), Some(vec![0, 0x3ff0_0000]));
    let x = &launch.buffers[0];
    assert_eq!(
        x.parts.iter().map(|(at, value)| (*at, value.length())).collect::<Vec<_>>(),
        [(96, 1), (8, 4)]
    );
    assert_eq!(launch.buffers[1].address, Some(0xffff_8000_0001_0000));
}

#[test]
fn what_is_wrong_with_a_plain_stream_is_named() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["kernel.format", "expected [raw]"]),
        ("[raw]\nvgprs = 0", &["raw.vgprs", "1 to 256"]),
        ("[raw]\nvgprs = 257", &["raw.vgprs"]),
        ("[raw]\nvgprs = 4\nentry = 8", &["raw.entry", "8 bytes"]),
        ("[raw]\nvgprs = 4\nentry = 2", &["raw.entry", "multiple of 4"]),
        ("[raw]\nvgprs = 4\nlds_bytes = 65537", &["raw.lds_bytes"]),
        ("[raw]\nvgprs = 4\nscratch_bytes = 131057", &["raw.scratch_bytes", "0 to 131056"]),
        ("[raw]\nvgprs = 4\nmode = { denorm_32 = 4 }", &["raw.mode", "0 to 3"]),
        ("[raw]\nvgprs = 4\nmode = { rounding = 1 }", &["unknown field `rounding`"]),
        ("[raw]\nvgprs = 4\nsgpr = [{ first = 103, u64 = 1 }]", &["raw.sgpr 1", "there are 104"]),
        ("[raw]\nvgprs = 4\nvgpr = [{ first = 4, u32 = 1 }]", &["raw.vgpr 1", "there are 4"]),
        (
            "[raw]\nvgprs = 4\nvgpr = [{ first = 1, values = [1, 2] }]",
            &["raw.vgpr 1", "each of 3 lanes"],
        ),
        (
            "[raw]\nvgprs = 4\nsgpr = [{ first = 1, u64 = 1 }, { first = 2, u32 = 1 }]",
            &["raw.sgpr 2", "overlaps"],
        ),
        (
            "[raw]\nvgprs = 4\nsgpr = [{ first = 1, builtin = \"thread_id_x\" }]",
            &["raw.sgpr 1", "in no sgpr"],
        ),
        (
            "[raw]\nvgprs = 4\nvgpr = [{ first = 1, builtin = \"workgroup_id_x\" }]",
            &["raw.vgpr 1", "in no vgpr"],
        ),
        (
            "[raw]\nvgprs = 4\nsgpr = [{ first = 1, builtin = \"lane\" }]",
            &["`builtin`", "known builtin"],
        ),
        ("[raw]\nvgprs = 4\nsgpr = [{ u32 = 1 }]", &["`first` is missing"]),
        ("[raw]\nvgprs = 4\nsgpr = [{ first = 1, u16 = 1 }]", &["unknown key `u16`"]),
        (
            "[raw]\nvgprs = 4\nsgpr = [{ first = 1, buffer = \"x\" }]",
            &["raw.sgpr 1", "no [buffer.x]"],
        ),
        ("[raw]\nvgprs = 4\n[[arg]]\nu32 = 1", &["arg 1", "no parameters"]),
        (
            "[raw]\nvgprs = 4\n[buffer.x]\nzeros = 8\nparts = [{ at = 4, buffer = \"x\" }]",
            &["buffer.x.parts 1", "8 bytes"],
        ),
    ];
    for (raw, parts) in cases {
        let message = stream(raw).expect_err(raw);
        assert!(
            parts.iter().all(|part| message.contains(part)),
            "{raw}\n{message}\nshould have: {parts:?}"
        );
    }
}
