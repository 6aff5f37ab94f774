use super::Line;
pub const LINES: &[Line] = &[];
