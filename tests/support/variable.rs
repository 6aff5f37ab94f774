//! Reads numbers from environment variables.

/// Returns the number in an environment variable. A value that is no number panics, so that a typo
/// does not reduce testing.
pub fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`: expected a number")))
}
