//! IPA, PIXLD, KIL, outputs at EXIT, and values that quads share, each against a function of its
//! own.

use crate::support::{After, Case, Draw, bits, list};

/// Two triangles, each with three vertices of w and of eight words from 0x80 on.
struct Scene {
    covered: Vec<u32>,
    primitive: Vec<u32>,
    /// The weights of vertices 1 and 2 at the centre of each lane's pixel, and their changes to the
    /// right and downwards.
    weights: Vec<[f32; 2]>,
    slopes: [[f64; 2]; 2],
    w: Vec<[f32; 3]>,
    /// `[primitive][vertex][word]`
    words: Vec<[[u32; 8]; 3]>,
}

impl Scene {
    fn new() -> Scene {
        let mut draw = Draw(7);
        let slopes = [[0.03125, -0.015625], [0.0078125, 0.0234375]];
        let quads: u32 = 20;
        let weights = (0..4 * quads).map(|lane| {
            let (quad, x, y) = (lane / 4, lane & 1, lane >> 1 & 1);
            let place = [f64::from(quad % 5 * 2 + x), f64::from(quad / 5 * 2 + y)];
            [0, 1].map(|n| (0.25 + slopes[n][0] * place[0] + slopes[n][1] * place[1]) as f32)
        });
        let vertex = |draw: &mut Draw| std::array::from_fn(|_| draw.float().to_bits());
        Scene {
            covered: (0..4 * quads).map(|lane| u32::from(lane % 7 != 3)).collect(),
            primitive: (0..quads).map(|quad| quad % 2).collect(),
            weights: weights.collect(),
            slopes,
            w: (0..2).map(|_| std::array::from_fn(|_| draw.float().abs() + 0.5)).collect(),
            words: (0..2).map(|_| std::array::from_fn(|_| vertex(&mut draw))).collect(),
        }
    }

    fn case(&self, directives: &str, code: &str) -> Case {
        let weights: Vec<Vec<u32>> = self.weights.iter().map(|weights| bits(weights)).collect();
        let w: Vec<Vec<u32>> = self.w.iter().map(|w| bits(w)).collect();
        let floats = |rows: &[Vec<u32>]| {
            let rows: Vec<Vec<f32>> = rows
                .iter()
                .map(|row| row.iter().map(|&word| f32::from_bits(word)).collect())
                .collect();
            format!("{rows:?}")
        };
        Case::fragment(directives, code, &self.covered).with(&format!(
            "primitive = {}\nbarycentric = {weights:?}\nvertices = {:?}\nvertex_w = {}",
            list(&self.primitive),
            self.words,
            floats(&w)
        ))
    }

    /// Returns a word at a distance from the pixel's centre, divided by w or not, in doubles.
    fn at(&self, lane: usize, word: usize, perspective: bool, distance: [f64; 2]) -> f64 {
        let primitive = self.primitive[lane / 4] as usize;
        let [b1, b2] = [0, 1].map(|n| {
            f64::from(self.weights[lane][n])
                + self.slopes[n][0] * distance[0]
                + self.slopes[n][1] * distance[1]
        });
        [1.0 - b1 - b2, b1, b2].into_iter().enumerate().fold(0.0, |sum, (vertex, weight)| {
            let value = f64::from(f32::from_bits(self.words[primitive][vertex][word]));
            sum + weight
                * if perspective { value / f64::from(self.w[primitive][vertex]) } else { value }
        })
    }

    fn pixels(&self) -> impl Iterator<Item = usize> {
        (0..self.covered.len()).filter(|&lane| self.covered[lane] != 0)
    }
}

fn near(found: u32, wanted: f64, tolerance: f64) -> bool {
    (f64::from(f32::from_bits(found)) - wanted).abs() <= tolerance * wanted.abs().max(1.0)
}

const INPUTS: &str = ".input 0x80 xy perspective\n.input 0x90 xy linear\n.input 0x98 x constant\n.output target0 rgba\n.output target1 rgba";

