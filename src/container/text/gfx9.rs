//! Assembly for GFX9.

use warploom_guest::chip::Chip;

use super::Source;
use crate::Error;

impl Source<'_> {
    pub(super) fn gfx9(&self, chip: Chip) -> Result<Vec<u8>, Error> {
        if let Some(line) = self.directives.first() {
            return Err(
                line.wrong(format!("`{}`: expected instructions and labels only", line.text))
            );
        }
        // The first round does not know where instructions are, but how long they are.
        let mut starts = vec![0; self.instructions.len() + 1];
        let mut code = Vec::new();
        for _ in 0..2 {
            code.clear();
            for (number, line) in self.instructions.iter().enumerate() {
                starts[number] = code.len() as i64;
                let next = code.len() as i64 + 4;
                let distance = |target: usize| {
                    let words = i16::try_from((starts[target] - next) / 4);
                    words
                        .map(|words| words.cast_unsigned().to_string())
                        .map_err(|_| "the label is too far".into())
                };
                let text = self.with_target(line, distance)?;
                code.extend(
                    warploom_gfx9::assemble_for(&text, chip)
                        .map_err(|e| line.wrong(e.to_string()))?,
                );
            }
            starts[self.instructions.len()] = code.len() as i64;
        }
        Ok(code)
    }
}
