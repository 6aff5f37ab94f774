//! The types that the opcodes of the table take.

/// An opcode and the types of its operands.
///
/// A form of types is `destinations:sources`, with a letter for each operand. Integers are `i` for
/// any of up to 4 bytes, `l` for any size, `w` for a dword, `u` for a dword without a sign, `s` for
/// a word, `y` for a byte, `z` for a byte without a sign, `q` and `k` for eight bytes with and
/// without a sign. `f`, `h`, `e` and `o` are `f`, `hf`, `df` and `bf`. `a` is any type, `p` a
/// predicate.
pub struct Forms {
    pub name: &'static str,
    pub types: &'static [&'static str],
    /// Whether sources may have modifiers.
    pub modifiers: bool,
    pub saturates: bool,
    /// The size of a group of lanes: the number of lanes is a multiple of it.
    pub group: u8,
}

const fn plain(name: &'static str, types: &'static [&'static str]) -> Forms {
    Forms { name, types, modifiers: false, saturates: false, group: 1 }
}

const fn arithmetic(name: &'static str, types: &'static [&'static str]) -> Forms {
    Forms { modifiers: true, saturates: true, ..plain(name, types) }
}

const fn groups(name: &'static str, group: u8, types: &'static [&'static str]) -> Forms {
    Forms { group, ..plain(name, types) }
}

const FLOATS: [&str; 4] = ["f:f", "h:h", "f:h", "h:f"];
const ROUNDED: [&str; 3] = ["f:f", "h:h", "e:e"];
const EXTREME: [&str; 7] = ["i:ii", "q:qq", "k:kk", "f:ff", "h:hh", "e:ee", "f:fh"];
const LONG: [&str; 2] = ["l:ll", "i:ii"];

/// The opcodes whose operands are an execution size, destinations and sources.
pub const FORMS: &[Forms] = &[
    arithmetic("mov", &["a:a", "a:a", "i:i", "f:f"]),
    arithmetic("add", &["i:ii", "l:ll", "f:ff", "h:hh", "e:ee", "f:fh", "i:ii", "f:ff"]),
    arithmetic("mad", &["f:fff", "h:hhh", "e:eee", "f:fff"]),
    arithmetic("mul", &["f:ff", "h:hh", "e:ee", "h:ff"]),
    Forms { modifiers: true, ..plain("mul", &["i:ii", "l:ww", "l:il"]) },
    Forms { modifiers: true, ..plain("mad", &["i:iii", "w:www"]) },
    arithmetic("min", &EXTREME),
    arithmetic("max", &EXTREME),
    Forms { modifiers: true, ..plain("avg", &["i:ii"]) },
    Forms { modifiers: true, ..plain("div", &["i:ii", "f:ff", "e:ee"]) },
    Forms { modifiers: true, ..plain("mod", &["i:ii"]) },
    plain("mulh", &["w:ww"]),
    arithmetic("add3", &["i:iii"]),
    plain("madw", &["w:www"]),
    Forms { saturates: true, ..plain("dp4a", &["w:www"]) },
    arithmetic("exp", &FLOATS),
    arithmetic("log", &FLOATS),
    arithmetic("sin", &FLOATS),
    arithmetic("cos", &FLOATS),
    arithmetic("pow", &["f:ff", "h:hh"]),
    arithmetic("sqrt", &ROUNDED),
    arithmetic("rsqrt", &ROUNDED),
    arithmetic("inv", &ROUNDED),
    arithmetic("frc", &ROUNDED),
    arithmetic("rndd", &ROUNDED),
    arithmetic("rndu", &ROUNDED),
    arithmetic("rnde", &ROUNDED),
    arithmetic("rndz", &ROUNDED),
    arithmetic("lrp", &["f:fff"]),
    plain("sqrtm", &["f:f", "e:e"]),
    plain("divm", &["f:ff", "e:ee"]),
    plain("invm", &["fp:f", "ep:e"]),
    plain("rsqtm", &["fp:f", "ep:e"]),
    plain("addc", &["uu:uu"]),
    plain("subb", &["uu:uu"]),
    plain("fcvt", &["u:f", "f:u", "h:z", "z:h"]),
    plain("srnd", &["h:fu"]),
    groups("dp2", 4, &["f:ff"]),
    groups("dp3", 4, &["f:ff"]),
    groups("dp4", 4, &["f:ff"]),
    groups("dph", 4, &["f:ff"]),
    groups("sad2", 2, &["s:yy"]),
    groups("sad2add", 2, &["s:yys"]),
    groups("line", 4, &["f:ff"]),
    groups("plane", 8, &["f:ff"]),
    Forms {
        modifiers: true,
        ..plain("cmp", &["p:ll", "p:ff", "p:hh", "p:ee", "p:ii", "w:ww", "s:ff", "p:ii"])
    },
    arithmetic("sel", &["i:ii", "l:ll", "f:ff", "e:ee", "h:hh"]),
    plain("and", &LONG),
    plain("or", &LONG),
    plain("xor", &LONG),
    plain("not", &["l:l", "i:i"]),
    plain("shl", &["l:li", "i:ii"]),
    plain("shr", &["l:li", "i:ii"]),
    plain("asr", &["l:li", "i:ii"]),
    plain("rol", &["w:ww", "s:ss"]),
    plain("ror", &["w:ww", "s:ss"]),
    plain("cbit", &["u:u", "u:s"]),
    plain("lzd", &["u:u"]),
    plain("fbl", &["u:u"]),
    plain("fbh", &["w:w"]),
    plain("bfrev", &["u:u"]),
    plain("bfe", &["w:www"]),
    plain("bfi", &["w:wwww"]),
    plain("bfn", &["w:www", "s:sss"]),
];