#[test]
fn modes_of_interpolation() {
    let scene = Scene::new();
    let code = "
        MOV32I R20, 0x3fc00000          // 1.5
        IPA.PASS R0, a[0x84], RZ
        IPA R1, a[0x84], R20
        IPA.SC R2, a[0x84], R20
        IPA.CONSTANT R3, a[0x84], RZ
        IPA.PASS R4, a[0x94], RZ
        IPA R5, a[0x94], R20
        IPA.PASS R6, a[0x98], RZ
        IPA R7, a[0x98], R20";
    let after = scene.case(INPUTS, code).with("[export.target0]\n[export.target1]").run();
    for lane in scene.pixels() {
        let (first, second) = (&after.exported[0][lane], &after.exported[1][lane]);
        let provoking = &scene.words[scene.primitive[lane / 4] as usize][0];
        // A sum in doubles, rounded once.
        assert_eq!(first[0], (scene.at(lane, 1, true, [0.0; 2]) as f32).to_bits(), "lane {lane}");
        assert_eq!(second[0], (scene.at(lane, 5, false, [0.0; 2]) as f32).to_bits(), "lane {lane}");
        let product = |word: u32| (f32::from_bits(word) * 1.5).to_bits();
        assert_eq!(first[1..3], [product(first[0]); 2]);
        assert_eq!(second[1], product(second[0]));
        assert_eq!(first[3], provoking[1]);
        // Words that the header calls constant come unchanged in every mode.
        assert_eq!(second[2..4], [provoking[6]; 2]);
    }
}

#[test]
fn saturation() {
    let scene = Scene::new();
    let code = "
        MOV32I R20, 0x40400000          // 3.0
        IPA.PASS R0, a[0x84], RZ
        IPA.PASS.SAT R1, a[0x84], RZ
        IPA.SAT R2, a[0x84], R20
        IPA.CONSTANT.SAT R3, a[0x84], RZ";
    let words = scene.case(INPUTS, code).with("[export.target0]").words();
    let (mut low, mut high) = (0, 0);
    for lane in scene.pixels() {
        let value = f32::from_bits(words[lane][0]);
        let wanted = [
            value,
            value * 3.0,
            f32::from_bits(scene.words[scene.primitive[lane / 4] as usize][0][1]),
        ];
        for (found, wanted) in words[lane][1..].iter().zip(wanted) {
            assert_eq!(f32::from_bits(*found), wanted.clamp(0.0, 1.0));
            low += usize::from(wanted < 0.0);
            high += usize::from(wanted > 1.0);
        }
    }
    assert!(low > 0 && high > 0);
}

#[test]
fn other_places_in_the_pixel() {
    let scene = Scene::new();
    // x is 1536 / 4096 to the right, y 1024 / 4096 upwards.
    let code = "
        MOV32I R20, 0xfc000600
        IPA.PASS.OFFSET R0, a[0x84], RZ, R20
        IPA.PASS.OFFSET R1, a[0x94], RZ, R20
        IPA.PASS.CENTROID R2, a[0x84], RZ
        IPA.PASS.CENTROID R3, a[0x94], RZ
        MOV32I R21, 0x40000000
        IPA.OFFSET R4, a[0x84], R21, R20
        MOV R22, RZ
        IPA.PASS.OFFSET R5, a[0x84], RZ, R22
        PIXLD.CENTROID_OFFSET R6, [RZ]
        MOV R7, RZ";
    let offsets: Vec<u32> = (0..scene.covered.len() as u32)
        .map(|lane| (lane % 3 * 512) | (0xff00 * (lane & 1)) << 16)
        .collect();
    let case = scene.case(INPUTS, code).with(&format!("centroid_offset = {}", list(&offsets)));
    let after = case.with("[export.target0]\n[export.target1]").run();
    for lane in scene.pixels() {
        let (first, second) = (&after.exported[0][lane], &after.exported[1][lane]);
        let moved = [0.375, -0.25];
        let centroid =
            [f64::from(offsets[lane] as u16 as i16), f64::from((offsets[lane] >> 16) as i16)]
                .map(|x| x / 4096.0);
        let wanted =
            [(1, true, moved), (5, false, moved), (1, true, centroid), (5, false, centroid)];
        for (found, (word, perspective, distance)) in first.iter().zip(wanted) {
            let wanted = scene.at(lane, word, perspective, distance);
            assert!(
                near(*found, wanted, 1e-6),
                "lane {lane}: {} is not {wanted}",
                f32::from_bits(*found)
            );
        }
        assert_eq!(f32::from_bits(second[0]), f32::from_bits(first[0]) * 2.0);
        assert_eq!(second[1], (scene.at(lane, 1, true, [0.0; 2]) as f32).to_bits());
        assert_eq!(second[2], offsets[lane]);
    }
}

