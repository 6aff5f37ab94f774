//! C's `printf` on arguments of device code.
//!
//! Source: ISO C11, 7.21.6.1; the CUDA C++ Programming Guide, "Formatted Output", which gives
//! device code the conversions `%cdiouxXpeEfgGaAs`, the flags `#0- +`, widths, precisions and the
//! lengths `h l ll`; the OpenCL C Specification, "printf", which adds vectors (`%v4hld`). Sizes are
//! those of 64-bit Linux. Text that is no conversion of these documents is printed unchanged.

/// The longest field and precision. Longer ones are cut.
const MAX_FIELD: usize = 1 << 12;

/// The source of the arguments. `E` is the reason why an argument cannot be read.
pub trait Arguments<E> {
    /// Whether there are vectors, as in OpenCL.
    const VECTORS: bool;
    /// Returns the next argument, which has 4 or 8 bytes. A float is passed as `f64`.
    fn next(&mut self, bytes: u64) -> Result<u64, E>;
    /// Begins a vector of `components` components as the next argument. [`Arguments::next`] then
    /// returns each component.
    fn vector(&mut self, components: u64) -> Result<(), E>;
    /// Returns at most `most` characters of the next argument, a string, without the 0 that ends
    /// it. Returns `None` for a null pointer.
    fn string(&mut self, most: usize) -> Result<Option<Vec<u8>>, E>;
}

/// Returns the text, if it has at most `room` characters, and the number of arguments used. Longer
/// text is not completed, since it may be a thousand long strings.
pub fn format<E, A: Arguments<E>>(
    format: &[u8],
    arguments: &mut A,
    room: usize,
) -> Result<(Option<Vec<u8>>, u32), E> {
    let (mut out, mut count) = (Vec::new(), 0);
    let mut rest = format;
    while let Some(percent) = rest.iter().position(|&c| c == b'%') {
        out.extend(&rest[..percent]);
        if out.len() > room {
            return Ok((None, count));
        }
        rest = &rest[percent..];
        let Some((conversion, length)) = Conversion::parse(rest, A::VECTORS) else {
            out.push(b'%');
            rest = &rest[1..];
            continue;
        };
        if conversion.kind == b'%' {
            out.push(b'%');
        } else {
            count += conversion.print_all(arguments, &mut out)?;
        }
        rest = &rest[length..];
    }
    out.extend(rest);
    Ok(((out.len() <= room).then_some(out), count))
}

/// A width or precision.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Given(usize),
    /// `*`
    Argument,
}

/// `%[flags][width][.precision][vector][length]kind`
#[derive(Clone, Copy)]
struct Conversion {
    alternative: bool,
    zeros: bool,
    left: bool,
    blank: bool,
    plus: bool,
    width: Number,
    precision: Option<Number>,
    /// Components of a vector.
    components: Option<u64>,
    /// Bytes of an integer.
    bytes: u64,
    kind: u8,
}

impl Conversion {
    /// Parses a text that begins with `%`. Returns the conversion and its length in the text.
    fn parse(text: &[u8], vectors: bool) -> Option<(Conversion, usize)> {
        let mut at = 1;
        let mut eat = |wanted: &[u8]| {
            let found = text[at..].starts_with(wanted);
            at += if found { wanted.len() } else { 0 };
            found
        };
        let mut c = Conversion {
            alternative: false,
            zeros: false,
            left: false,
            blank: false,
            plus: false,
            width: Number::Given(0),
            precision: None,
            components: None,
            bytes: 4,
            kind: 0,
        };
        loop {
            match () {
                () if eat(b"#") => c.alternative = true,
                () if eat(b"0") => c.zeros = true,
                () if eat(b"-") => c.left = true,
                () if eat(b" ") => c.blank = true,
                () if eat(b"+") => c.plus = true,
                () => break,
            }
        }
        let number = |eat: &mut dyn FnMut(&[u8]) -> bool| {
            if eat(b"*") {
                return Number::Argument;
            }
            let mut value = 0_usize;
            while let Some(digit) = (b'0'..=b'9').find(|&digit| eat(&[digit])) {
                value = (value * 10 + usize::from(digit - b'0')).min(MAX_FIELD);
            }
            Number::Given(value)
        };
        c.width = number(&mut eat);
        if eat(b".") {
            c.precision = Some(number(&mut eat));
        }
        for (name, components) in
            [(&b"v16"[..], 16), (b"v2", 2), (b"v3", 3), (b"v4", 4), (b"v8", 8)]
        {
            if vectors && eat(name) {
                c.components = Some(components);
                break;
            }
        }
        if c.components.is_some() && eat(b"hl") {
            c.kind = *text.get(at).filter(|kind| b"diouxXeEfFgGaA".contains(kind))?;
            return Some((c, at + 1));
        }
        for (length, bytes) in
            [(&b"hh"[..], 1), (b"h", 2), (b"ll", 8), (b"l", 8), (b"j", 8), (b"z", 8), (b"t", 8)]
        {
            if eat(length) {
                c.bytes = bytes;
                break;
            }
        }
        c.kind = *text.get(at).filter(|kind| b"%cdiouxXpeEfFgGaAs".contains(kind))?;
        Some((c, at + 1))
    }

