//! Kernels' names for people: names of C++ (numba's are too), without additions of compilers.

use cpp_demangle::{DemangleOptions, Symbol};

/// Longer names stay as they are: real names of templates have at most some thousand bytes.
const MOST_MANGLED: usize = 1 << 14;
/// The columns of a name.
const WIDTH: usize = 100;

/// Returns the names, as short as is possible while they differ.
pub fn readable(names: &[&str]) -> Vec<String> {
    let short: Vec<String> =
        names.iter().map(|name| demangled(name, true).unwrap_or_else(|| cut(name))).collect();
    let is_single = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let one = |(name, short): (&&str, &String)| match is_single(short) {
        true => short.clone(),
        false => demangled(name, false).unwrap_or_else(|| (*name).to_string()),
    };
    names.iter().zip(&short).map(one).collect()
}

/// Demangles a name of C++; `None` for other names. A short name has no parameters and inner
/// templates.
pub fn demangled(name: &str, short: bool) -> Option<String> {
    let mangled = Some(name).filter(|name| name.starts_with("_Z") && name.len() <= MOST_MANGLED)?;
    let options = DemangleOptions::new().no_return_type();
    let options = if short { options.no_params() } else { options };
    let text = without_tags(&Symbol::new(mangled).ok()?.demangle_with_options(&options).ok()?);
    Some(if short { cut(&without_inner_templates(&text)) } else { text })
}

/// Returns the types of the parameters that a name of C++ has.
pub fn parameter_types(name: &str) -> Option<Vec<String>> {
    let text = demangled(name, false)?;
    let inside = text.strip_suffix(')')?;
    // Parentheses, templates and brackets nest; the list is behind the last `(` of the top level.
    let mut depth = 0_i32;
    let mut types = vec![String::new()];
    for character in inside.chars().rev() {
        match character {
            ')' | '>' | ']' => depth += 1,
            '(' if depth == 0 => {
                let types = types.iter().map(|ty| ty.chars().rev().collect::<String>());
                let types: Vec<String> = types.map(|ty| ty.trim().to_string()).rev().collect();
                return Some(if types == [""] { vec![] } else { types });
            }
            '(' | '<' | '[' => depth -= 1,
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            _ => {}
        }
        types.last_mut()?.push(character);
    }
    None
}

/// Removes `[abi:...]`, by which numba tells versions of a function apart.
fn without_tags(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, tag)) = rest.split_once("[abi:") {
        kept += before;
        rest = tag.split_once(']').map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Replaces the arguments of templates that are themselves in arguments with `...`.
fn without_inner_templates(text: &str) -> String {
    let (mut depth, mut kept, mut last) = (0_usize, String::new(), ' ');
    for character in text.chars() {
        let is_operator = kept.ends_with("operator")
            || kept.ends_with("operator<")
            || kept.ends_with("operator>");
        match character {
            // The `>` of `->` does not end a template.
            '<' if !is_operator => {
                depth += 1;
                if depth == 2 {
                    kept += "<...";
                }
            }
            '>' if !is_operator && last != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth < 2 {
            kept.push(character);
        }
        last = character;
    }
    kept
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{parameter_types, readable};

    #[test]
    fn names_of_cpp_are_short() {
        let fill = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_";
        let numba = "_ZN9nb_shared5saxpyB2v1B92cw51cXTLSUwv1sDUaKthqqNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQ\
                     GNFHSgJ5BnXagIAExf5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE";
        let plain = "triton_poi_fused_add_0";
        let short = readable(&["_Z6triplePi", fill, numba, plain]);
        let fill = "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<...>, std::array<...> >";
        assert_eq!(short, ["triple", fill, "nb_shared::saxpy", plain]);
    }

    #[test]
    fn versions_of_a_kernel_are_told_apart() {
        assert_eq!(
            readable(&["_Z3addPi", "_Z3addPf", "_Z3subPf"]),
            ["add(int*)", "add(float*)", "sub"]
        );
    }

    #[test]
    fn names_of_cpp_have_types_of_parameters() {
        let types = |name| parameter_types(name).unwrap();
        assert_eq!(types("_Z5saxpyifPKfPf"), ["int", "float", "float const*", "float*"]);
        assert_eq!(types("_Z4nonev"), Vec::<String>::new());
        assert_eq!(types("_Z3addIfEvPT_i"), ["float*", "int"]);
        assert_eq!(parameter_types("saxpy"), None);
    }

    #[test]
    fn what_is_no_name_of_cpp_stays() {
        let long = "x".repeat(300);
        assert_eq!(readable(&["_Zgarbage", "", &long])[..2], ["_Zgarbage", ""]);
        assert_eq!(readable(&[&long])[0].len(), 103);
    }
}
