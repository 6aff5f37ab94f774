//! Messages of geometry programs, against a model of each message: vertices in order, strips,
//! streams, lanes that are off, no room.

use warploom_replay::{Array, Launch};

use super::{assembled, error, list, run};

/// The number of threads: two workgroups, of which the second is short.
const THREADS: usize = 90;
const MOST: usize = 4;

/// A message's effect.
#[derive(Clone, Copy, PartialEq)]
enum Message {
    Emit(u32),
    Cut,
    EmitCut(u32),
    /// From here on, exactly the lanes whose number in v0 is less than this limit are on.
    On(u32),
}

use Message::{Cut, Emit, EmitCut, On};

impl Message {
    fn text(self) -> String {
        match self {
            Emit(stream) => format!("s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, {stream})"),
            Cut => "s_sendmsg sendmsg(MSG_GS, GS_OP_CUT, 0)".into(),
            EmitCut(stream) => format!("s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT_CUT, {stream})"),
            On(limit) => {
                let limit = if limit <= 64 { limit.to_string() } else { format!("{limit:#x}") };
                format!(
                    "s_mov_b64 exec, s[8:9]\nv_cmp_gt_u32_e32 vcc, {limit}, v0\ns_and_b64 exec, exec, vcc"
                )
            }
        }
    }
}

const PROGRAMS: [&[Message]; 6] = [
    &[Emit(0), Emit(0), Emit(0), Cut],
    &[Emit(0), Emit(0), EmitCut(0), Emit(0), Cut],
    // More vertices than the maximum.
    &[Emit(0), Emit(0), Emit(0), Emit(0), Emit(0), EmitCut(0), Cut],
    &[Emit(1), Emit(0), Emit(0), Emit(3), Cut],
    &[On(40), Emit(0), On(90), Emit(0), On(70), Emit(0), Cut, On(20), Emit(0)],
    &[Cut, Cut, On(0), Emit(0), On(90), Emit(0), EmitCut(2)],
];

/// Returns the words of a thread: bit 0 means a vertex, bit 1 means that a strip ends before it,
/// and the upper bits are the stream.
fn model(program: &[Message], thread: u32) -> Vec<u32> {
    let (mut words, mut next, mut on) = (vec![0; MOST + 1], 0, true);
    for message in program {
        match message {
            On(limit) => on = thread < *limit,
            _ if !on => {}
            Emit(stream) | EmitCut(stream) if next < MOST => {
                words[next] |= 1 | stream << 8;
                next += 1;
            }
            _ => {}
        }
        if on && matches!(message, Cut | EmitCut(_)) {
            words[next] |= 2;
        }
    }
    words
}

