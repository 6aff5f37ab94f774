//! The text that random programs print: formats one behind the other. A program may begin in the
//! middle of a format.

use arbitrary::{Result, Unstructured};

/// The last format takes a pointer, which random arguments are not.
pub const FORMATS: &[u8] = b"%d %u\n\0%#llx;%10.3e|\0%c%%%08.2f\0no argument\0[%-7s]\0";
const WITHOUT_POINTERS: usize = FORMATS.len() - "[%-7s]\0".len();

/// Returns an offset where a format begins.
pub fn any(u: &mut Unstructured<'_>) -> Result<u32> {
    let end = if u.ratio(1, 16)? { FORMATS.len() } else { WITHOUT_POINTERS };
    Ok(u.choose_index(end)? as u32)
}