/// The address is in a register and differs between lanes.
#[test]
fn indexed_attributes() {
    let scene = Scene::new();
    let code = "
        S2R R20, SR_LANEID
        LOP32I.AND R20, R20, 0x1
        SHL R20, R20, 0x2
        IADD32I R20, R20, 0x80
        MOV32I R21, 0x40000000
        IPA.IDX.PASS R0, a[R20], RZ, RZ, PT
        IPA.IDX R1, a[R20], R21, RZ, PT
        IPA.IDX.CONSTANT R2, a[R20], RZ, RZ, PT
        IADD32I R20, R20, 0x18
        IPA.IDX.CONSTANT R3, a[R20], RZ, RZ, PT";
    let case = scene.case(INPUTS, code);
    let code =
        case.program.replace(", RZ, RZ, PT", ", RZ, PT").replace(", R21, RZ, PT", ", R21, PT");
    let words = Case { program: code, ..case }.with("[export.target0]").words();
    for lane in scene.pixels() {
        let word = lane & 1;
        let value = scene.at(lane, word, true, [0.0; 2]) as f32;
        let provoking = &scene.words[scene.primitive[lane / 4] as usize][0];
        assert_eq!(
            words[lane][..4],
            [value.to_bits(), (value * 2.0).to_bits(), provoking[word], provoking[word + 6]]
        );
    }
}

/// Lanes get values of their own and other inputs, by name and by address.
#[test]
fn inputs_by_name_and_address() {
    let lanes = 8_u32;
    let floats =
        |scale: f32| (0..lanes).map(|lane| lane as f32 * scale + 0.5).collect::<Vec<f32>>();
    let code = "
        IPA.PASS R0, a[0x70], RZ
        IPA.PASS R1, a[0x74], RZ
        IPA.PASS R2, a[0x78], RZ
        IPA.PASS R3, a[0x7c], RZ
        IPA.CONSTANT R4, a[0x3fc], RZ
        IPA.PASS R5, a[0x80], RZ
        IPA.PASS R6, a[0x8c], RZ
        PIXLD.COVMASK R7, [RZ]
        PIXLD.MY_INDEX R8, [RZ]
        S2R R9, SR_Y_DIRECTION
        IPA.PASS R10, a[0x60], RZ
        PIXLD.OFFSET R11, [RZ]
        S2R R12, SR_WSCALEFACTOR_XY
        S2R R13, SR_WSCALEFACTOR_Z
        S2R R14, SR_AFFINITY
        S2R R15, SR_INVOCATION_ID";
    let directives = ".input 0x70 xyzw\n.input 0x80 xyzw linear\n.output target0 rgba\n.output target1 rgba\n\
        .output target2 rgba\n.output target3 rgba";
    let after = Case::fragment(directives, code, &[1; 8])
        .with(&format!(
            "x = {:?}\ny = {:?}\nz = {:?}\ninverse_w = {:?}\nfront = [1, 1, 1, 1, 0, 0, 0, 0]
            attribute.\"0x80\" = {:?}\nsample_coverage = [1, 3, 5, 7, 9, 11, 13, 15]\nsample_index = [0, 1, 2, 3, 0, 1, 2, 3]
            [export.target0]\n[export.target1]\n[export.target2]\n[export.target3]",
            floats(1.0),
            floats(2.0),
            floats(0.125),
            floats(3.0),
            floats(5.0)
        ))
        .run();
    for lane in 0..8 {
        let at = |scale: f32| (lane as f32 * scale + 0.5).to_bits();
        assert_eq!(after.exported[0][lane][..4], [at(1.0), at(2.0), at(0.125), at(3.0)]);
        let front = if lane < 4 { u32::MAX } else { 0 };
        // If lanes get only a part of an attribute, its fourth word is 1.
        assert_eq!(
            after.exported[1][lane][..4],
            [front, at(5.0), 1.0_f32.to_bits(), 2 * lane as u32 + 1]
        );
        assert_eq!(after.exported[2][lane][..4], [lane as u32 % 4, 1.0_f32.to_bits(), 0, 0]);
        assert_eq!(after.exported[3][lane][..4], [1.0_f32.to_bits(), 1.0_f32.to_bits(), 0, 0]);
    }
}

