//! The limits of a PTX launch, as a driver checks them.

use warploom::{Arg, EngineKind, LaunchOptions, Program};

/// Returns a module with a kernel `k` that counts its lanes in `out`.
fn kernel(target: &str, before: &str, directives: &str, body: &str) -> String {
    format!(
        ".version 8.1\n.target {target}\n.address_size 64\n{before}\n.visible .entry k(.param .u64 out) {directives}\n{{\n\
         .reg .b64 %d<4>; .reg .b32 %r<4>;\n{body}\nld.param.u64 %d0, [out];\nred.global.add.u32 [%d0], 1;\nret;\n}}\n"
    )
}

/// Returns how many lanes ran, or why the launch was refused; both engines must agree.
fn launch(text: &str, block: [u32; 3], dynamic: u32) -> Result<u32, String> {
    let [a, b] = [EngineKind::Interp, EngineKind::Jit].map(|engine| {
        let program =
            Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let out = program.memory().alloc(4, 256).unwrap();
        program.memory().write(out, &[0; 4]).unwrap();
        let options =
            LaunchOptions { engine, shared_bytes: dynamic, ..LaunchOptions::new([1, 1, 1], block) };
        let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options);
        let outcome = outcome.map_err(|error| error.to_string())?;
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault.map(|fault| fault.to_string()));
        let mut count = [0; 4];
        program.memory().read(out, &mut count).unwrap();
        Ok(u32::from_le_bytes(count))
    });
    assert_eq!(a, b, "the engines differ");
    a
}

fn refused(text: &str, block: [u32; 3], dynamic: u32) -> String {
    launch(text, block, dynamic).expect_err("the launch is refused")
}

#[test]
fn blocks_fit_what_the_kernel_was_compiled_for() {
    let required = kernel("sm_80", "", ".reqntid 8, 2", "");
    assert_eq!(launch(&required, [8, 2, 1], 0), Ok(16));
    for block in [[16, 1, 1], [2, 8, 1], [8, 2, 2], [8, 1, 1]] {
        let error = refused(&required, block, 0);
        assert_eq!(
            error,
            format!(
                "a block of {block:?} lanes: kernel `k` was compiled for blocks of exactly [8, 2, 1]"
            )
        );
    }
    let most = kernel("sm_80", "", ".maxntid 8, 2", "");
    // Only the product of the dimensions counts.
    for block in [[8, 2, 1], [16, 1, 1], [1, 1, 16], [3, 1, 1]] {
        assert_eq!(launch(&most, block, 0), Ok(block.iter().product()));
    }
    let error = refused(&most, [17, 1, 1], 0);
    assert_eq!(
        error,
        "a block of [17, 1, 1] lanes: kernel `k` was compiled for at most 16 lanes in a block"
    );
}

#[test]
fn blocks_have_1024_lanes_and_64_along_z() {
    let text = kernel("sm_80", "", "", "");
    assert_eq!(launch(&text, [1024, 1, 1], 0), Ok(1024));
    assert_eq!(launch(&text, [4, 4, 64], 0), Ok(1024));
    let error = refused(&text, [1025, 1, 1], 0);
    assert_eq!(
        error,
        "kernel `k`: 1025 lanes of a block of [1025, 1, 1] are more than sm_80 has: 1024"
    );
    assert_eq!(
        refused(&text, [4, 1, 65], 0),
        "kernel `k`: 65 lanes along z are more than sm_80 has: 64"
    );
}

#[test]
fn clusters_have_one_block() {
    assert_eq!(
        launch(&kernel("sm_90", "", ".reqnctapercluster 1, 1, 1", ""), [32, 1, 1], 0),
        Ok(32)
    );
    assert_eq!(launch(&kernel("sm_90", "", ".explicitcluster", ""), [32, 1, 1], 0), Ok(32));
    let error = refused(
        &kernel("sm_90", "", ".explicitcluster .reqnctapercluster 2, 1, 1", ""),
        [32, 1, 1],
        0,
    );
    assert_eq!(
        error,
        "kernel `k` asks for clusters of [2, 1, 1] blocks (.reqnctapercluster): expected clusters of one block, \
         larger ones are not executed"
    );
}

#[test]
fn static_shared_memory_ends_at_48_kib() {
    let text = |bytes: u32| {
        kernel(
            "sm_90",
            &format!(".shared .align 4 .b8 s[{bytes}];"),
            "",
            "mov.u32 %r0, 1; st.shared.u32 [s], %r0;",
        )
    };
    assert_eq!(launch(&text(49152), [32, 1, 1], 0), Ok(32));
    let error = refused(&text(49153), [32, 1, 1], 0);
    assert_eq!(
        error,
        "kernel `k`: 49153 bytes of static shared memory are more than sm_90 has: 49152"
    );
}

#[test]
fn dynamic_shared_memory_is_what_the_target_has() {
    for (target, kib) in [
        ("sm_50", 48),
        ("sm_52", 48),
        ("sm_61", 48),
        ("sm_62", 48),
        ("sm_70", 96),
        ("sm_75", 64),
        ("sm_80", 163),
        ("sm_86", 99),
        ("sm_87", 163),
        ("sm_89", 99),
        ("sm_90", 227),
        ("sm_90a", 227),
    ] {
        let before = ".shared .align 16 .b8 s[64]; .extern .shared .align 16 .b8 dynamic[];";
        let text = kernel(
            target,
            before,
            "",
            "mov.u32 %r0, 1; st.shared.u32 [s], %r0; st.shared.u32 [dynamic+16], %r0;",
        );
        let most = kib * 1024 - 64;
        assert_eq!(launch(&text, [32, 1, 1], most), Ok(32), "{target}");
        let error = refused(&text, [32, 1, 1], most + 1);
        let (total, limit) = (kib * 1024 + 1, kib * 1024);
        let dynamic = most + 1;
        let expected = format!(
            "kernel `k`: {total} bytes of shared memory (64 static, {dynamic} dynamic) are more than {target} has: {limit}"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn parameters_have_a_limit() {
    let text = |version: &str, bytes: u32| {
        format!(
            ".version {version}\n.target sm_70\n.address_size 64\n.entry k(.param .align 4 .b8 p[{bytes}]) {{ ret; }}\n"
        )
    };
    for (version, limit) in [("8.0", 4352), ("8.1", 32764)] {
        assert!(Program::load(text(version, limit).as_bytes(), None).is_ok());
        let Err(error) = Program::load(text(version, limit + 1).as_bytes(), None) else {
            panic!("too many bytes")
        };
        let expected =
            format!("4:8: {} bytes of parameters of `k`, a kernel may have {limit}", limit + 1);
        assert_eq!(error.to_string(), expected);
    }
}
