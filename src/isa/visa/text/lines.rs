//! The lines of a text without their comments.

/// A text whose comments are blanked, with the contents of two kinds of comments.
pub(super) struct Lines {
    pub text: Vec<u8>,
    /// Each `//Platform: XE2`, with its line, from 0 on.
    pub platforms: Vec<(usize, String)>,
    /// Each `//Build option: "..."`, with its line, from 0 on.
    pub options: Vec<(usize, String)>,
}

const PLATFORM: &str = "//Platform:";
const OPTIONS: &str = "//Build option:";

/// Replaces comments by blanks, except in strings. Returns None if a comment does not end.
pub(super) fn without_comments(text: &[u8]) -> Option<Lines> {
    let mut found = Lines { text: text.to_vec(), platforms: vec![], options: vec![] };
    let (mut at, mut line, mut quoted) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied().unwrap_or(0);
        match byte {
            b'\n' => {
                line += 1;
                quoted = false;
            }
            b'\\' if quoted && next != b'\n' => at += 1,
            b'"' => quoted = !quoted,
            b'/' if !quoted && next == b'/' => {
                let length =
                    text[at..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at);
                said(&text[at..at + length], line, &mut found);
                found.text[at..at + length].fill(b' ');
                at += length;
                continue;
            }
            b'/' if !quoted && next == b'*' => {
                let length = text[at + 2..].windows(2).position(|two| two == b"*/")? + 4;
                for (kept, &byte) in
                    found.text[at..at + length].iter_mut().zip(&text[at..at + length])
                {
                    match byte {
                        b'\n' => line += 1,
                        _ => *kept = b' ',
                    }
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Some(found)
}

fn said(comment: &[u8], line: usize, found: &mut Lines) {
    let comment = String::from_utf8_lossy(comment);
    if let Some(platform) = comment.strip_prefix(PLATFORM) {
        found.platforms.push((line, platform.trim().to_string()));
    } else if let Some(options) = comment.strip_prefix(OPTIONS) {
        let options = options.trim();
        let quoted = options.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        found.options.push((line, quoted.unwrap_or(options).to_string()));
    }
}
