//! Numbers that the environment gives tests.

/// An environment variable's number; what is none is no reason to test less.
pub fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`: expected a number")))
}
