//! Handles and indices that nobody provided, and values that a driver provides besides arguments,
//! in each way in which kernels can ask for them.

use warploom_replay::Session;
use warploom_runtime::fault::FaultKind;

use super::layers::{HANDLES, IMAGES, Image, PLAIN, launch};
use super::visa_launch::{ENGINES, Files, words_of};

/// Messages on a surface variable `#`, or on a surface `@` that LSC's messages name.
const MESSAGES: [&str; 27] = [
    "gather4_scaled.R (M1, 16) # 0x0:ud A.0 D.0",
    "scatter4_scaled.R (M1, 16) # 0x0:ud A.0 S.0",
    "gather_scaled.1 (M1, 16) # 0x0:ud A.0 D.0",
    "scatter_scaled.1 (M1, 16) # 0x0:ud A.0 S.0",
    "qw_gather.1 (M1, 16) # A.0 D.0",
    "qw_scatter.1 (M1, 16) # A.0 S.0",
    "dword_atomic.add (M1, 16) # A.0 S.0 %null.0 D.0",
    "oword_ld (1) # 0x0:ud D.0",
    "oword_ld (8) # 0x0:ud D.0",
    "oword_st (1) # 0x0:ud S.0",
    "oword_st (8) # 0x0:ud S.0",
    "media_ld.nomod  (8,2) # 0x0 0x0:d 0x0:d D.0",
    "media_st.nomod  (8,2) # 0x0 0x0:d 0x0:d S.0",
    "gather4_typed.RGBA (M1, 16) # A.0 %null.0 %null.0 %null.0 D.0",
    "scatter4_typed.RGBA (M1, 16) # A.0 %null.0 %null.0 %null.0 S.0",
    "typed_atomic.add (M1, 16) # A.0 %null.0 %null.0 %null.0 S.0 %null.0 D.0",
    "load_lz.RGBA (M1, 16) 0x0:uw # D.0 A.0",
    "load_3d.RGBA (M1, 16) 0x0:uw # D.0 A.0",
    "sample_lz.RGBA (M1, 16) 0x0:uw S31 # D.0 A.0",
    "sample4.R (M1, 16) 0x0:uw S31 # D.0 A.0",
    "resinfo.RGBA (M1_NM, 16) # %null.0 D.0",
    "lsc_load.ugm (M1, 16) D:d32 @[A]:a32",
    "lsc_load.ugm (M1_NM, 1) D:d32x64t @[A]:a32",
    "lsc_store.ugm (M1, 16) @[A]:a32 S:d32",
    "lsc_atomic_iadd.ugm (M1, 16) D:d32 @[A]:a32 S %null",
    "lsc_load_quad.tgm (M1, 16) D:d32.xyzw bss(H)[A]:a32",
    "lsc_store_quad.tgm (M1, 16) bss(H)[A]:a32 S:d32.xyzw",
];

#[test]
fn a_surface_that_nobody_provided_is_a_fault() {
    // No surface, a handle behind all surfaces, and an index without an entry.
    for (number, surface, lsc) in
        [("0x0", "%bss", "bss(H)"), ("0x7c0", "%bss", "bss(H)"), ("0x9", "T6", "bti(0x9)")]
    {
        let handle = format!(
            "mov (M1_NM, 1) H(0,0)<1> {number}:ud\nmovs (M1_NM, 1) {surface}(0) {number}:ud"
        );
        for message in MESSAGES {
            if surface == "T6" && message.contains("bss(") {
                continue;
            }
            let message = message.replace('#', surface).replace('@', lsc);
            let found = |text: &str| {
                let launch = launch(IMAGES[1], text, &handle, &[], PLAIN);
                ENGINES.map(|engine| {
                    let session = Session::new(&launch).unwrap();
                    session.launch(&session.options(engine, 1), None).unwrap().fault
                })
            };
            for fault in found(&message) {
                let fault = fault.unwrap_or_else(|| panic!("{message}, {number}: no fault"));
                assert_eq!(fault.kind(), FaultKind::InvalidSurface, "{message}, {number}: {fault}");
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(words(&fault.to_string()).contains(&words(&message)), "{fault}");
            }
            // A message that no lane executes does nothing.
            let none = format!("goto (M1, 16) end\n{message}\nend:");
            assert!(found(&none).iter().all(Option::is_none), "{none}");
        }
        // A load into `%null` is a hint.
        let hint = format!("lsc_load.ugm (M1, 16) %null:d32 {lsc}[A]:a32");
        let launch = launch(IMAGES[1], &hint, &handle, &[], PLAIN);
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            assert!(
                session.launch(&session.options(engine, 1), None).unwrap().fault.is_none(),
                "{hint}"
            );
        }
    }
}

