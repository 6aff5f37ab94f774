//! Texts of registers and of constants that consist of fields.

/// The first number and the name of each pair of scalar registers from 102 on, except trap
/// temporaries.
const PAIRS: [(u8, &str); 4] =
    [(102, "flat_scratch"), (104, "xnack_mask"), (106, "vcc"), (126, "exec")];

/// Returns the text of registers: `v1` or `v[1:2]`.
pub fn registers(prefix: impl std::fmt::Display, first: u32, dwords: u8) -> String {
    match dwords {
        0 | 1 => format!("{prefix}{first}"),
        _ => format!("{prefix}[{first}:{}]", first + u32::from(dwords) - 1),
    }
}

/// Returns the text of the scalar registers from `number` on.
pub fn scalar(number: u8, dwords: u8) -> String {
    match number {
        0..102 => registers('s', number.into(), dwords),
        108..124 => registers("ttmp", u32::from(number) - 108, dwords),
        124 => "m0".into(),
        125 => "null".into(),
        _ => {
            let name =
                PAIRS.iter().find(|(first, _)| *first == number & !1).map_or("", |(_, name)| name);
            let half = match (dwords, number & 1) {
                (2, _) => "",
                (_, 0) => "_lo",
                _ => "_hi",
            };
            format!("{name}{half}")
        }
    }
}

