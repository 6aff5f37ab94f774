//! Messages that move contiguous blocks of memory.

use super::{Message, State, check, place};

/// Loads `bytes` bytes at `at` into the destination, or stores the source's first bytes there.
fn block(state: &mut State, at: i64, bytes: usize, stores: bool, local: bool) {
    for n in 0..bytes {
        let memory = if local { &mut state.local } else { &mut state.memory };
        match place(memory, at + n as i64, 1) {
            Some(place) if stores => memory[place.start] = state.first[n],
            Some(place) => state.dst[n] = memory[place.start],
            None if stores => {}
            None => state.dst[n] = 0,
        }
    }
}

fn run(text: &str, platform: &'static str, at: i64, bytes: usize, seed: u64) {
    let message = Message { platform, ..Message::new(text) };
    let stores = text.contains("_st") || text.contains("store");
    check(&message, &State::random(seed), |state| {
        block(state, at, bytes, stores, text.contains("slm"))
    });
}

#[test]
fn lsc_vectors() {
    let mut seed = 1;
    for (data, bytes) in [("d32", 4), ("d64", 8)] {
        for count in [1, 2, 3, 4, 8, 16, 32, 64].into_iter().filter(|count| count * bytes <= 256) {
            let t = if count > 1 { format!("x{count}t") } else { String::new() };
            for (place, at) in [
                ("flat[MEM+0x40]:a64", 0x40),
                ("bss(HANDLE)[AT+0x100]:a32", 0x100),
                ("bss(HANDLE)[AT+0xff0]:a32", 0xff0),
            ] {
                let zero =
                    if place.contains("AT") { "mov (M1_NM, 1) AT(0,0)<1> 0x0:ud\n" } else { "" };
                run(
                    &format!("{zero}lsc_load.ugm (M1_NM, 1) D:{data}{t} {place}"),
                    "dg2",
                    at,
                    count * bytes,
                    seed,
                );
                run(
                    &format!("{zero}lsc_store.ugm (M1_NM, 1) {place} S:{data}{t}"),
                    "pvc",
                    at,
                    count * bytes,
                    seed + 1,
                );
                seed += 2;
            }
        }
    }
    // A false predicate skips the load.
    for (predicate, bytes) in [("(P1) ", 64), ("(!P1) ", 0)] {
        run(
            &format!("{predicate}lsc_load.ugm (M1_NM, 1) D:d32x16t flat[MEM]:a64"),
            "dg2",
            0,
            bytes,
            7,
        );
        run(
            &format!("{predicate}lsc_store.ugm (M1, 1) flat[MEM]:a64 S:d64x2t"),
            "dg2",
            0,
            bytes / 4,
            8,
        );
    }
}

#[test]
fn owords() {
    let mut seed = 100;
    for owords in [1, 2, 4, 8, 16] {
        let bytes = owords * 16;
        run(&format!("svm_block_ld ({owords}) MEM(0,0)<0;1,0> D.0"), "tgllp", 0, bytes, seed);
        run(
            &format!("svm_block_ld.unaligned ({owords}) MEM(0,0)<0;1,0> D.0"),
            "tgllp",
            0,
            bytes,
            seed + 1,
        );
        run(&format!("svm_block_st ({owords}) MEM(0,0)<0;1,0> S.0"), "tgllp", 0, bytes, seed + 2);
        for surface in ["T6", "%slm"] {
            let local = surface == "%slm";
            // The end of the surface cuts off the last block.
            for (first, at) in
                [(3, 48), (255, 255 * 16)].into_iter().take(if local { 1 } else { 2 })
            {
                let (ld, st) = (
                    format!("oword_ld ({owords}) {surface} {first:#x}:ud D.0"),
                    format!("oword_st ({owords}) {surface} {first:#x}:ud S.0"),
                );
                for text in [ld, st] {
                    let message = Message { platform: "tgllp", ..Message::new(&text) };
                    let stores = text.contains("_st");
                    check(&message, &State::random(seed), |state| {
                        block(state, at, bytes, stores, local)
                    });
                    seed += 1;
                }
            }
        }
        run(&format!("oword_ld_unaligned ({owords}) T6 0x14:ud D.0"), "tgllp", 20, bytes, seed);
        seed += 4;
    }
}

/// A rectangle in a surface of rows: its width and pitch in bytes, its rows, the place of the block
/// in elements, and the block's shape.
struct Rectangle {
    width: i64,
    pitch: i64,
    rows: i64,
    x: i64,
    y: i64,
    bytes: usize,
    count: usize,
    columns: usize,
    lines: usize,
    transposed: bool,
    vnni: bool,
}