/// Returns a kernel that loads a dword through an entry of the payload, and stores it.
fn loads(load: &str) -> String {
    format!(
        ".version 4.1\n.kernel \"k\"\n.decl OUT v_type=G type=uq num_elts=1 align=qword\n\
         .decl H v_type=G type=ud num_elts=2 align=qword\n.decl F v_type=G type=uq num_elts=1 align=qword alias=<H, 0>\n\
         .decl A v_type=G type=ud num_elts=16 align=GRF\n.decl D v_type=G type=ud num_elts=16 align=GRF\n\
         .input OUT offset=32 size=8\n.input H offset=40 size=8\n.kernel_attr SimdSize=16\nmain:\n\
         mov (M1_NM, 16) A(0,0)<1> 0x0:ud\n{load}\nlsc_store.ugm (M1_NM, 1) flat[OUT]:a64 D:d32x1t\nret (M1, 1)\n"
    )
}

const OUT: &str = "arg_bypointer:0:8:0:stateless:global";

fn files(entry: &str, load: &str) -> Files {
    let mut files = Files::new("dg2", 16, &format!("{OUT},{entry}"));
    files.text(&loads(load));
    files.buffer("out", &[0; 4], "u32");
    files
}

/// The buffer of `printf` begins with the number of bytes that it has used: 4 (facts,
/// `visa-semantics.md` 10). The implicit arguments begin with their size and version, dimensions
/// and lanes (section 8).
#[test]
fn buffers_of_the_driver_in_each_mode() {
    const FLAT: &str = "lsc_load.ugm (M1_NM, 1) D:d32x1t flat[F]:a64";
    const BINDLESS: &str = "lsc_load.ugm (M1_NM, 1) D:d32x1t bss(H)[A]:a32";
    const BOUND: &str = "lsc_load.ugm (M1_NM, 1) D:d32x1t bti(0x7)[A]:a32";
    for (kind, first) in [("printf_buffer", 4), ("implicit_arg_buffer", 16 << 24 | 1 << 16 | 112)] {
        for (mode, load) in [
            (":8", FLAT),
            (":8:stateless", FLAT),
            (":4:bindless", BINDLESS),
            (":8:bindless", BINDLESS),
            (":0:bti:7", BOUND),
            (":8:bti:7", BOUND),
            (":8:bti:7", FLAT),
        ] {
            let launch = files(&format!("{kind}:8{mode}"), load).launch([1, 1, 1], [16, 1, 1]);
            for engine in ENGINES {
                let session = Session::new(&launch).unwrap();
                let outcome = session.launch(&session.options(engine, 1), None).unwrap();
                assert!(outcome.fault.is_none(), "{kind}{mode}: {}", outcome.fault.unwrap());
                assert_eq!(
                    words_of(&session.buffer(0).unwrap()),
                    [first],
                    "{engine}, {kind}{mode}, {load}"
                );
            }
        }
    }
    // Constants that the binary lacks have no surface.
    let launch = files("const_base:8:4:bindless", BINDLESS).launch([1, 1, 1], [16, 1, 1]);
    let session = Session::new(&launch).unwrap();
    let fault = session.launch(&session.options(ENGINES[0], 1), None).unwrap().fault.unwrap();
    assert_eq!(fault.kind(), FaultKind::InvalidSurface, "{fault}");
}