fn launch(program: &[Message], strips: &str) -> Launch {
    let lines: Vec<String> = program.iter().map(|message| message.text()).collect();
    let code = format!(
        "s_mov_b64 s[8:9], exec\n{}\ns_mov_b64 exec, s[8:9]\ns_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)",
        lines.join("\n")
    );
    let rest = format!(
        "[vertices]\ncount = {THREADS}\n[primitives]\nvertices = 1\nmax_vertices = {MOST}\nstrips = \"{strips}\"\n\
         [raw]\nvgprs = 4\n[[raw.vgpr]]\nfirst = 0\nbuiltin = \"primitive_id\"\n[export.emitted]\n"
    );
    assembled(&code, "geometry", &rest).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn messages_emit_and_cut() {
    for (number, program) in PROGRAMS.iter().enumerate() {
        let launch = launch(program, "triangles");
        let (_, exported) = run(&launch, "messages");
        assert_eq!(exported.emitted.len(), THREADS);
        assert_eq!(exported.targets[0], exported.emitted);
        for (thread, words) in exported.emitted.iter().enumerate() {
            assert_eq!(*words, model(program, thread as u32), "program {number}, thread {thread}");
        }
    }
}

/// The vertices of stream 0 form strips: points, lines, or triangles with alternating winding.
#[test]
fn strips_are_what_was_emitted() {
    let program = [Emit(0), Emit(0), Emit(0), Emit(0)];
    let cut = [Emit(0), EmitCut(0), Emit(0), Emit(0)];
    let one = [Emit(0), Emit(1), Emit(0), Emit(0)];
    for (program, strips, of_thread) in [
        (program, "points", vec![vec![0], vec![1], vec![2], vec![3]]),
        (program, "lines", vec![vec![0, 1], vec![1, 2], vec![2, 3]]),
        (program, "triangles", vec![vec![0, 1, 2], vec![1, 3, 2]]),
        (cut, "lines", vec![vec![0, 1], vec![2, 3]]),
        (cut, "triangles", vec![]),
        (one, "triangles", vec![vec![0, 2, 3]]),
    ] {
        let launch = launch(&program, strips);
        let (_, exported) = run(&launch, strips);
        let arrays: Vec<(&str, Array)> =
            launch.shader.as_ref().unwrap().arrays(&exported).collect();
        let (name, indices) = &arrays[1];
        assert_eq!(*name, "indices");
        let expected: Vec<u32> = (0..THREADS)
            .flat_map(|thread| {
                of_thread.iter().flatten().map(move |vertex| (thread * MOST) as u32 + vertex)
            })
            .collect();
        let bytes: Vec<u8> = expected.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(indices.bytes, bytes, "{strips}");
        assert_eq!(indices.shape[0] as usize, THREADS * of_thread.len());
    }
}

/// The initial registers of lanes and waves, against the facts' layout of registers.
#[test]
fn merged_stages_begin_with_their_registers() {
    // Five patches of four control points in and six out, with two patches in a workgroup.
    let registers = |kind: &str, of: &[(u32, &str)]| {
        let one = |(first, name): &(u32, &str)| {
            format!("[[raw.{kind}]]\nfirst = {first}\nbuiltin = \"{name}\"\n")
        };
        of.iter().map(one).collect::<String>()
    };
    let vgprs = [
        (0, "primitive_id"),
        (1, "patch_thread"),
        (2, "vertex_id"),
        (3, "vertex_in_group"),
        (4, "instance_id"),
        (5, "invocation_id"),
    ];
    let sgprs = [(2, "offchip_offset"), (3, "wave_info"), (4, "factor_offset")];
    let store: String = (0..6)
        .map(|n| {
            format!("buffer_store_dword v{n}, v8, s[12:15], 0 offen offset:{}\n", 4 * n)
                .replace(" offset:0", "")
        })
        .chain((2..5).map(|n| {
            format!(
                "v_mov_b32_e32 v9, s{n}\nbuffer_store_dword v9, v8, s[12:15], 0 offen offset:{}\n",
                4 * (n + 4)
            )
        }))
        .collect();
    // Each lane of each wave has a place of its own; the off-chip offset gives its workgroup's
    // part.
    let code = format!(
        "s_mov_b64 exec, -1\nv_mbcnt_lo_u32_b32 v8, -1, 0\nv_mbcnt_hi_u32_b32 v8, -1, v8\nv_lshlrev_b32_e32 v8, 6, v8\n\
         v_add_u32_e32 v8, s2, v8\n{store}"
    );
    let indices = list((0..20).map(|n| 19 - n));
    let rest = format!(
        "[vertices]\ncount = 10\ninstances = 2\nfirst = 100\n[primitives]\nvertices = 4\nthreads = 6\nindices = {indices}\n\
         [tessellation]\ngroup = 2\noffchip_bytes = 4096\nfactor_bytes = 24\n[raw]\nvgprs = 12\n\
         [[raw.sgpr]]\nfirst = 12\nbuffer_descriptor = {{ buffer = \"out\" }}\n{}{}[buffer.out]\nzeros = 12288\ndtype = \"u32\"\n",
        registers("sgpr", &sgprs),
        registers("vgpr", &vgprs)
    );
    let launch = assembled(&code, "tess_control", &rest).unwrap_or_else(|error| panic!("{error}"));
    let (session, _) = run(&launch, "registers");
    let bytes = session.buffer(0).unwrap();
    let words: Vec<u32> =
        bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    for group in 0..3_u32 {
        let patches = if group == 2 { 1 } else { 2 };
        for lane in 0..64_u32 {
            let found = &words[(1024 * group + 16 * lane) as usize..][..9];
            let row = if lane < 4 * patches { Some(19 - (8 * group + lane)) } else { None };
            let thread = if lane < 6 * patches { Some((lane / 6, lane % 6)) } else { None };
            let expected = [
                thread.map_or(0, |(patch, _)| 2 * group + patch),
                thread.map_or(0, |(patch, thread)| patch | thread << 8),
                row.map_or(0, |row| 100 + row % 10),
                row.map_or(0, |_| lane),
                row.map_or(0, |row| row / 10),
                thread.map_or(0, |(_, thread)| thread),
                4096 * group,
                (4 * patches) | ((6 * patches) << 8) | (group << 16) | (1 << 28),
                2 * group * 24,
            ];
            assert_eq!(found, expected, "workgroup {group}, lane {lane}");
        }
    }
}

#[test]
fn what_fixed_function_does_is_asked_for() {
    let vertices = "[raw]\nvgprs = 4\n[vertices]\ncount = 6\n";
    let primitives = format!("{vertices}[primitives]\nvertices = 3\n");
    let geometry = format!("{primitives}max_vertices = 3\n");
    let sgpr =
        |name: &str, rest: &str| format!("[[raw.sgpr]]\nfirst = 2\nbuiltin = \"{name}\"\n{rest}");
    let vgpr =
        |name: &str, rest: &str| format!("[[raw.vgpr]]\nfirst = 0\nbuiltin = \"{name}\"\n{rest}");
    for (stage, rest, expected) in [
        ("vertex", primitives.clone(), "primitives: a vertex program has [vertices] alone"),
        (
            "vertex",
            format!("{vertices}[tessellation]\ngroup = 2\n"),
            "tessellation: a vertex program",
        ),
        ("tess_control", vertices.to_owned(), "primitives: missing"),
        ("geometry", vertices.to_owned(), "primitives: missing"),
        ("geometry", primitives.clone(), "primitives.max_vertices: missing"),
        (
            "geometry",
            format!("{primitives}max_vertices = 2000\n"),
            "primitives.max_vertices: 2000: expected 1 to 1024",
        ),
        (
            "geometry",
            format!("{geometry}threads = 33\n"),
            "primitives.threads: 33: expected 1 to 32",
        ),
        (
            "geometry",
            format!("{geometry}group = 400\n"),
            "primitives.group: 400: expected 1 to 320",
        ),
        (
            "geometry",
            format!("{geometry}group = 300\nitem_words = 40000\n"),
            "primitives.item_words: 40000",
        ),
        ("geometry", format!("{geometry}indices = [0, 1, 6]\n"), "vertex 6: there are 6"),
        (
            "geometry",
            format!("{geometry}indices = [0, 1]\n"),
            "primitives.vertices: 2 vertices: expected 3 for each",
        ),
        (
            "geometry",
            format!("{geometry}attribute.\"0x80\" = [1.0]\n"),
            "primitives.attribute: it belongs to programs of other",
        ),
        (
            "tess_control",
            geometry.clone(),
            "primitives.max_vertices: it belongs to programs of other stages",
        ),
        (
            "tess_eval",
            primitives.clone(),
            "primitives: it belongs to programs of another instruction set",
        ),
        (
            "geometry",
            format!("{primitives}max_vertices = 1024\ngroup = 1\n")
                .replace("count = 6", "count = 3000"),
            "64000 lanes: expected at most 32736",
        ),
        ("tess_eval", format!("{vertices}tess_u = [0.0]\n"), "expected a row for each lane of 6"),
        (
            "vertex",
            format!("{vertices}pos_x = [0.0]\n"),
            "vertices.pos_x: expected `tess_u`, `tess_v` or `ring_vertex`",
        ),
        ("vertex", format!("{vertices}tess_w = [0.0]\n"), "tess_w"),
        // Patches of two workgroups.
        (
            "geometry",
            format!(
                "{vertices}patch = [0, 0, 1, 1, 1, 1]\n[primitives]\nvertices = 3\nmax_vertices = 3\n[tessellation]\ngroup = 1\n"
            ),
            "primitives.indices: vertices of primitive 0 are of patches of two workgroups",
        ),
        (
            "tess_control",
            format!("{primitives}[tessellation]\ngroup = 0\n"),
            "tessellation.group: 0: expected 1 to 320",
        ),
        (
            "fragment",
            "[raw]\nvgprs = 4\n[pixels]\ncovered = [1, 1, 1, 1]\n[tessellation]\n".into(),
            "tessellation: a fragment program",
        ),
        // Registers.
        (
            "vertex",
            sgpr("wave_info", vertices),
            "raw.sgpr 1: expected a program of stage tess_control or geometry",
        ),
        (
            "tess_control",
            sgpr("offchip_offset", &primitives),
            "raw.sgpr 1: expected `offchip_bytes` in [tessellation]",
        ),
        (
            "tess_eval",
            sgpr("offchip_offset", &format!("{vertices}[tessellation]\noffchip_bytes = 64\n")),
            "`group` there and `patch` in",
        ),
        (
            "tess_control",
            sgpr("factor_offset", &primitives),
            "with `factor_bytes` in [tessellation]",
        ),
        ("geometry", sgpr("ring_offset", &geometry), "with `ring_words` in [primitives]"),
        ("vertex", vgpr("tess_u", vertices), "raw.vgpr 1: expected `tess_u` in [vertices]"),
        (
            "tess_eval",
            vgpr("patch_in_group", vertices),
            "expected `patch` in [vertices] and `group` in [tessellation]",
        ),
        ("geometry", vgpr("vertices_01", &geometry), "with `item_words` in [primitives]"),
        ("geometry", vgpr("patch_thread", &geometry), "expected a program of stage tess_control"),
        ("geometry", vgpr("ring_offset", &geometry), "raw.vgpr 1: a builtin that is in no vgpr"),
        // Exports.
        (
            "vertex",
            format!("{vertices}[export.emitted]\n"),
            "export.emitted: it belongs to geometry programs",
        ),
        (
            "geometry",
            format!("{geometry}[export.\"patch0x20\"]\n"),
            "it belongs to tessellation control programs",
        ),
        (
            "geometry",
            format!("{geometry}[buffer.indices]\nzeros = 4\n"),
            "indices.npy would hold two things",
        ),
    ] {
        let found = error("s_nop 0", stage, &rest);
        assert!(found.contains(expected), "{rest}\nfound: {found}\nexpected: {expected}");
    }
}
