//! Numbers for people.

use std::time::Duration;

/// 1234567 as `1,234,567`.
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

/// A time with three significant digits.
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

/// How many a second, with a unit.
pub fn rate(count: u64, duration: Duration) -> String {
    let rate = count as f64 / duration.as_secs_f64().max(1e-9);
    match rate {
        _ if rate < 1e6 => format!("{:.1} k/s", rate / 1e3),
        _ if rate < 1e9 => format!("{:.1} M/s", rate / 1e6),
        _ => format!("{:.2} G/s", rate / 1e9),
    }
}

/// `s` where there is not one.
pub fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1234567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(time(Duration::from_nanos(1234)), "1.23 us");
        assert_eq!(time(Duration::from_millis(123)), "123 ms");
        assert_eq!(rate(5_000_000, Duration::from_millis(1)), "5.00 G/s");
    }
}