    /// Appends the next arguments' text, and returns the number of arguments. Commas separate the
    /// components of a vector.
    fn print_all<E>(self, arguments: &mut impl Arguments<E>, out: &mut Vec<u8>) -> Result<u32, E> {
        let Some(components) = self.components else { return self.print(arguments, out) };
        arguments.vector(components)?;
        for component in 0..components {
            if component > 0 {
                out.push(b',');
            }
            self.print(arguments, out)?;
        }
        Ok(1)
    }

    /// Appends the next arguments' text, and returns the number of arguments.
    fn print<E>(mut self, arguments: &mut impl Arguments<E>, out: &mut Vec<u8>) -> Result<u32, E> {
        let mut count = 1;
        let mut width = 0;
        if self.width == Number::Argument {
            let given = arguments.next(4)? as i32;
            self.left |= given < 0;
            width = (given.unsigned_abs() as usize).min(MAX_FIELD);
            count += 1;
        } else if let Number::Given(given) = self.width {
            width = given;
        }
        let precision = match self.precision {
            Some(Number::Argument) => {
                count += 1;
                // A negative precision counts as none.
                usize::try_from(arguments.next(4)? as i32).ok().map(|given| given.min(MAX_FIELD))
            }
            Some(Number::Given(given)) => Some(given),
            None => None,
        };
        let (sign, body) = match self.kind {
            b'c' => (String::new(), vec![arguments.next(4)? as u8]),
            b's' => {
                let text = arguments.string(precision.unwrap_or(usize::MAX))?;
                (String::new(), text.unwrap_or_else(|| b"(null)".to_vec()))
            }
            b'p' => match arguments.next(8)? {
                0 => (String::new(), b"(nil)".to_vec()),
                address => ("0x".into(), format!("{address:x}").into_bytes()),
            },
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
                let (sign, digits) = self.integer(arguments.next(self.bytes.max(4))?, precision);
                // Zeros fill the field's width only if there is no precision.
                self.zeros &= precision.is_none();
                (sign, digits.into_bytes())
            }
            _ => {
                let value = f64::from_bits(arguments.next(8)?);
                let (sign, text) = self.float(value, precision);
                self.zeros &= value.is_finite();
                (sign, text.into_bytes())
            }
        };
        let fill = width.saturating_sub(sign.len() + body.len());
        let zeros = self.zeros && !self.left && !matches!(self.kind, b'c' | b's' | b'p');
        if !self.left && !zeros {
            out.extend(std::iter::repeat_n(b' ', fill));
        }
        out.extend(sign.as_bytes());
        if zeros {
            out.extend(std::iter::repeat_n(b'0', fill));
        }
        out.extend(body);
        if self.left {
            out.extend(std::iter::repeat_n(b' ', fill));
        }
        Ok(count)
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Returns the sign or prefix, and the digits.
    fn integer(&self, bits: u64, precision: Option<usize>) -> (String, String) {
        let unused = 64 - 8 * self.bytes as u32;
        let (unsigned, signed) = (bits << unused >> unused, (bits << unused) as i64 >> unused);
        let (sign, value) = match self.kind {
            b'd' | b'i' => (self.sign(signed < 0), signed.unsigned_abs()),
            b'x' if self.alternative && unsigned != 0 => ("0x", unsigned),
            b'X' if self.alternative && unsigned != 0 => ("0X", unsigned),
            _ => ("", unsigned),
        };
        let digits = match self.kind {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let digits = if value == 0 && precision == Some(0) { String::new() } else { digits };
        let mut digits = format!("{digits:0>width$}", width = precision.unwrap_or(0));
        if self.kind == b'o' && self.alternative && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        (sign.into(), digits)
    }

    /// Returns the sign, with the `0x` of a hexadecimal float, and the rest.
    fn float(&self, value: f64, precision: Option<usize>) -> (String, String) {
        let mut sign = self.sign(value.is_sign_negative()).to_owned();
        let magnitude = value.abs();
        let text = match self.kind.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            b'a' => {
                sign += "0x";
                hexadecimal(magnitude, precision, self.alternative)
            }
            b'f' => self.with_point(format!("{magnitude:.*}", precision.unwrap_or(6))),
            b'e' => self.scientific(magnitude, precision.unwrap_or(6)),
            _ => self.shortest(magnitude, precision.unwrap_or(6).max(1)),
        };
        if self.kind.is_ascii_uppercase() {
            return (sign.to_ascii_uppercase(), text.to_ascii_uppercase());
        }
        (sign, text)
    }

    /// Adds the point that `#` keeps if no digits follow it.
    fn with_point(&self, digits: String) -> String {
        if self.alternative && !digits.contains('.') { digits + "." } else { digits }
    }

    fn scientific(&self, magnitude: f64, precision: usize) -> String {
        let (digits, exponent) = decimal(magnitude, precision);
        format!("{}{}", self.with_point(digits), exponent_text('e', exponent, 2))
    }