impl Rectangle {
    /// Returns the byte at which an element of a block begins in registers of 64 bytes.
    fn register(&self, block: usize, column: usize, line: usize) -> usize {
        let group = if self.vnni { 4 / self.bytes } else { 1 };
        let (rows, row, at) = match self.transposed {
            true => (
                self.columns,
                self.lines.next_power_of_two(),
                column * self.lines.next_power_of_two() + line,
            ),
            false => {
                let row = self.columns.next_power_of_two();
                (
                    self.lines.next_multiple_of(group),
                    row,
                    (line / group * row + column) * group + line % group,
                )
            }
        };
        block * (rows * row * self.bytes).next_multiple_of(64) + at * self.bytes
    }

    fn model(&self, state: &mut State, stores: bool) {
        for block in 0..self.count {
            for (column, line) in
                (0..self.columns).flat_map(|column| (0..self.lines).map(move |line| (column, line)))
            {
                let x = (self.x + (block * self.columns + column) as i64) * self.bytes as i64;
                let y = self.y + line as i64;
                let inside = (0..self.width).contains(&x) && (0..self.rows).contains(&y);
                let at = (y * self.pitch + x) as usize;
                let register = self.register(block, column, line);
                let bytes = self.bytes;
                match (stores, inside) {
                    (true, true) => state.memory[at..at + bytes]
                        .copy_from_slice(&state.first[register..register + bytes]),
                    (true, false) => {}
                    (false, true) => state.dst[register..register + bytes]
                        .copy_from_slice(&state.memory[at..at + bytes]),
                    (false, false) => state.dst[register..register + bytes].fill(0),
                }
            }
        }
    }
}

#[test]
fn blocks_of_two_dimensions() {
    let plain = Rectangle {
        width: 100,
        pitch: 128,
        rows: 20,
        x: 3,
        y: 5,
        bytes: 4,
        count: 1,
        columns: 8,
        lines: 8,
        transposed: false,
        vnni: false,
    };
    let cases = [
        Rectangle { ..plain },
        Rectangle { x: -3, y: -2, ..plain },
        Rectangle { x: 20, y: 15, ..plain },
        Rectangle { bytes: 2, columns: 16, count: 2, lines: 8, ..plain },
        Rectangle { bytes: 2, columns: 16, vnni: true, x: 40, y: 14, ..plain },
        Rectangle { bytes: 1, columns: 16, lines: 16, vnni: true, ..plain },
        Rectangle { columns: 4, lines: 16, transposed: true, x: 22, y: 10, ..plain },
        Rectangle { bytes: 8, columns: 4, lines: 4, x: 1, ..plain },
    ];
    for (seed, case) in (300..).zip(cases) {
        let t = |flag: bool| if flag { 't' } else { 'n' };
        let count = if case.count > 1 { format!("{}x", case.count) } else { String::new() };
        let shape = format!(
            "d{}.{count}{}x{}{}{}",
            case.bytes * 8,
            case.columns,
            case.lines,
            t(case.transposed),
            t(case.vnni)
        );
        let place = format!(
            "flat[MEM,{:#x},{:#x},{:#x},A(0,0),A(0,1)]",
            case.width - 1,
            case.rows - 1,
            case.pitch - 1
        );
        let mut state = State::random(seed);
        state.set_addresses(4, &[case.x as u64, case.y as u64]);
        let load = format!("lsc_load_block2d.ugm (M1, 1) D:{shape} {place}");
        let message = Message { platform: "pvc", ..Message::new(&load) };
        // No document promises the bytes beside rows whose lengths are no powers of two.
        check(&message, &state, |state| case.model(state, false));
        if !case.transposed && !case.vnni {
            let store = format!("lsc_store_block2d.ugm (M1, 1) {place} S:{shape}");
            let message = Message { platform: "pvc", ..Message::new(&store) };
            check(&message, &state, |state| case.model(state, true));
        }
    }
}

#[test]
fn strides() {
    for (pitch, bytes) in [("0x20", 32), ("0x4", 4)] {
        for stores in [false, true] {
            let text = match stores {
                false => {
                    format!("lsc_load_strided.ugm (M1_NM, 16) D:d32 flat[MEM+0x10,{pitch}]:a64")
                }
                true => {
                    format!("lsc_store_strided.ugm (M1_NM, 16) flat[MEM+0x10,{pitch}]:a64 S:d32")
                }
            };
            check(&Message::new(&text), &State::random(40), |state| {
                for n in 0..16 {
                    let (at, register) = (16 + n * bytes, n * 4);
                    match stores {
                        true => state.memory[at..at + 4]
                            .copy_from_slice(&state.first[register..register + 4]),
                        false => state.dst[register..register + 4]
                            .copy_from_slice(&state.memory[at..at + 4]),
                    }
                }
            });
        }
    }
}
