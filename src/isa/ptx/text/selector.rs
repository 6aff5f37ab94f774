//! Selectors of video instructions: `b0`, `h1`, `h32`, `b7654`, and masks like `b310`. Facts,
//! `ptx.md` 2.13.

/// Parts and byte masks of a 32-bit register.
const PARTS: &[&str] = &[
    "b0", "b1", "b2", "b3", "h0", "h1", "h10", "b10", "b20", "b21", "b30", "b31", "b32", "b210",
    "b310", "b320", "b321",
];

/// `h` and two of the halves 0 to 3.
static HALVES: [u8; 16 * 3] = {
    let mut text = [b'h'; 16 * 3];
    let mut n = 0;
    while n < 16 {
        text[n * 3 + 1] = b'0' + (n / 4) as u8;
        text[n * 3 + 2] = b'0' + (n % 4) as u8;
        n += 1;
    }
    text
};

/// `b` and four of the bytes 0 to 7.
static BYTES: [u8; 4096 * 5] = {
    let mut text = [b'b'; 4096 * 5];
    let mut n = 0;
    while n < 4096 {
        let mut digit = 0;
        while digit < 4 {
            text[n * 5 + 1 + digit] = b'0' + ((n >> (9 - 3 * digit)) & 7) as u8;
            digit += 1;
        }
        n += 1;
    }
    text
};

/// Returns the selector of a name without its dot.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    if let Some(part) = PARTS.iter().find(|part| **part == name) {
        return Some(part);
    }
    let (kind, digits) = name.split_at_checked(1)?;
    let index = usize::from_str_radix(digits, 8).ok()?;
    let text: &'static [u8] = match (kind, digits.len()) {
        ("h", 2) => &HALVES[(index / 8 * 4 + index % 8).min(15) * 3..][..3],
        ("b", 4) => &BYTES[index * 5..][..5],
        _ => return None,
    };
    std::str::from_utf8(text).ok().filter(|&text| text == name)
}