/// Returns the text of a number: `0x10` or `-0x10`.
pub fn signed_hex(value: i32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{:#x}", value.unsigned_abs())
}

/// Numbers and names of hardware registers.
pub const HWREGS: [(u16, &str); 12] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (4, "HW_REG_HW_ID"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (16, "HW_REG_TBA_LO"),
    (17, "HW_REG_TBA_HI"),
    (18, "HW_REG_TMA_LO"),
    (19, "HW_REG_TMA_HI"),
];

fn name_of<T: Copy + PartialEq + std::fmt::Display>(names: &[(T, &str)], value: T) -> String {
    names
        .iter()
        .find(|(number, _)| *number == value)
        .map_or_else(|| value.to_string(), |(_, name)| (*name).into())
}

/// Returns the text of a hardware register, its first bit and its number of bits.
pub fn hwreg(bits: u16) -> String {
    let (offset, size) = (bits >> 6 & 31, (bits >> 11) + 1);
    let name = name_of(&HWREGS, bits & 63);
    if (offset, size) == (0, 32) {
        format!("hwreg({name})")
    } else {
        format!("hwreg({name}, {offset}, {size})")
    }
}

/// Returns the text of the counters to wait for.
///
/// Counters at their maximum are left out, unless all are at their maximum.
pub fn waitcnt(bits: u16) -> String {
    let counters = [
        ("vmcnt", bits & 15 | bits >> 14 << 4, 63),
        ("expcnt", bits >> 4 & 7, 7),
        ("lgkmcnt", bits >> 8 & 15, 15),
    ];
    let all = counters.iter().all(|(_, count, most)| count == most);
    let printed = counters.iter().filter(|(_, count, most)| all || count != most);
    printed.map(|(name, count, _)| format!("{name}({count})")).collect::<Vec<_>>().join(" ")
}

/// Numbers and names of messages without operation.
pub const MESSAGES: [(u16, &str); 8] = [
    (1, "MSG_INTERRUPT"),
    (4, "MSG_SAVEWAVE"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (7, "MSG_ORDERED_PS_DONE"),
    (8, "MSG_EARLY_PRIM_DEALLOC"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_GET_DOORBELL"),
];
/// Operations of messages of geometry shaders.
pub const GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
/// Numbers and names of operations of system messages.
pub const SYSTEM_OPS: [(u16, &str); 3] =
    [(1, "SYSMSG_OP_ECC_ERR_INTERRUPT"), (2, "SYSMSG_OP_REG_RD"), (4, "SYSMSG_OP_TTRACE_PC")];

/// Returns the text of a message with its operation and stream, if it has them.
pub fn message(bits: u16) -> String {
    let (id, op, stream) = (bits & 15, bits >> 4 & 7, bits >> 8 & 3);
    let gs = GS_OPS.get(usize::from(op));
    match (id, op, stream, gs) {
        (2, 1.., _, Some(op)) => format!("sendmsg(MSG_GS, {op}, {stream})"),
        (3, 0, 0, Some(op)) => format!("sendmsg(MSG_GS_DONE, {op})"),
        (3, 1.., _, Some(op)) => format!("sendmsg(MSG_GS_DONE, {op}, {stream})"),
        (15, 1 | 2 | 4, 0, _) => format!("sendmsg(MSG_SYSMSG, {})", name_of(&SYSTEM_OPS, op)),
        (1 | 4..=10, 0, 0, _) => format!("sendmsg({})", name_of(&MESSAGES, id)),
        _ if bits & !0x37f == 0 => format!("sendmsg({id}, {op}, {stream})"),
        _ => bits.to_string(),
    }
}

/// The operands to which VGPR indexing applies.
pub const GPR_IDX: [&str; 4] = ["SRC0", "SRC1", "SRC2", "DST"];

/// Returns the text of a set of operands for VGPR indexing.
pub fn gpr_idx(bits: u16) -> String {
    if bits > 15 {
        return format!("{bits:#x}");
    }
    let names =
        GPR_IDX.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0).map(|(_, name)| *name);
    format!("gpr_idx({})", names.collect::<Vec<_>>().join(","))
}

/// Parameters of an attribute.
pub const PARAMETERS: [&str; 3] = ["p10", "p20", "p0"];

pub fn parameter(number: u16) -> String {
    PARAMETERS
        .get(usize::from(number))
        .map_or_else(|| format!("invalid_param_{number}"), |name| (*name).into())
}

/// Returns the text of an export's target.
pub fn target(number: u8) -> String {
    match number {
        0..8 => format!("mrt{number}"),
        8 => "mrtz".into(),
        9 => "null".into(),
        12..16 => format!("pos{}", number - 12),
        32.. => format!("param{}", number - 32),
        _ => format!("invalid_target_{number}"),
    }
}

/// Data formats of MTBUF, behind `BUF_DATA_FORMAT_`.
pub const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// Number formats of MTBUF, behind `BUF_NUM_FORMAT_`.
pub const NUMBER_FORMATS: [&str; 8] =
    ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];

/// Returns the text of a buffer format; empty for the usual format, 8 bits UNORM.
pub fn buffer_format(data: u8, number: u8) -> String {
    let data_name = DATA_FORMATS.get(usize::from(data)).copied().unwrap_or_default();
    let number_name = NUMBER_FORMATS.get(usize::from(number)).copied().unwrap_or_default();
    match (data, number) {
        (1, 0) => String::new(),
        (_, 0) => format!("format:[BUF_DATA_FORMAT_{data_name}]"),
        (1, _) => format!("format:[BUF_NUM_FORMAT_{number_name}]"),
        _ => format!("format:[BUF_DATA_FORMAT_{data_name},BUF_NUM_FORMAT_{number_name}]"),
    }
}

/// Returns the text of a pattern of `ds_swizzle_b32`.
pub fn swizzle(bits: u16) -> String {
    let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10 & 31);
    let group = 32 - and;
    match bits {
        0 => String::new(),
        0x8000..0x8100 => {
            let lane = |i: u16| bits >> (2 * i) & 3;
            format!("offset:swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3))
        }
        0x8100.. => format!("offset:{bits}"),
        _ if and == 31 && or == 0 && xor.is_power_of_two() => format!("offset:swizzle(SWAP,{xor})"),
        _ if and == 31 && or == 0 && xor != 0 && (xor + 1).is_power_of_two() => {
            format!("offset:swizzle(REVERSE,{})", xor + 1)
        }
        _ if group > 1 && group.is_power_of_two() && or < group && xor == 0 => {
            format!("offset:swizzle(BROADCAST,{group},{or})")
        }
        _ => {
            let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
            let digit = |i: u16| match (zeros >> i & 1, ones >> i & 1) {
                (0, 0) => '0',
                (0, _) => 'p',
                (_, 0) => 'i',
                _ => '1',
            };
            format!(
                "offset:swizzle(BITMASK_PERM,\"{}\")",
                (0..5).rev().map(digit).collect::<String>()
            )
        }
    }
}
