//! Single words against nvdisasm's text.
//!
//! `opcode-scan.txt`: every legal value of the top 13 bits. `bit-flips.txt`: what single bits of some words mean.
//! `random.txt`: four random words for each encoding of the table. Where the text is no instruction's, the encodings are
//! listed below.

use warploom::isa::maxwell::Instruction;

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/maxwell/words/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// Where the word stood when nvdisasm printed it.
const PC: u64 = 8;

fn text(word: u64, pc: u64) -> String {
    normal(&Instruction::decode(word).map_or_else(|| "ILLEGAL".into(), |instruction| instruction.text(pc)))
}

/// The fixtures have single blanks, and no braces at the ends.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_matches(['{', '}', ' ']).to_owned()
}

/// The share of equal texts must not fall. `floor` is in lines.
fn compare(name: &str, pairs: impl Iterator<Item = (u64, String, String)>, floor: usize) {
    let (mut equal, mut count, mut shown) = (0, 0, Vec::new());
    for (word, found, expected) in pairs {
        count += 1;
        if found == expected {
            equal += 1;
        } else if shown.len() < 20 {
            shown.push(format!("{word:016x}: `{found}`, nvdisasm: `{expected}`"));
        }
    }
    println!("{name}: {equal} of {count} equal");
    assert!(equal >= floor, "{name}: {equal} of {count} equal, expected {floor}:\n{}", shown.join("\n"));
}

#[test]
fn opcode_scan() {
    let text_of = fixture("opcode-scan.txt");
    let pairs = text_of.lines().map(|line| {
        let (column, expected) = line.split_once(' ').unwrap();
        let word = u64::from_str_radix(column, 16).unwrap() << 48 | 0x70405;
        (word, text(word, PC), normal(expected))
    });
    compare("opcode scan", pairs, 4596);
}

#[test]
fn opcodes_outside_the_scan_are_illegal() {
    let scan = fixture("opcode-scan.txt");
    let legal: Vec<u64> = scan.lines().map(|line| u64::from_str_radix(&line[..4], 16).unwrap() >> 3).collect();
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
        (word, text(word, PC), expected)
    });
    compare("bit flips", pairs, 780);
}

#[test]
fn random_words() {
    let lines = fixture("random.txt");
    let pairs = lines.lines().map(|line| {
        let (word, expected) = line.split_once(' ').unwrap();
        let word = u64::from_str_radix(word, 16).unwrap();
        (word, text(word, PC), normal(expected))
    });
    compare("random words", pairs, 1788);
}

/// Found by trying: words that nvdisasm calls illegal although their top bits are an instruction's.
#[test]
fn illegal_words() {
    for line in fixture("illegal.txt").lines() {
        let word = u64::from_str_radix(line, 16).unwrap();
        assert!(Instruction::decode(word).is_none(), "{word:016x}: {}", text(word, PC));
    }
}
