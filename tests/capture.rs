//! Manifests: what the examples have reads and writes; what is wrong says where.

use std::path::{Path, PathBuf};

use warploom::capture::manifest::{Arg, Buffer, Dim, Layout, Surface};
use warploom::capture::{ArgValue, Array, Dtype, Launch, Manifest, write};
use warploom::container;
use warploom::container::hsaco::ValueKind;

/// The manifests in a folder of examples, and in `gfx9` of it.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let list = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let folders = [list(root.clone()), list(root.join("gfx9"))].concat().into_iter().filter(|p| p.is_dir());
    let files = folders.flat_map(list);
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

/// Arguments are of the sizes and kinds that the kernels' metadata has.
#[test]
fn arguments_fit_the_kernels() {
    for path in examples() {
        let launch = Launch::read(&path).unwrap();
        let label = path.display();
        let module = container::modules(&launch.binary).unwrap_or_else(|e| panic!("{label}: {e}")).remove(0);
        let named =
            launch.entry.as_deref().map(|name| module.kernel(name).unwrap_or_else(|| panic!("{label}: {name}")));
        let kernel = module.function(named.unwrap_or_else(|| module.kernels().next().unwrap().0));
        assert_eq!(launch.args.len(), kernel.params.len(), "{label}");
        let lanes = launch.shape.block.iter().product::<u32>();
        let most = kernel.hsa.as_ref().and_then(|hsa| hsa.max_flat_workgroup_size);
        assert!(most.is_none_or(|most| lanes <= most), "{label}: {lanes}");
        for symbol in &launch.symbols {
            let variable = module.variable(&symbol.name).unwrap_or_else(|| panic!("{label}: {}", symbol.name));
            assert!(symbol.content.len() <= module.symbol(variable).size, "{label}");
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
                _ => ValueKind::GlobalBuffer,
            };
            assert_eq!(hsa.args[i].kind, expected, "{label}: argument {}", i + 1);
        }
    }
}

const HEAD: &str = "[kernel]\nbinary = \"k.cubin\"\n[launch]\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n";

fn resolve(rest: &str) -> Result<Launch, String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("k.cubin"), b"code").unwrap();
    std::fs::write(at("raw.bin"), [1, 2, 3, 4, 5, 6]).unwrap();
    write::array(&at("f.npy"), &Array { dtype: Dtype::F32, shape: vec![2, 1], bytes: vec![0; 8] }).unwrap();
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
    assert_eq!((launch.printf.bytes, launch.printf.expect), (Some(80), Some(vec![1, 2, 3, 4, 5, 6])));
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("[[arg]]\nbuffer = \"x\"", &["m.toml: arg 1", "no [buffer.x]"][..]),
        ("[[arg]]\nbuffer = \"x\"\ni32 = 1", &["exactly one key", "line 6"]),
        ("[[arg]]\ni33 = 1", &["unknown key `i33`", "f64"]),
        ("[[arg]]\nu8 = 256", &["256 is no u8", "from 0 to 255"]),
        ("[[arg]]\nbytes = \"0g\"", &["arg 1", "hex digits"]),
        ("[buffer.x]\nzeros = 4\nlength = 4", &["unknown field `length`", "line 8"]),
        ("[buffer.x]", &["buffer.x", "exactly one of"]),
        ("[buffer.x]\nzeros = 4\nfile = \"f.npy\"", &["exactly one of"]),
        ("[buffer.x]\nzeros = 0", &["buffer.x", "empty"]),
        ("[buffer.x]\nzeros = -1", &["line 7"]),
        ("[buffer.x]\nzeros = 6\ndtype = \"f32\"", &["buffer.x.zeros", "multiple of 4"]),
        ("[buffer.x]\nvalues = [1]", &["buffer.x.dtype", "missing"]),
        ("[buffer.x]\nvalues = [1, \"a\"]\ndtype = \"f32\"", &["buffer.x.values[1]", "expected a number"]),
        ("[buffer.x]\nfile = \"none.npy\"", &["none.npy", "cannot be read"]),
        ("[buffer.x]\nfile = \"f.npy\"\ndtype = \"i32\"", &["f.npy", "elements are f32: expected i32"]),
        ("[buffer.x]\nfile = \"raw.bin\"\ndtype = \"f32\"", &["raw.bin", "6 bytes", "multiple of 4"]),
        ("[buffer.x]\nzeros = 12\nexpect = \"f.npy\"", &["f.npy", "8 bytes of data, but buffer.x has 12"]),
        ("[buffer.x]\nzeros = 8\ndtype = \"i32\"\nexpect = \"f.npy\"", &["elements are f32, but buffer.x has i32"]),
        ("[buffer.x]\nzeros = 8\nrtol = 0.1", &["buffer.x.rtol", "no `expect`"]),
        ("[buffer.x]\nzeros = 8\nexpect = \"f.npy\"\natol = -1.0", &["buffer.x.atol", "from 0"]),
        ("[buffer.\"../x\"]\nzeros = 8", &["no slashes"]),
        ("[buffer.x]\nzeros = 8\npng = { size = [3, 1], map = \"grey\" }", &["buffer.x.png", "3 x 1 pixels in 8"]),
        ("[buffer.x]\nzeros = 8\npng = { size = [3, 1], map = \"gray\" }", &["line 8", "grey"]),
        ("[sparse.s]\nbytes = 65537\nresident = [2]", &["sparse.s.resident", "2 pages"]),
        ("[sparse.s]\nbytes = 0", &["sparse.s.bytes"]),
        ("[surface.i]\ndim = \"2d\"\nsize = [0, 1, 1]\nformat = \"r8\"", &["surface.i.size"]),
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
    manifest.buffers.insert("x".into(), Buffer { zeros: Some(16), dtype: Some(Dtype::U32), ..Buffer::default() });
    let image = Surface {
        dim: Dim::D2,
        size: [4, 4, 1],
        format: "r32_uint".into(),
        layout: Layout::Pitch,
        block_height: None,
        block_depth: None,
        file: None,
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
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manifest.md")).unwrap();
    let start = text.find("```toml\n").unwrap() + 8;
    let manifest = &text[start..start + text[start..].find("```").unwrap()];
    let manifest = Manifest::parse(manifest, Path::new("docs/manifest.md")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((manifest.args.len(), manifest.buffers.len(), manifest.sparse.len()), (4, 3, 1));
}
