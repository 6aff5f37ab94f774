//! Gathers and scatters: an address for each lane.

use super::{BASE, MEMORY, Message, Random, State, check, place};

/// The accesses of a message.
#[derive(Clone)]
struct Lanes {
    /// The number of lanes, the first lane, and the bytes of a register.
    count: u32,
    first: u32,
    grf: usize,
    /// The bytes of an element in memory and in a register, and whether it fills the register's
    /// upper half.
    bytes: usize,
    register: usize,
    high: bool,
    /// The distance from a lane's address to each element.
    offsets: Vec<usize>,
    /// The lanes that take part.
    enabled: u32,
    stores: bool,
    /// Whether the message accesses local memory.
    local: bool,
    /// The place in memory of each lane, from the first lane on.
    places: Vec<i64>,
}

impl Lanes {
    fn model(&self, state: &mut State) {
        for n in 0..self.count as usize {
            if self.enabled >> (self.first as usize + n) & 1 == 0 {
                continue;
            }
            for (component, offset) in self.offsets.iter().enumerate() {
                let memory = if self.local { &mut state.local } else { &mut state.memory };
                let place = place(memory, self.places[n] + *offset as i64, self.bytes);
                let start = component
                    * (self.count as usize * self.register).next_multiple_of(self.grf)
                    + n * self.register;
                let shift = if self.high { 2 } else { 0 };
                if self.stores {
                    if let Some(place) = place {
                        memory[place].copy_from_slice(&state.first[start + shift..][..self.bytes]);
                    }
                    continue;
                }
                let register = &mut state.dst[start..start + self.register];
                register.fill(0);
                if let Some(place) = place {
                    register[shift..shift + self.bytes].copy_from_slice(&memory[place]);
                }
            }
        }
    }
}

/// Returns places in memory where a lane's elements fit, and for `outside` some where they do not.
fn places(random: &mut Random, count: u32, align: u64, room: u64, outside: bool) -> Vec<i64> {
    (0..count)
        .map(|_| match outside && random.below(4) == 0 {
            true => (MEMORY as u64 - align + random.below(3) * align) as i64,
            false => (random.below((MEMORY as u64 - room) / align + 1) * align) as i64,
        })
        .collect()
}

/// A form of message: its text, with `#` for the execution mask and size, and its accesses.
struct Form {
    text: String,
    lanes: Lanes,
    /// The bytes of an address, and whether addresses count from the start of memory.
    address: usize,
    relative: bool,
    bounded: bool,
    scale: u64,
    offset: u64,
}

fn run(form: &Form, platform: &'static str, simd: u32, seed: u64) {
    let grf = if matches!(platform, "pvc" | "bmg") { 64 } else { 32 };
    // Size, first lane, predicate, and whether the active mask counts.
    let cases: &[(u32, u32, &str, bool)] = if simd == 32 {
        &[(32, 0, "", true), (16, 16, "(P1) ", false)]
    } else {
        &[
            (16, 0, "", false),
            (8, 8, "(!P1) ", true),
            (1, 0, "(P1) ", false),
            (1, 0, "", false),
            (4, 4, "", true),
        ]
    };
    for (number, &(count, first, predicate, masked)) in (0..).zip(cases) {
        let mut random = Random(seed * 100 + number + 1);
        let no_mask = !masked;
        let (active, bits) = (random.next() as u32 | 1, random.next() as u32 | 1);
        let mut enabled = if no_mask { u32::MAX } else { active };
        match predicate {
            "(P1) " => enabled &= bits,
            "(!P1) " => enabled &= !bits,
            _ => {}
        }
        let mut lanes = Lanes { count, first, grf, enabled, ..form.lanes.clone() };
        let room = (lanes.offsets.iter().max().unwrap() + lanes.bytes) as u64;
        // The result of overlapping stores would depend on their order.
        let align =
            if lanes.stores { room.next_power_of_two() } else { lanes.bytes as u64 * form.scale };
        lanes.places =
            places(&mut random, count, align, room + form.offset, form.bounded && lanes.bytes == 4);
        if lanes.stores {
            let mut seen = std::collections::BTreeSet::new();
            lanes.places.iter_mut().for_each(|place| {
                while !seen.insert(*place) {
                    *place =
                        (random.below((MEMORY as u64 - room - form.offset) / align) * align) as i64;
                }
            });
        }
        let mut state = State::random(seed * 10 + number);
        let base = if form.relative { 0 } else { BASE };
        let addresses: Vec<u64> = lanes
            .places
            .iter()
            .map(|&place| base.wrapping_add(place as u64) / form.scale)
            .collect();
        state.set_addresses(form.address, &addresses);
        lanes.places.iter_mut().for_each(|place| *place += form.offset as i64);
        let size = format!("(M{}{}, {count})", first / 4 + 1, if no_mask { "_NM" } else { "" });
        let text = format!("{predicate}{}", form.text.replace('#', &size));
        let message = Message { platform, simd, text: &text, active, predicate: bits };
        check(&message, &state, |state| lanes.model(state));
    }
}