#[test]
fn what_is_not_given_is_said() {
    let problem = |code: &str| {
        let directives = ".input 0x80 x perspective\n.output target0 r";
        Case::fragment(directives, code, &[1; 4]).with("[export.target0]").problem()
    };
    assert_eq!(
        problem("IPA.PASS R0, a[0x7c], RZ"),
        "kernel `fragment`, pc 0x8, `IPA.PASS R0, a[0x7c], RZ`: [pixels] has no `inverse_w`"
    );
    assert!(
        problem("NOP\nIPA.PASS R0, a[0x80], RZ")
            .contains("pc 0x10, `IPA.PASS R0, a[0x80], RZ`: [pixels] has no word")
    );
    let scene = Scene::new();
    let without = |key: &str| {
        let case = scene.case(INPUTS, "IPA.PASS R0, a[0x80], RZ").with("[export.target0]");
        let lines = case
            .manifest
            .lines()
            .filter(|line| !line.trim_start().starts_with(key))
            .collect::<Vec<_>>();
        Case { manifest: lines.join("\n"), ..case }.problem()
    };
    assert_eq!(
        without("vertex_w"),
        "a[0x80] is interpolated with perspective: [pixels] has no `vertex_w`"
    );
    assert_eq!(without("barycentric"), "a[0x80] is interpolated: [pixels] has no `barycentric`");
}

/// Outputs take four registers for every target that has a component; the sample mask follows, then
/// the depth.
#[test]
fn outputs_are_in_registers() {
    let set: String = (0..10).map(|n| format!("MOV32I R{n}, {:#x}\n", 100 + n)).collect();
    let run = |directives: &str, exports: &str| {
        Case::fragment(directives, &set, &[1, 0, 1, 1]).with(exports).run()
    };
    let after = run(
        ".output target1 rb\n.output target4 a\n.output depth",
        "[export.target1]\n[export.target4]\n[export.depth]\n[export.target0]",
    );
    let named =
        |after: &After, export: usize, lane: usize| after.exported[export][lane][..4].to_vec();
    // The exports in the order of their names: depth, target0, target1, target4.
    assert_eq!(named(&after, 0, 0), [109, 0, u32::MAX, 0], "depth is behind the mask's place");
    assert_eq!(named(&after, 1, 0), [0; 4], "no output");
    assert_eq!(named(&after, 2, 0), [100, 0, 102, 0]);
    assert_eq!(named(&after, 3, 2), [0, 0, 0, 107]);
    assert_eq!(after.kept, [true, false, true, true]);
    let after = run(
        ".output target0 rgba\n.output mask\n.output depth",
        "[export.target0]\n[export.mask]\n[export.depth]",
    );
    assert_eq!((named(&after, 0, 0)[0], named(&after, 1, 0)[0]), (105, 104));
    // The choice of samples comes after the program: the pixel is kept whatever the mask.
    assert_eq!(after.kept, [true, false, true, true]);
    let after = run(".output target0 rgba\n.forbid targets", "[export.target0]\n[export.target5]");
    assert_eq!(named(&after, 0, 0), [100, 101, 102, 103]);
    assert_eq!(named(&after, 1, 3), [100, 101, 102, 103], "target 0 is that of all");
}

