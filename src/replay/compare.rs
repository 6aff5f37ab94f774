//! Comparison of results with expectations.

use super::array::{Array, Dtype, Element};

/// The distance that an element may have from the expected value: `atol + rtol * |expected|`.
///
/// Without `rtol` and `atol`, the bits must be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
}

impl Tolerance {
    fn is_exact(self) -> bool {
        self.rtol.is_none() && self.atol.is_none()
    }

    fn allows(self, got: Element, expected: Element) -> bool {
        let (got, expected) = match (got, expected) {
            (Element::Int(a), Element::Int(b)) if a == b => return true,
            (Element::Int(a), Element::Int(b)) => (a as f64, b as f64),
            (Element::Float(a), Element::Float(b)) => (a, b),
            _ => return false,
        };
        let bound = self.atol.unwrap_or(0.0) + self.rtol.unwrap_or(0.0) * expected.abs();
        got == expected
            || got.is_nan() && expected.is_nan()
            || (got - expected).abs() <= bound && expected.is_finite()
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub elements: usize,
    pub mismatches: usize,
    pub first: Option<Mismatch>,
    /// The greatest |got - expected| of the elements in which both values are finite.
    pub max_abs: f64,
    /// The greatest |got - expected| / |expected| of these elements, where |expected| is not 0.
    pub max_rel: f64,
}

/// An element that differs from the expected one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Number of the element, in C order.
    pub index: usize,
    pub got: String,
    pub expected: String,
}

/// Compares bytes of guest memory with an array of equal size in bytes.
pub fn compare(got: &[u8], expected: &Array, tolerance: Tolerance) -> Comparison {
    let mut comparison = Comparison::default();
    comparison.add(got, &expected.bytes, expected.dtype, tolerance);
    comparison
}

impl Comparison {
    /// Compares further elements. `got` and `expected` have equal length.
    pub fn add(&mut self, got: &[u8], expected: &[u8], dtype: Dtype, tolerance: Tolerance) {
        let before = self.elements;
        self.elements += expected.len() / dtype.bytes();
        if got == expected {
            return;
        }
        let pairs = got.chunks_exact(dtype.bytes()).zip(expected.chunks_exact(dtype.bytes()));
        for (index, (got, expected)) in
            pairs.enumerate().filter(|(_, (got, expected))| got != expected)
        {
            let (g, e) = (dtype.element(got), dtype.element(expected));
            let distance = (number(g) - number(e)).abs();
            if distance.is_finite() {
                self.max_abs = self.max_abs.max(distance);
                if number(e) != 0.0 {
                    self.max_rel = self.max_rel.max(distance / number(e).abs());
                }
            }
            if !tolerance.is_exact() && tolerance.allows(g, e) {
                continue;
            }
            self.mismatches += 1;
            let show = |element: Element, bytes: &[u8]| match element {
                Element::Int(i) => i.to_string(),
                Element::Float(x) => format!("{x:?} ({})", hex(bytes, dtype)),
            };
            self.first.get_or_insert_with(|| Mismatch {
                index: before + index,
                got: show(g, got),
                expected: show(e, expected),
            });
        }
    }
}

impl Comparison {
    /// Appends another comparison, whose elements begin at number `first`.
    pub(super) fn append(&mut self, other: Comparison, first: usize) {
        self.elements += other.elements;
        self.mismatches += other.mismatches;
        self.max_abs = self.max_abs.max(other.max_abs);
        self.max_rel = self.max_rel.max(other.max_rel);
        if self.first.is_none() {
            self.first =
                other.first.map(|mismatch| Mismatch { index: first + mismatch.index, ..mismatch });
        }
    }

    /// Drops the mismatches: the elements may differ.
    pub(super) fn forgive(&mut self) {
        (self.mismatches, self.first) = (0, None);
    }
}

fn number(element: Element) -> f64 {
    match element {
        Element::Int(i) => i as f64,
        Element::Float(x) => x,
    }
}

fn hex(bytes: &[u8], dtype: Dtype) -> String {
    let digits: String =
        bytes.iter().take(dtype.bytes()).rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{digits}")
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.first {
            None => write!(f, "{} elements as expected", self.elements)?,
            Some(first) => write!(
                f,
                "{} of {} elements differ, first element {}: got {}, expected {}",
                self.mismatches, self.elements, first.index, first.got, first.expected
            )?,
        }
        if self.max_abs > 0.0 {
            write!(f, " (largest difference {:.3e}, relative {:.3e})", self.max_abs, self.max_rel)?;
        }
        Ok(())
    }
}

/// Describes the first line that differs from the expected text, if a line does.
pub fn line_difference(found: &[u8], expected: &[u8]) -> Option<String> {
    let (mut found, mut expected) =
        (found.split_inclusive(|&c| c == b'\n'), expected.split_inclusive(|&c| c == b'\n'));
    let say = |line: Option<&[u8]>| match line {
        Some(line) => format!("`{}`", String::from_utf8_lossy(line).trim_end_matches('\n')),
        None => "no such line".into(),
    };
    (1..).find_map(|number| match (found.next(), expected.next()) {
        (None, None) => Some(None),
        (a, b) if a == b => None,
        (a, b) => Some(Some(format!("line {number}: {}, expected {}", say(a), say(b)))),
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Array {
        Array::flat(Dtype::F32, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    #[test]
    fn exact_means_bits() {
        let expected = floats(&[0.0, 1.0, f32::NAN]);
        let exact = Tolerance::default();
        assert_eq!(compare(&expected.bytes, &expected, exact).mismatches, 0);
        let result = compare(&floats(&[-0.0, 1.0, f32::NAN]).bytes, &expected, exact);
        assert_eq!((result.mismatches, result.first.as_ref().unwrap().index), (1, 0));
        assert!(
            result.to_string().contains("-0.0 (0x80000000), expected 0.0 (0x00000000)"),
            "{result}"
        );
    }

    #[test]
    fn tolerances() {
        let expected = floats(&[100.0, f32::INFINITY, f32::NAN, 0.0]);
        let near = floats(&[100.5, f32::INFINITY, -f32::NAN, 0.25]).bytes;
        let count = |rtol, atol| compare(&near, &expected, Tolerance { rtol, atol }).mismatches;
        assert_eq!(count(Some(0.01), None), 1);
        assert_eq!(count(None, Some(0.3)), 1);
        assert_eq!(count(Some(0.01), Some(0.3)), 0);
        let infinite = compare(
            &floats(&[100.0, 1.0, f32::NAN, 0.0]).bytes,
            &expected,
            Tolerance { rtol: Some(1.0), atol: Some(1e30) },
        );
        assert_eq!(infinite.mismatches, 1, "a number is not close to infinity");
        let ints = Array::flat(Dtype::I16, vec![10, 0, 20, 0]);
        let off = compare(&[11, 0, 30, 0], &ints, Tolerance { rtol: None, atol: Some(1.0) });
        assert_eq!((off.mismatches, off.first.unwrap().got.as_str()), (1, "30"));
    }
}