    /// Formats a float as `%g`.
    fn shortest(&self, magnitude: f64, precision: usize) -> String {
        let (_, exponent) = decimal(magnitude, precision - 1);
        let fixed = exponent >= -4 && exponent < precision as i32;
        let (digits, tail) = if fixed {
            (format!("{magnitude:.*}", (precision as i32 - 1 - exponent) as usize), String::new())
        } else {
            (decimal(magnitude, precision - 1).0, exponent_text('e', exponent, 2))
        };
        let digits = match self.alternative {
            true => self.with_point(digits),
            false if digits.contains('.') => {
                digits.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            false => digits,
        };
        digits + &tail
    }
}

/// Returns the digits, with one before the point, and the power of ten.
fn decimal(magnitude: f64, precision: usize) -> (String, i32) {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn exponent_text(letter: char, exponent: i32, digits: usize) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:0digits$}", exponent.unsigned_abs())
}

/// Formats a float as `%a`, as glibc prints it: with a leading 1, or 0 for denormals.
fn hexadecimal(magnitude: f64, precision: Option<usize>, point: bool) -> String {
    const DIGITS: usize = 13;
    let bits = magnitude.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field - 1023,
    };
    let mut significand = fraction | u64::from(field != 0) << 52;
    let kept = precision.unwrap_or(DIGITS).min(DIGITS);
    let dropped = 4 * (DIGITS - kept) as u32;
    if dropped > 0 {
        // Rounds to nearest, ties to even.
        let half = 1_u64 << (dropped - 1);
        let odd = significand >> dropped & 1;
        significand = (significand + half - 1 + odd) >> dropped << dropped;
    }
    let digits = format!("{:013x}", significand & ((1 << 52) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{:0<precision$}", &digits[..kept]),
    };
    let dot = if digits.is_empty() && !point { "" } else { "." };
    format!("{:x}{dot}{digits}{}", significand >> 52, exponent_text('p', exponent, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<u64>);

    impl Arguments<()> for Given {
        const VECTORS: bool = true;

        fn next(&mut self, bytes: u64) -> Result<u64, ()> {
            let value = if self.0.is_empty() { 0 } else { self.0.remove(0) };
            Ok(if bytes == 4 { value & 0xffff_ffff } else { value })
        }

        fn vector(&mut self, _: u64) -> Result<(), ()> {
            Ok(())
        }

        fn string(&mut self, most: usize) -> Result<Option<Vec<u8>>, ()> {
            let address = self.next(8)?;
            Ok((address != 0)
                .then(|| format!("<{address}>").into_bytes().into_iter().take(most).collect()))
        }
    }

    fn print(text: &str, arguments: &[u64]) -> String {
        let (out, count) =
            format(text.as_bytes(), &mut Given(arguments.to_vec()), usize::MAX).unwrap();
        assert_eq!(count as usize, arguments.len(), "{text}");
        String::from_utf8(out.unwrap()).unwrap()
    }

    /// Each case has a format, an argument, and the output of glibc's `printf`.
    #[test]
    fn as_the_c_library() {
        let cases = include_str!("../../tests/fixtures/printf.tsv");
        let wrong = cases.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            let mut field = || fields.next().expect("three fields");
            let (text, argument, expected) = (field(), field(), field());
            let argument = u64::from_str_radix(&argument[2..], 16).expect("an argument");
            let found = print(text, &[argument]);
            (found != expected)
                .then(|| format!("{text} of {argument:#x}: `{found}`, expected `{expected}`"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn what_is_no_conversion_is_printed() {
        assert_eq!(print("100%, %y and %", &[]), "100%, %y and %");
        assert_eq!(print("%%d", &[]), "%d");
    }

    #[test]
    fn strings() {
        assert_eq!(print("[%8s|%-6s|%.2s|%s]", &[12, 3, 45, 0]), "[    <12>|<3>   |<4|(null)]");
    }

    #[test]
    fn vectors() {
        let (text, count) = format(
            b"[%v4d] [%3v2hhd] [%.1v2hlf]",
            &mut Given(vec![1, 2, 3, 4, 0xff, 0x101, 0, 1 << 62]),
            64,
        )
        .unwrap();
        assert_eq!((&text.unwrap()[..], count), (&b"[1,2,3,4] [ -1,  1] [0.0,2.0]"[..], 3));
        // These vectors have invalid lengths.
        assert_eq!(print("%v5d %vd %hld", &[]), "%v5d %vd %hld");
    }

    /// Arguments behind the end of the room are not even read.
    #[test]
    fn text_that_finds_no_room_is_not_made() {
        let text = |room| {
            let mut arguments = Given((1..=100).collect());
            let made = format(&b"%2d,".repeat(100), &mut arguments, room).unwrap();
            (made.0.map(|text| text.len()), made.1, arguments.0.len())
        };
        assert_eq!(text(301), (Some(301), 100, 0));
        assert_eq!(text(300), (None, 100, 0));
        assert_eq!(text(7), (None, 3, 97));
    }

    #[test]
    fn fields_are_bounded() {
        assert_eq!(print("%2000000000d", &[1]).len(), MAX_FIELD);
        assert_eq!(print("%.2000000000f", &[0]).len(), MAX_FIELD + 2);
    }
}