/// A condition, a guard, or both kill lanes; SR_THREAD_KILL tells whether a lane is killed.
#[test]
fn kills() {
    let run = |code: &str| {
        let numbers: Vec<u32> = (0..16).collect();
        Case::fragment(".input 0xa0 x linear\n.output target0 rg", code, &[1; 16])
            .with(&format!("attribute.\"0xa0\" = {}\n[export.target0]", list(&numbers)))
            .run()
    };
    let start =
        "IPA.PASS R4, a[0xa0], RZ\nISETP.GE.AND P1, PT, R4, 0x6, PT\nIADD RZ.CC, R4, -0x9\n";
    type OfLanes = fn(usize) -> bool;
    let cases: [(&str, OfLanes); 5] = [
        ("KIL", |_| true),
        ("@P1 KIL", |lane| lane >= 6),
        ("KIL CC.LT", |lane| lane < 9),
        ("@P1 KIL CC.LT", |lane| (6..9).contains(&lane)),
        ("@P1 KIL\n@!P1 KIL CC.EQ\nKIL CC.F", |lane| lane >= 6),
    ];
    for (code, killed) in cases {
        let after = run(&format!(
            "{start}{code}\nS2R R0, SR_THREAD_KILL\nSHFL.BFLY PT, R1, R0, 0x1, 0x1c03"
        ));
        assert_eq!(after.fault, None);
        for lane in 0..16 {
            assert_eq!(after.kept[lane], !killed(lane), "{code}, lane {lane}");
            let told = |lane: usize| if killed(lane) { u32::MAX } else { 0 };
            if !killed(lane) {
                assert_eq!(
                    after.exported[0][lane][..2],
                    [told(lane), told(lane ^ 1)],
                    "{code}, lane {lane}"
                );
            }
        }
    }
}

/// Lanes part, loop and are killed on the way; some lanes leave the loop by a kill alone.
#[test]
fn kills_in_loops() {
    let code = "
        IPA.PASS R4, a[0xa0], RZ
        MOV R0, RZ
        PBK .L3
    .L1:
        IADD32I R0, R0, 0x1
        ISETP.EQ.AND P0, PT, R0, R4, PT
        LOP32I.AND R5, R4, 0x3
        ISETP.EQ.AND P1, PT, R5, 0x2, PT
        PSETP.AND.AND P2, PT, P0, P1, PT
    @P2 KIL
        ISETP.GT.AND P3, PT, R0, R4, PT
    @P3 BRK
        BRA .L1
    .L3:
        SHFL.BFLY PT, R1, R0, 0x2, 0x1c03";
    let numbers: Vec<u32> = (0..100).map(|lane| lane * 5 % 23).collect();
    let after = Case::fragment(".input 0xa0 x linear\n.output target0 rg", code, &[1; 100])
        .with(&format!("attribute.\"0xa0\" = {}\n[export.target0]", list(&numbers)))
        .run();
    for lane in 0..100 {
        // The counter begins at 1, so it never equals 0.
        let killed = numbers[lane] % 4 == 2;
        assert_eq!(after.kept[lane], !killed);
        if !killed {
            assert_eq!(after.exported[0][lane][..2], [numbers[lane] + 1, numbers[lane ^ 2] + 1]);
        }
    }
}

/// A loop that only a kill ends: it ends when its quads have no pixel left.
#[test]
fn a_loop_ends_with_its_pixels() {
    let code = "
        IPA.PASS R4, a[0xa0], RZ
        MOV R0, RZ
        ISETP.GE.AND P1, PT, R4, 0x20, PT
    @P1 BRA .L2
    .L1:
        IADD32I R0, R0, 0x1
        ISETP.EQ.AND P0, PT, R0, R4, PT
    @P0 KIL
        BRA .L1
    .L2:
        MOV32I R0, 0x7";
    // Either all lanes of a quad loop or none.
    let numbers: Vec<u32> =
        (0..64).map(|lane| if lane / 4 % 3 == 1 { 40 } else { 1 + lane * 7 % 23 }).collect();
    let after = Case::fragment(".input 0xa0 x linear\n.output target0 r", code, &[1; 64])
        .with(&format!("attribute.\"0xa0\" = {}\n[export.target0]", list(&numbers)))
        .run();
    assert_eq!(after.fault, None);
    for (lane, number) in numbers.into_iter().enumerate() {
        assert_eq!(after.kept[lane], number == 40);
        if after.kept[lane] {
            assert_eq!(after.exported[0][lane][0], 7);
        }
    }
}

