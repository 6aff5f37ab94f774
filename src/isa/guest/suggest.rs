//! Suggestions for misspelt names.

/// Returns the name that is most like a misspelt one: one letter in three may be wrong, missing,
/// added, or changed with its neighbour.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|one| (strsim::osa_distance(name, one), one))
        .filter(|(distance, _)| (1..=most).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

/// Returns a question with the nearest name, or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or(String::new(), |one| format!(" (did you mean `{one}`?)"))
}

/// Returns the first names of a list, and the number of the others.
pub fn first_of(names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 20;
    let more = names.len().saturating_sub(MOST);
    let first: Vec<&str> = names[..names.len() - more].iter().map(AsRef::as_ref).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    first.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::{first_of, nearest};

    #[test]
    fn misspelt_names_have_a_nearest() {
        assert_eq!(nearest("sxpy", ["dot", "saxpy"]), Some("saxpy"));
        assert_eq!(nearest("i23", ["f16", "i32"]), Some("i32"));
        assert_eq!(nearest("matmul", ["dot", "saxpy"]), None);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(first_of(&["a", "b"]), "a, b");
        assert!(first_of(&["x"; 30]).ends_with("x and 10 more"));
    }
}