fn form(text: &str, bytes: usize, register: usize, count: usize) -> Form {
    let stores = text.contains("store") || text.contains("scatter");
    let local = text.contains("slm");
    let lanes = Lanes {
        count: 0,
        first: 0,
        grf: 0,
        bytes,
        register,
        high: false,
        offsets: (0..count).map(|n| n * bytes).collect(),
        enabled: 0,
        stores,
        local,
        places: vec![],
    };
    let flat = text.contains("a64") || text.contains("svm");
    Form {
        text: text.into(),
        lanes,
        address: if flat { 8 } else { 4 },
        relative: !flat,
        bounded: !flat && !local,
        scale: 1,
        offset: 0,
    }
}

/// Returns the LSC load and store of some data at an address.
fn lsc(
    address: &str,
    sfid: &str,
    data: &str,
    bytes: usize,
    register: usize,
    count: usize,
) -> [Form; 2] {
    [
        form(&format!("lsc_load.{sfid} # D:{data} {address}"), bytes, register, count),
        form(&format!("lsc_store.{sfid} # {address} S:{data}"), bytes, register, count),
    ]
}

const DATA: [(&str, usize, usize, usize); 10] = [
    ("d32", 4, 4, 1),
    ("d32x2", 4, 4, 2),
    ("d32x3", 4, 4, 3),
    ("d32x4", 4, 4, 4),
    ("d32x8", 4, 4, 8),
    ("d64", 8, 8, 1),
    ("d64x2", 8, 8, 2),
    ("d64x4", 8, 8, 4),
    ("d8u32", 1, 4, 1),
    ("d16u32", 2, 4, 1),
];

/// Returns the LSC loads and stores of all data at an address.
fn of_all_data(address: &str, sfid: &str) -> impl Iterator<Item = Form> {
    DATA.iter().flat_map(move |&(data, bytes, register, count)| {
        lsc(address, sfid, data, bytes, register, count)
    })
}

fn run_all(forms: impl IntoIterator<Item = Form>, platform: &'static str, simd: u32) {
    for (number, form) in (1..).zip(forms) {
        run(&form, platform, simd, number);
    }
}

#[test]
fn lsc_flat() {
    run_all(of_all_data("flat[A]:a64", "ugm"), "dg2", 16);
    let wide = DATA.iter().filter(|data| data.2 * data.3 <= 16);
    run_all(
        wide.flat_map(|&(data, bytes, register, count)| {
            lsc("flat[A]:a64", "ugm", data, bytes, register, count)
        }),
        "pvc",
        32,
    );
    let mut high = lsc("flat[A]:a64", "ugm", "d16u32h", 2, 4, 1);
    high.iter_mut().for_each(|form| form.lanes.high = true);
    run_all(high, "dg2", 16);
    let moved =
        lsc("flat[A+0x20]:a64", "ugm", "d32x2", 4, 4, 2).map(|form| Form { offset: 0x20, ..form });
    run_all(moved, "dg2", 16);
    let scaled =
        lsc("flat[0x4*A]:a64", "ugm", "d32", 4, 4, 1).map(|form| Form { scale: 4, ..form });
    run_all(scaled, "dg2", 16);
}

#[test]
fn lsc_local() {
    run_all(of_all_data("flat[A]:a32", "slm"), "dg2", 16);
}

#[test]
fn lsc_surfaces() {
    for address in ["bss(HANDLE)[A]:a32", "bti(0x3)[A]:a32"] {
        run_all(of_all_data(address, "ugm"), "dg2", 16);
    }
}

#[test]
fn lsc_channels() {
    let quads = ["flat[A]:a64", "bss(HANDLE)[A]:a32"].into_iter().flat_map(|address| {
        [("x", vec![0]), ("yw", vec![4, 12]), ("xyzw", vec![0, 4, 8, 12]), ("xz", vec![0, 8])]
            .into_iter()
            .flat_map(move |(channels, offsets)| {
                let texts = [
                    format!("lsc_load_quad.ugm # D:d32.{channels} {address}"),
                    format!("lsc_store_quad.ugm # {address} S:d32.{channels}"),
                ];
                texts.map(|text| {
                    let mut form = form(&text, 4, 4, 1);
                    form.lanes.offsets.clone_from(&offsets);
                    form
                })
            })
    });
    run_all(quads, "dg2", 16);
}