/// FSWZADD takes two bits for each lane of a quad; lane 0's bits are the highest.
#[test]
fn quads_add_and_subtract() {
    let mut draw = Draw(3);
    let (a, b) = (draw.floats(12), draw.floats(12));
    let signs = ["PP", "NP", "PN", "ZP"];
    for pattern in 0..256_usize {
        let of_lane = |lane: usize| pattern >> (6 - 2 * lane) & 3;
        let text: String = (0..4).map(|lane| signs[of_lane(lane)]).collect();
        if !pattern.is_multiple_of(11) {
            continue;
        }
        let code = format!(
            "IPA.PASS R4, a[0xa0], RZ\nIPA.PASS R5, a[0xa4], RZ\nFSWZADD R0, R4, R5, {text}"
        );
        let pairs: Vec<[u32; 2]> =
            (0..12).map(|lane| [a[lane].to_bits(), b[lane].to_bits()]).collect();
        let words = Case::fragment(".input 0xa0 xy linear\n.output target0 r", &code, &[1; 12])
            .with(&format!("attribute.\"0xa0\" = {pairs:?}\n[export.target0]"))
            .words();
        for lane in 0..12 {
            let (a, b) = (a[lane], b[lane]);
            let wanted = [a + b, b - a, a - b, b][of_lane(lane % 4)];
            assert_eq!(f32::from_bits(words[lane][0]), wanted, "{text}, lane {lane}");
        }
    }
}

/// Gradients of volumes and cubes choose the level: each level's texels hold the level's number.
#[test]
fn gradients_of_volumes_and_cubes() {
    // A gradient of 1 is `side` texels of level 0: a cube's face goes from -1 to 1.
    for (dim, depth, name, side) in [("3d", 8, "3D", 8.0_f32), ("cube", 6, "CUBE", 4.0)] {
        let texels =
            |level: u32| if dim == "3d" { 1 << (9 - 3 * level) } else { 6 << (6 - 2 * level) };
        let levels = (0..4).flat_map(|level| vec![level as f32; texels(level)]);
        let content: Vec<u8> = levels.flat_map(f32::to_le_bytes).collect();
        let code = format!(
            "MOV32I R4, 0x3f000000\nMOV32I R5, 0x3e800000\nMOV32I R6, 0x3e000000
            IPA.PASS R12, a[0xa0], RZ\nIPA.PASS R17, a[0xa4], RZ
            MOV R13, RZ\nMOV R14, RZ\nMOV R15, RZ\nMOV R16, RZ
            TXD R0, R4, R12, 0x0, {name}, 0x1"
        );
        // Steps from one pixel to the next in texels of level 0: the first axis along x, the last
        // along y.
        let steps = [
            [0.0, 0.0],
            [1.0, 0.0],
            [2.0, 0.5],
            [0.0, 2.0],
            [4.0, 1.0],
            [0.5, 4.0],
            [8.0, 0.0],
            [0.0, 64.0],
        ];
        let gradients = steps.map(|step| step.map(|texels: f32| texels / side));
        let case = Case::fragment(".input 0xa0 xy linear\n.output target0 r", &code, &[1; 8]).with(
            &format!(
                "attribute.\"0xa0\" = {gradients:?}
            [export.target0]
            [bank.2]
            values = [{}]
            dtype = \"u32\"
            [surface.levels]
            dim = \"{dim}\"
            size = [8, 8, {depth}]
            levels = 4
            format = \"r32_float\"
            layout = \"block_linear\"
            file = \"levels.bin\"
            [texture.levels]
            surface = \"levels\"
            filter = \"nearest\"
            mip_filter = \"nearest\"
            address = \"clamp_to_edge\"
            normalized = true",
                2 | 2 << 20
            ),
        );
        let after = case.run_with(&[("levels.bin", &content)]);
        assert_eq!(after.fault, None);
        for (lane, step) in steps.iter().enumerate() {
            let level = step[0].max(step[1]).max(1.0).log2().min(3.0);
            assert_eq!(f32::from_bits(after.exported[0][lane][0]), level, "{dim}, {step:?}");
        }
    }
}
