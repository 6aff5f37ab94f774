//! Single words against nvdisasm's text.
//!
//! `opcode-scan.txt`: every legal value of the top 13 bits. `bit-flips.txt`: the meaning of single
//! bits of some words. `random.txt`: four random words for each encoding of the table. All of these
//! are of sm_50.
//!
//! The table has sm_52's forms too. `sm_52.txt` has the words of these files that sm_52 reads
//! otherwise, and `random-sm_52.txt` has random words of sm_52's forms. `sm_53.txt` has pairs of
//! F16, which sm_53 adds.

use std::collections::{HashMap, HashSet};

use warploom_maxwell::{Instruction, assemble};

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/maxwell/words/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The pc of the word when nvdisasm printed it.
const PC: u64 = 8;

fn text(word: u64, pc: u64) -> String {
    normal(
        &Instruction::decode(word)
            .map_or_else(|| "ILLEGAL".into(), |instruction| instruction.text(pc)),
    )
}

/// Normalises a text: the fixtures have single blanks, and no braces at the ends.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_matches(['{', '}', ' ']).to_owned()
}

/// Returns pairs of a word and its text, one for each line.
fn words_of(name: &str) -> Vec<(u64, String)> {
    let pair = |line: &str| {
        let (word, text) = line.split_once(' ').unwrap();
        (u64::from_str_radix(word, 16).unwrap(), normal(text))
    };
    fixture(name).lines().map(pair).collect()
}

/// The numbers of words of a file that sm_52 reads otherwise, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Newer {
    /// A type or a function that sm_50 lacks, where it has `.U128`, `.INVALIDATOMICSIZE4` or
    /// `.INVALIDMUFUOPCODE8`.
    value: usize,
    /// SULD's predicate, in bits that sm_50 ignores.
    ignored: usize,
    /// An illegal word of sm_50.
    refused: usize,
}

/// Asserts that at least `floor` lines have equal texts: the share must not fall.
fn compare(
    name: &str,
    pairs: impl Iterator<Item = (u64, String)>,
    floor: usize,
    expected_newer: Newer,
) {
    let of_sm_52: HashMap<_, _> = words_of("sm_52.txt").into_iter().collect();
    let (mut equal, mut count, mut newer, mut shown) = (0, 0, Newer::default(), Vec::new());
    for (word, of_sm_50) in pairs {
        count += 1;
        let found = text(word, PC);
        let expected = of_sm_52.get(&word).unwrap_or(&of_sm_50);
        if *expected != of_sm_50 {
            let reason = match of_sm_50.as_str() {
                "ILLEGAL" => &mut newer.refused,
                _ if expected.contains(".F16x2") || expected.contains("MUFU.SQRT") => {
                    &mut newer.value
                }
                _ => &mut newer.ignored,
            };
            *reason += 1;
        }
        if found == *expected {
            equal += 1;
        } else if shown.len() < 20 {
            shown.push(format!("{word:016x}: `{found}`, nvdisasm: `{expected}`"));
        }
    }
    println!("{name}: {equal} of {count} equal");
    assert!(
        equal >= floor,
        "{name}: {equal} of {count} equal, expected {floor}:\n{}",
        shown.join("\n")
    );
    assert_eq!(newer, expected_newer, "{name}: words with another text for sm_52");
}

#[test]
fn opcode_scan() {
    let text_of = fixture("opcode-scan.txt");
    let pairs = text_of.lines().map(|line| {
        let (column, expected) = line.split_once(' ').unwrap();
        let word = u64::from_str_radix(column, 16).unwrap() << 48 | 0x70405;
        (word, normal(expected))
    });
    compare("opcode scan", pairs, 4596, Newer { value: 18, ..Newer::default() });
}

#[test]
fn opcodes_outside_the_scan_are_illegal() {
    let scan = fixture("opcode-scan.txt");
    let of_sm_50 = scan.lines().map(|line| u64::from_str_radix(&line[..4], 16).unwrap() >> 3);
    let newer =
        ["sm_52.txt", "sm_53.txt"].map(words_of).into_iter().flatten().map(|(word, _)| word >> 51);
    let legal: HashSet<u64> = of_sm_50.chain(newer).collect();
    for top in (0..1 << 13).filter(|top| !legal.contains(top)) {
        let word = top << 51 | 0x70405;
        assert!(Instruction::decode(word).is_none(), "{word:016x}: {}", text(word, PC));
    }
}

#[test]
fn bit_flips() {
    let lines = fixture("bit-flips.txt");
    let mut base = 0;
    let pairs = lines.lines().map(|line| {
        let (word, expected) = match line.trim_start().strip_prefix("bit") {
            Some(flip) => {
                let (bit, expected) = flip.split_once("->").unwrap();
                (base ^ 1 << bit.trim().parse::<u32>().unwrap(), expected)
            }
            None => {
                let (word, expected) = line.split_once(' ').unwrap();
                base = u64::from_str_radix(word, 16).unwrap();
                (base, expected)
            }
        };
        // `=`: the flip changes nothing.
        let expected = if expected.trim() == "=" { text(base, PC) } else { normal(expected) };
        (word, expected)
    });
    compare("bit flips", pairs, 780, Newer { value: 8, ignored: 3, refused: 20 });
}

#[test]
fn random_words() {
    compare(
        "random words",
        words_of("random.txt").into_iter(),
        1788,
        Newer { value: 7, ignored: 15, refused: 0 },
    );
}

/// At least 64 words for each form that only sm_52 has.
#[test]
fn random_words_of_sm_52() {
    compare(
        "random words of sm_52",
        words_of("random-sm_52.txt").into_iter(),
        2880,
        Newer::default(),
    );
}

/// Every legal value of the top 13 bits that only sm_53 has, and 64 words for each of its
/// encodings.
#[test]
fn words_of_sm_53() {
    compare("words of sm_53", words_of("sm_53.txt").into_iter(), 2131, Newer::default());
}

/// A text of sm_52 or sm_53 assembles to a word with this text.
#[test]
fn newer_texts_assemble() {
    for (word, text_of) in
        ["sm_52.txt", "random-sm_52.txt", "sm_53.txt"].map(words_of).into_iter().flatten()
    {
        let assembled =
            assemble(&text_of, PC).unwrap_or_else(|error| panic!("{word:016x}: {error}"));
        assert_eq!(text(assembled, PC), text_of, "{word:016x}, assembled: {assembled:016x}");
    }
}

/// Words that nvdisasm calls illegal although their top bits are an instruction's, found by trying.
/// The files of sm_52 and sm_53 have the words that are legal there.
#[test]
fn illegal_words() {
    let newer = ["sm_52.txt", "sm_53.txt"].map(words_of).into_iter().flatten();
    let newer: HashSet<u64> = newer.map(|(word, _)| word).collect();
    let mut legal_now = 0;
    for line in fixture("illegal.txt").lines() {
        let word = u64::from_str_radix(line, 16).unwrap();
        if newer.contains(&word) {
            legal_now += 1;
            continue;
        }
        assert!(Instruction::decode(word).is_none(), "{word:016x}: {}", text(word, PC));
    }
    assert_eq!(legal_now, 191);
}
