//! Numbers and messages for people.

use std::time::Duration;

/// Formats 1234567 as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a time with three significant digits.
pub fn time(duration: Duration) -> String {
    let ns = duration.as_nanos() as f64;
    let (value, unit) = match ns {
        _ if ns < 1e3 => (ns, "ns"),
        _ if ns < 1e6 => (ns / 1e3, "us"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Formats a rate per second with a unit.
pub fn rate(count: u64, duration: Duration) -> String {
    let rate = count as f64 / duration.as_secs_f64().max(1e-9);
    match rate {
        _ if rate < 1e6 => format!("{:.1} k/s", rate / 1e3),
        _ if rate < 1e9 => format!("{:.1} M/s", rate / 1e6),
        _ => format!("{:.2} G/s", rate / 1e9),
    }
}

/// Returns `s` unless the count is 1.
pub fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Cuts the middles of long lines out of a message.
///
/// A message may quote a line of a file, and files may have lines of megabytes.
pub fn in_short(message: &str) -> String {
    const HEAD: usize = 300;
    const TAIL: usize = 200;
    let shorten = |line: &str| {
        let at = |count| line.char_indices().nth(count).map(|(at, _)| at);
        let ends = at(HEAD + TAIL)
            .and_then(|_| Some((at(HEAD)?, line.char_indices().nth_back(TAIL - 1)?.0)));
        match ends {
            Some((head, tail)) => format!("{} [...] {}", &line[..head], &line[tail..]),
            None => line.to_string(),
        }
    };
    message.split('\n').map(shorten).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1000), grouped(1234567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(time(Duration::from_nanos(1234)), "1.23 us");
        assert_eq!(time(Duration::from_millis(123)), "123 ms");
        assert_eq!(rate(5_000_000, Duration::from_millis(1)), "5.00 G/s");
    }

    #[test]
    fn long_lines() {
        let short = format!("a message\nof {} characters\n", "\u{e9}".repeat(480));
        assert_eq!(in_short(&short), short);
        let long = format!("line 3: `{}\u{e9}`: expected a number\n  2", "\u{e9}".repeat(1 << 20));
        let shortened = in_short(&long);
        assert!(
            shortened.starts_with("line 3: `\u{e9}")
                && shortened.ends_with("\u{e9}`: expected a number\n  2")
        );
        assert_eq!(shortened.chars().count(), 300 + " [...] ".len() + 200 + "\n  2".len());
    }
}