#[test]
fn svm() {
    let forms = [
        ("1.1", 1, 4, 1),
        ("1.2", 2, 4, 1),
        ("1.4", 4, 4, 1),
        ("4.1", 4, 4, 1),
        ("4.2", 4, 4, 2),
        ("4.4", 4, 4, 4),
        ("4.8", 4, 4, 8),
        ("8.1", 8, 8, 1),
        ("8.2", 8, 8, 2),
        ("8.4", 8, 8, 4),
        ("1.8", 8, 8, 1),
    ];
    run_all(
        forms.iter().flat_map(|&(name, bytes, register, count)| {
            [format!("svm_gather.{name} # A.0 D.0"), format!("svm_scatter.{name} # A.0 S.0")]
                .map(|text| form(&text, bytes, register, count))
        }),
        "tgllp",
        16,
    );
}

/// Each lane moves channels at a 64-bit distance from one address.
#[test]
fn svm_channels() {
    let channels =
        [("R", vec![0]), ("GA", vec![4, 12]), ("RGB", vec![0, 4, 8]), ("RGBA", vec![0, 4, 8, 12])];
    let forms = channels.into_iter().flat_map(|(channels, offsets)| {
        let texts = [
            format!("svm_gather4scaled.{channels} # MEM(0,0)<0;1,0> A.0 D.0"),
            format!("svm_scatter4scaled.{channels} # MEM(0,0)<0;1,0> A.0 S.0"),
        ];
        texts.map(|text| {
            let mut form = Form { relative: true, ..form(&text, 4, 4, 1) };
            form.lanes.offsets.clone_from(&offsets);
            form
        })
    });
    run_all(forms, "tgllp", 16);
}

#[test]
fn old_messages_on_surfaces() {
    for surface in ["T6", "%slm"] {
        let scaled = [("1", 1), ("2", 2), ("4", 4)].into_iter().flat_map(|(name, bytes)| {
            [
                (format!("gather_scaled.{name} # {surface} 0x0:ud A.0 D.0"), bytes),
                (format!("scatter_scaled.{name} # {surface} 0x0:ud A.0 S.0"), bytes),
            ]
        });
        let mut forms: Vec<Form> = scaled.map(|(text, bytes)| form(&text, bytes, 4, 1)).collect();
        for (channels, offsets) in [("R", vec![0]), ("GB", vec![4, 8]), ("RGBA", vec![0, 4, 8, 12])]
        {
            for text in [
                format!("gather4_scaled.{channels} # {surface} 0x0:ud A.0 D.0"),
                format!("scatter4_scaled.{channels} # {surface} 0x0:ud A.0 S.0"),
            ] {
                let mut form = form(&text, 4, 4, 1);
                form.lanes.offsets.clone_from(&offsets);
                forms.push(form);
            }
        }
        for count in [1, 2, 4] {
            for text in [
                format!("qw_gather.{count} # {surface} A.0 D.0"),
                format!("qw_scatter.{count} # {surface} A.0 S.0"),
            ] {
                forms.push(form(&text, 8, 8, count));
            }
        }
        for form in &mut forms {
            let local = surface == "%slm";
            form.lanes.local = local;
            form.bounded = !local;
        }
        run_all(forms, "tgllp", 16);
    }
}

/// The offsets of the oldest messages count elements. These messages have three sizes and no
/// predicate.
#[test]
fn the_oldest_messages() {
    for (seed, (name, bytes)) in (900..).zip([("1", 1), ("2", 2), ("4", 4)]) {
        for (count, text) in [
            (16, format!("gather.{name} (M1, 16) T6 0x2:ud A.0 D.0")),
            (8, format!("gather.{name} (M1, 8) T6 0x0:ud A.0 D.0")),
            (16, format!("scatter.{name} (M1, 16) T6 0x1:ud A.0 S.0")),
        ] {
            let mut lanes = form(&text, bytes, 4, 1).lanes;
            let mut random = Random(seed * 7 + u64::from(count));
            let active = random.next() as u32 | 1;
            let shared = i64::from(text.contains("0x2")) * 2 + i64::from(text.contains("0x1:"));
            // No two lanes share a place: the result of their stores would depend on their order.
            let places: Vec<i64> =
                (0..i64::from(count)).map(|n| n * 37 + random.below(30) as i64).collect();
            let mut state = State::random(seed);
            state.set_addresses(4, &places.iter().map(|&place| place as u64).collect::<Vec<_>>());
            lanes.places = places.iter().map(|place| (place + shared) * bytes as i64).collect();
            (lanes.count, lanes.grf, lanes.enabled) = (count, 32, active);
            let message =
                Message { platform: "skl", simd: 16, text: &text, active, predicate: u32::MAX };
            check(&message, &state, |state| lanes.model(state));
        }
    }
}
