//! `exp` and `v_interp_*` alone, against the facts' account of them.

use half::f16;

use super::{assembled, fault, list, run};

const LANES: usize = 72;

fn word(register: u32, lane: usize) -> u32 {
    (register + 1) << 16 | lane as u32
}

/// Returns a fragment program of two waves, of which the last is short. v0 to v3 have [`word`]s,
/// and some lanes are covered.
fn program(code: &str, exports: &str) -> warploom_replay::Launch {
    let mut rest = String::from("[raw]\nvgprs = 8\n");
    for register in 0..4 {
        let values = list((0..LANES).map(|lane| word(register, lane)));
        rest += &format!("[[raw.vgpr]]\nfirst = {register}\nvalues = {values}\n");
    }
    rest += &format!(
        "[pixels]\ncovered = {}\n{exports}",
        list((0..LANES).map(|lane| u32::from(is_covered(lane))))
    );
    assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"))
}

fn is_covered(lane: usize) -> bool {
    lane % 3 != 1
}

/// Code, and the registers that it exports to mrt0 and to mrtz. None: it exports nothing.
type Row = (&'static str, [Option<u32>; 4], [Option<u32>; 4]);

const ROWS: [Row; 10] = [
    ("exp mrt0 v0, v1, v2, v3 done vm", [Some(0), Some(1), Some(2), Some(3)], [None; 4]),
    ("exp mrt0 v3, off, v1, off done vm", [Some(3), None, Some(1), None], [None; 4]),
    // Packed: the first register is word 0, the second word 2.
    ("exp mrt0 v1, v1, v2, v2 done compr vm", [Some(1), None, Some(2), None], [None; 4]),
    ("exp mrt0 off, off, v2, v2 compr", [None, None, Some(2), None], [None; 4]),
    ("exp mrt0 v1, v1, off, off done compr vm", [Some(1), None, None, None], [None; 4]),
    // A later export overrides an earlier export, in its own components only.
    (
        "exp mrt0 v0, v0, v0, v0\nexp mrt0 v1, off, off, v2 done vm",
        [Some(1), Some(0), Some(0), Some(2)],
        [None; 4],
    ),
    (
        "exp mrtz v0, off, off, off\nexp mrt0 v1, v1, v1, v1 done vm",
        [Some(1); 4],
        [Some(0), None, None, None],
    ),
    // A target that the manifest does not name.
    ("exp mrt5 v0, v1, v2, v3\nexp null off, off, off, off done vm", [None; 4], [None; 4]),
    // Lanes that are off export nothing, and are not kept.
    (
        "v_cmp_gt_u32_e32 vcc, 0x10028, v0\ns_and_b64 exec, exec, vcc\nexp mrt0 v0, v1, v2, v3 done vm",
        [Some(0), Some(1), Some(2), Some(3)],
        [None; 4],
    ),
    ("s_mov_b64 exec, 0\nexp null off, off, off, off done vm", [None; 4], [None; 4]),
];

#[test]
fn exports_leave_their_registers() {
    for (code, colour, depth) in ROWS {
        let launch = program(code, "[export.mrt0]\n[export.mrtz]\nformat = 1\n");
        let (_, exported) = run(&launch, code);
        let shader = launch.shader.as_ref().unwrap();
        assert_eq!(
            shader.exports.iter().map(|target| target.name.as_str()).collect::<Vec<_>>(),
            ["mrt0", "mrtz"]
        );
        for lane in 0..LANES {
            let on = match code {
                code if code.contains("s_mov_b64 exec, 0") => false,
                code if code.contains("v_cmp_gt_u32") => is_covered(lane) && lane < 40,
                _ => is_covered(lane),
            };
            let kept = on && code.contains("vm");
            assert_eq!(exported.kept[lane], kept, "{code}, lane {lane}");
            let words = |registers: [Option<u32>; 4], default: [u32; 4]| {
                std::array::from_fn::<_, 4, _>(|i| match registers[i] {
                    Some(register) if on => word(register, lane),
                    _ => default[i],
                })
            };
            assert_eq!(exported.targets[0][lane], words(colour, [0; 4]), "{code}, lane {lane}");
            // Without an exported mask, the mask has all samples.
            assert_eq!(
                exported.targets[1][lane],
                words(depth, [0, 0, u32::MAX, 0]),
                "{code}, lane {lane}"
            );
        }
    }
}

/// With one sample, the mask's lowest bit decides, in formats with a mask.
#[test]
fn sample_masks_drop_lanes() {
    // v0 is odd in every other lane. Packed, the mask is the low half of z.
    for (code, format, masked) in [
        ("exp mrtz off, off, v0, v0 compr\nexp mrt0 v0, v0, v0, v0 done vm", 7, true),
        ("exp mrtz v1, v1, v0, off\nexp mrt0 v0, v0, v0, v0 done vm", 9, true),
        ("exp mrtz v1, off, off, off\nexp mrt0 v0, v0, v0, v0 done vm", 9, false),
        ("exp mrtz v0, off, off, off\nexp mrt0 v0, v0, v0, v0 done vm", 1, false),
    ] {
        let launch = program(code, &format!("[export.mrtz]\nformat = {format}\n"));
        let (_, exported) = run(&launch, code);
        for lane in 0..LANES {
            assert_eq!(
                exported.kept[lane],
                is_covered(lane) && (!masked || lane % 2 == 1),
                "{code}, lane {lane}"
            );
        }
    }
}

#[test]
fn targets_of_other_stages_are_faults() {
    for code in [
        "exp pos0 v0, v0, v0, v0 done",
        "exp param3 v0, v0, v0, v0",
        "exp invalid_target_10 v0, v0, v0, v0",
    ] {
        let text = fault(&program(code, ""));
        assert!(text.contains(code) && text.contains("unimplemented"), "{text}");
    }
    let vertex = "[raw]\nvgprs = 4\n[vertices]\ncount = 3\n";
    let launch = assembled("exp mrt0 v0, v0, v0, v0 done vm", "vertex", vertex).unwrap();
    assert!(fault(&launch).contains("exp mrt0"));
    let launch =
        assembled("exp pos0 v0, v0, v0, v0 done\nexp param31 v0, off, off, off", "vertex", vertex)
            .unwrap();
    run(&launch, "vertex");
}

/// Returns a primitive's value, by primitive, attribute, component and corner.
fn corner(primitive: usize, attribute: usize, component: usize, corner: usize) -> f32 {
    (primitive as f32 + 0.37) * (attribute as f32 * 2.0 - 1.13) + component as f32 * 0.61
        - corner as f32 * 1.7 * (component as f32 + 0.3)
}

fn weight(lane: usize, which: usize) -> f32 {
    ((lane * (7 + which * 4)) % 19) as f32 / 13.0 - 0.4
}

/// Returns the primitive of a lane's quad: a wave has several primitives.
fn primitive(lane: usize) -> usize {
    [0, 0, 1, 2, 2, 1, 0][lane / 4 % 7]
}

/// Attributes whose words are two halves. Interpolation rounds products and sums to singles and the
/// result to a half; one form keeps the other half of the register.
#[test]
fn halves_are_interpolated() {
    let halves = |primitive: usize, component: usize, v: usize| {
        [0, 1].map(|high| f16::from_f32(corner(primitive, high, component, v)))
    };
    let word = |p: usize, c: usize, v: usize| {
        let [low, high] = halves(p, c, v).map(|half| u32::from(half.to_bits()));
        low | high << 16
    };
    let parameters: Vec<[[[u32; 3]; 4]; 1]> =
        (0..3).map(|p| [[0, 1, 2, 3].map(|c| [0, 1, 2].map(|v| word(p, c, v)))]).collect();
    let rest = format!(
        "[raw]\nvgprs = 16\n[[raw.vgpr]]\nfirst = 0\nbuiltin = \"persp_center\"\n[pixels]\ncovered = {}\nprimitive = {}\npersp_center = {}\n\
         parameters = {parameters:?}\nhalf = [0]\n[export.mrt0]\n",
        list((0..LANES).map(|_| 1)),
        list((0..LANES / 4).map(|quad| primitive(4 * quad))),
        list((0..LANES).map(|lane| [weight(lane, 0), weight(lane, 1)])),
    );
    let code = "v_interp_mov_f32_e32 v4, p0, attr0.z\n\
        v_interp_p1ll_f16 v2, v0, attr0.x\nv_mov_b32_e32 v6, -1\nv_interp_p2_f16 v6, v1, attr0.x, v2\n\
        v_interp_p1ll_f16 v3, v0, attr0.y high\nv_mov_b32_e32 v7, -1\nv_interp_p2_legacy_f16 v7, v1, attr0.y, v3 high\n\
        v_interp_p1lv_f16 v5, v0, attr0.z, v4 high\nv_interp_p1lv_f16 v8, v0, attr0.z, -v4 clamp\n\
        exp mrt0 v6, v7, v5, v8 done vm";
    let launch = assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"));
    let (_, exported) = run(&launch, "halves");
    for lane in 0..LANES {
        let of = |component: usize, high: usize, sign: f32| {
            let [p0, p1, p2] =
                [0, 1, 2].map(|v| halves(primitive(lane), component, v)[high].to_f32());
            let [p10, p20] = [p1, p2].map(|p| f16::from_f32(p - p0).to_f32());
            let first = p10 * weight(lane, 0) + sign * p0;
            (first, f16::from_f32(p20 * weight(lane, 1) + first).to_bits())
        };
        let expected = [
            0xffff_0000 | u32::from(of(0, 0, 1.0).1),
            u32::from(of(1, 1, 1.0).1),
            of(2, 1, 1.0).0.to_bits(),
            of(2, 0, -1.0).0.clamp(0.0, 1.0).to_bits(),
        ];
        assert_eq!(exported.targets[0][lane], expected, "lane {lane}");
    }
}

#[test]
fn attributes_are_interpolated() {
    let covered = list((0..LANES).map(|lane| u32::from(lane % 4 != 3)));
    let quads = list((0..LANES / 4).map(|quad| primitive(4 * quad)));
    let weights = list((0..LANES).map(|lane| [weight(lane, 0), weight(lane, 1)]));
    let parameters: Vec<[[[f32; 3]; 4]; 2]> = (0..3)
        .map(|p| [0, 1].map(|a| [0, 1, 2, 3].map(|c| [0, 1, 2].map(|v| corner(p, a, c, v)))))
        .collect();
    let rest = format!(
        "[raw]\nvgprs = 16\n[[raw.sgpr]]\nfirst = 2\nbuiltin = \"prim_mask\"\n[[raw.vgpr]]\nfirst = 0\nbuiltin = \"persp_center\"\n\
         [pixels]\ncovered = {covered}\nprimitive = {quads}\npersp_center = {weights}\nparameters = {parameters:?}\nflat = [1]\n\
         [export.mrt0]\n[export.mrt1]\n"
    );
    // Lanes 0 to 2 read the helpers' results of lane 3 through the quad.
    let code = "s_mov_b64 s[4:5], exec\ns_wqm_b64 exec, exec\ns_mov_b32 m0, s2\n\
        v_interp_p1_f32_e32 v2, v0, attr0.x\nv_interp_p2_f32_e32 v2, v1, attr0.x\n\
        v_interp_p1_f32_e32 v3, v0, attr0.w\nv_interp_p2_f32_e32 v3, v1, attr0.w\n\
        v_interp_mov_f32_e32 v4, p10, attr0.y\nv_interp_mov_f32_e32 v5, p20, attr0.z\n\
        v_interp_mov_f32_e32 v6, p0, attr1.y\nv_interp_mov_f32_e32 v7, p10, attr1.y\n\
        v_mov_b32_dpp v8, v2 quad_perm:[3,3,3,3] row_mask:0xf bank_mask:0xf\n\
        v_interp_p1_f32_e64 v9, v0, attr0.x clamp\n\
        s_mov_b64 exec, s[4:5]\n\
        exp mrt0 v2, v3, v4, v5\nexp mrt1 v6, v7, v8, v9 done vm";
    let launch = assembled(code, "fragment", &rest).unwrap_or_else(|error| panic!("{error}"));
    let (_, exported) = run(&launch, "interpolation");
    let of = |lane: usize, component: usize| {
        let [p0, p1, p2] = [0, 1, 2].map(|v| corner(primitive(lane), 0, component, v));
        let first = (p1 - p0) * weight(lane, 0) + p0;
        (first, (p2 - p0) * weight(lane, 1) + first, p0, p1 - p0, p2 - p0)
    };
    for lane in (0..LANES).filter(|lane| lane % 4 != 3) {
        let floats =
            |words: &[u32]| words.iter().map(|&word| f32::from_bits(word)).collect::<Vec<_>>();
        let expected = [of(lane, 0).1, of(lane, 3).1, of(lane, 1).3, of(lane, 2).4];
        assert_eq!(floats(&exported.targets[0][lane]), expected, "lane {lane}");
        let flat = corner(primitive(lane), 1, 1, 0);
        let expected = [flat, 0.0, of(lane | 3, 0).1, of(lane, 0).0.clamp(0.0, 1.0)];
        assert_eq!(floats(&exported.targets[1][lane]), expected, "lane {lane}");
    }
}
