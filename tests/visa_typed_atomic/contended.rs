//! Two threads of the host update few texels many times, and no update is lost.

use warploom::EngineKind;
use warploom_replay::Session;

use super::visa_launch::{ENGINES, Files, words_of};

/// The number of updates, unless `WARPLOOM_UPDATES` in the environment gives another number.
const UPDATES: u32 = 400_000;
const LANES: u32 = 32;
/// The updates of a lane.
const ROUNDS: u32 = 50;

fn updates() -> u32 {
    std::env::var("WARPLOOM_UPDATES").ok().and_then(|count| count.parse().ok()).unwrap_or(UPDATES)
}

/// Returns a kernel of 32 lanes that runs an update `ROUNDS` times. Lane n updates texel n % 8.
fn text(update: &str) -> String {
    let rounds: String = std::iter::repeat_n(update, ROUNDS as usize).collect();
    format!(
        ".version 4.2\n.kernel \"k\"\n.decl HANDLE v_type=G type=uq num_elts=1 align=qword\n\
         .decl LOW v_type=G type=ud num_elts=2 align=qword alias=<HANDLE, 0>\n.decl POOL v_type=G type=uq num_elts=1 align=qword\n\
         .decl U v_type=G type=ud num_elts=32 align=GRF\n.decl V v_type=G type=ud num_elts=32 align=GRF\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n.decl B v_type=G type=ud num_elts=32 align=GRF\n\
         .input HANDLE offset=32 size=8\n.input POOL offset=40 size=8\n.kernel_attr SimdSize={LANES}\nmain:\n\
         movs (M1_NM, 1) %bss(0) LOW(0,0)<0;1,0>\n\
         lsc_load.ugm (M1_NM, 1) U:d32x32t flat[POOL]:a64\nlsc_load.ugm (M1_NM, 1) V:d32x32t flat[POOL+0x80]:a64\n\
         lsc_load.ugm (M1_NM, 1) A:d32x32t flat[POOL+0x100]:a64\nlsc_load.ugm (M1_NM, 1) B:d32x32t flat[POOL+0x180]:a64\n\
         {rounds}ret (M1, 1)\n"
    )
}

/// Runs an update on two threads. `texel` gives a texel's expected bits after so many updates.
fn none_is_lost(format: &str, update: &str, operand: u32, texel: impl Fn(u64) -> u32) {
    let blocks = (updates() / (LANES * ROUNDS)).max(2);
    let words = |of: fn(u32) -> u32| (0..LANES).map(of).collect::<Vec<u32>>();
    let pool = [
        words(|lane| lane % 4),
        words(|lane| lane / 4 % 2),
        vec![operand; LANES as usize],
        vec![0; LANES as usize],
    ];
    let pool: Vec<u8> = pool.concat().into_iter().flat_map(u32::to_le_bytes).collect();
    let mut files = Files::new(
        "dg2",
        LANES,
        "arg_bypointer:0:8:0:bindless:image,arg_bypointer:8:8:1:stateless:global",
    );
    files.text(&text(update));
    files.surface("s", "2d", [4, 2, 1], format, &[0; 32]);
    files.buffer("pool", &pool, "u32");
    let launch = files.launch([blocks, 1, 1], [LANES, 1, 1]);
    let expected = texel(u64::from(blocks) * u64::from(LANES / 8 * ROUNDS));
    for engine in ENGINES {
        if engine == EngineKind::Interp && std::env::var_os("WARPLOOM_UPDATES").is_some() {
            continue;
        }
        let session = Session::new(&launch).unwrap();
        let outcome = session.launch(&session.options(engine, 2), None).unwrap();
        assert!(outcome.fault.is_none(), "{engine}: {}", outcome.fault.unwrap());
        assert_eq!(words_of(&session.surface(0).unwrap()), [expected; 8], "{engine}");
        if engine == EngineKind::Jit {
            // Helpers only find pages for the first time.
            let (counts, messages) = (outcome.counts, u64::from(blocks * ROUNDS * LANES / 8));
            assert_eq!(counts.interp_instructions, 0);
            assert!(
                counts.helper_calls < messages / 50,
                "{} helper calls for {messages} messages",
                counts.helper_calls
            );
        }
    }
}

const QUARTERS: [&str; 4] = ["M1", "M3", "M5", "M7"];

/// Returns the message for all 32 lanes, as four messages of eight lanes.
fn in_quarters(message: impl Fn(&str, u32) -> String) -> String {
    QUARTERS.iter().zip([0, 32, 64, 96]).map(|(mask, at)| message(mask, at)).collect()
}

#[test]
fn integer_updates() {
    let add = in_quarters(|mask, at| {
        format!(
            "typed_atomic.add ({mask}, 8) %bss U.{at} V.{at} %null.0 %null.0 A.{at} %null.0 %null.0\n"
        )
    });
    none_is_lost("r32_uint", &add, 3, |count| (count * 3) as u32);
    let inc = in_quarters(|mask, at| {
        format!(
            "typed_atomic.inc ({mask}, 8) %bss U.{at} V.{at} %null.0 %null.0 %null.0 %null.0 B.{at}\n"
        )
    });
    none_is_lost("r32_sint", &inc, 0, |count| count as u32);
}

/// Sums of floats are exact up to 2^24.
#[test]
fn float_updates() {
    let add = in_quarters(|mask, at| {
        format!(
            "lsc_atomic_fadd.tgm ({mask}, 8) %null:d32 bss(LOW)[U.{at},V.{at}]:a32 A.{at} %null\n"
        )
    });
    none_is_lost("r32_float", &add, 1f32.to_bits(), |count| (count as f32).to_bits());
    assert!(u64::from(updates()) / 8 < 1 << 24);
}