#[test]
fn what_is_not_provided_is_refused_by_name() {
    for (entry, name) in [
        ("assert_buffer:8:8:stateless", "`assert_buffer` of 8 bytes, addrmode stateless"),
        ("sync_buffer:8:8", "`sync_buffer` of 8 bytes"),
        ("rt_global_buffer:8:8", "`rt_global_buffer`"),
        ("scratch_pointer:8:8", "`scratch_pointer`"),
        ("sampler_address:8:4", "`sampler_address`"),
        ("image_channel_order:8:4", "`image_channel_order`"),
        ("image_width:8:4", "`image_width`"),
        ("const_base:8:4", "`const_base` of 4 bytes"),
        ("const_base:8:4:stateless", "`const_base` of 4 bytes, addrmode stateless"),
        ("const_base:8:8:stateful", "`const_base` of 8 bytes, addrmode stateful"),
        ("global_base:8:8:slm", "`global_base` of 8 bytes, addrmode slm"),
        (
            "private_base_stateless:8:4:bindless",
            "`private_base_stateless` of 4 bytes, addrmode bindless",
        ),
        ("inline_sampler:8:8:bindless", "`inline_sampler`"),
        ("packed_local_ids:0:6", "`packed_local_ids`"),
        ("something_new:8:8", "`something_new`"),
    ] {
        let launch = files(entry, "").launch([1, 1, 1], [16, 1, 1]);
        let session = Session::new(&launch).unwrap();
        let error = session
            .launch(&session.options(ENGINES[0], 1), None)
            .map(drop)
            .expect_err(entry)
            .to_string();
        assert!(error.contains("kernel `k` asks for") && error.contains(name), "{entry}: {error}");
    }
}

#[test]
fn images_of_other_types_are_refused() {
    for ty in [
        "image_2d_msaa",
        "image_2d_array_msaa",
        "image_2d_msaa_depth",
        "image_cube_array",
        "image_4d",
    ] {
        for (size, mode) in [(8, "bindless"), (0, "stateful")] {
            let mut files =
                Files::new("dg2", 16, &format!("{OUT},arg_bypointer:8:{size}:1:{mode}:image:{ty}"));
            files.text(&loads(""));
            files.buffer("out", &[0; 4], "u32");
            files.surface("image", "2d", [4, 4, 1], "r32_sint", &[0; 64]);
            let launch = files.launch([1, 1, 1], [16, 1, 1]);
            let session = Session::new(&launch).unwrap();
            let error = session
                .launch(&session.options(ENGINES[0], 1), None)
                .map(drop)
                .expect_err(ty)
                .to_string();
            assert!(
                error.contains("`arg_bypointer`") && error.contains(&format!("{mode}, {ty}")),
                "{ty}: {error}"
            );
        }
    }
}

/// A surface that is described as a cube is refused. A message that is not executed is a fault with
/// the message's text.
#[test]
fn what_is_refused() {
    for dim in ["cube", "cube_array"] {
        let image = Image { dim, size: [4, 4, if dim == "cube" { 6 } else { 12 }] };
        let launch =
            launch(image, "load_lz.R (M1, 16) 0x0:uw %bss D.0 A.0", HANDLES[0], &[], PLAIN);
        let error = Session::new(&launch).err().expect(dim).to_string();
        assert!(error.contains("surface `image`") && error.contains("cubes"), "{error}");
    }
    for text in [
        "load_2dms_w.RGBA (M1, 16) 0x0:uw %bss D.0 A.0 A.64 A.128 A.192",
        "load_mcs.RGBA (M1, 16) 0x0:uw %bss D.0 A.0 A.64 A.128",
        "load_l.RGBA (M1, 16) 0x0:uw %bss D.0 A.0 A.64 A.128",
        "sample_po_lz.RGBA (M1, 16) 0x0:uw S31 %bss D.0 A.0 A.64 A.128",
        "lod.RGBA (M1, 16) 0x0:uw S31 %bss D.0 A.0 A.64 A.128",
    ] {
        let launch = launch(IMAGES[4], text, HANDLES[0], &[], PLAIN);
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            let fault =
                outcome.fault.unwrap_or_else(|| panic!("{engine}, {text}: no fault")).to_string();
            assert!(fault.contains(text), "{engine}: {fault}");
        }
    }
}
