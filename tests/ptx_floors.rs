//! The lowest targets and versions of PTX forms, against the floors of ptxas:
//! `ptx/ptx-floors.txt.gz`. `peers/ptx_floors.py` wrote this file with ptxas 12.9 and 13.5, and
//! explains it.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

mod support {
    pub mod ptx_statement;
}
use support::ptx_statement::module;

type Version = (u8, u8);

/// The last minor version of each major version.
const LAST: [u8; 10] = [0, 5, 3, 2, 3, 1, 5, 8, 8, 5];

/// The targets in the order of the file, each with its first version.
const TARGETS: &str = "10 1.0, 11 1.0, 12 1.2, 13 1.2, 20 2.0, 21 2.0, 30 3.0, 32 4.0, 35 3.1, 37 4.1, 50 4.0, 52 4.1, 53 4.2, 60 5.0, \
     61 5.0, 62 5.0, 70 5.1, 72 6.1, 75 6.3, 80 7.0, 86 7.1, 87 7.4, 88 9.0, 89 7.8, 90 7.8, 90a 8.0, 100 8.6, 100a 8.6, 100f 8.8, \
     103 8.8, 103a 8.8, 103f 8.8, 120 8.7, 120a 8.7, 120f 8.8, 121 8.8, 121a 8.8, 121f 8.8";

fn version(text: &str) -> Version {
    let (major, minor) = text.split_once('.').unwrap();
    (major.parse().unwrap(), minor.parse().unwrap())
}

fn before((major, minor): Version) -> Version {
    if minor > 0 { (major, minor - 1) } else { (major - 1, LAST[usize::from(major) - 1]) }
}

fn after((major, minor): Version) -> Version {
    if minor < LAST[usize::from(major)] { (major, minor + 1) } else { (major + 1, 0) }
}

/// Returns ptxas's verdicts on a statement around its floors: target, version, whether ptxas takes
/// it.
fn places<'a>(floors: &'a str, first: &[(&'a str, Version)]) -> Vec<(&'a str, Version, bool)> {
    let said: HashMap<&str, &str> =
        floors.split(' ').map(|part| part.split_once(':').unwrap()).collect();
    let mut range = "-";
    let mut found = vec![];
    // ptxas 12.9 knows no version above 8.8: a range that ends there does not cover later versions.
    let end = if said.values().any(|range| range.ends_with("-8.8")) { (8, 8) } else { (9, 5) };
    for &(target, lowest) in first {
        let is_said = said.contains_key(target);
        range = said.get(target).copied().unwrap_or(range);
        // For targets below sm_20, the file has only versions below 3.0.
        let highest = if lowest < (2, 0) { (2, 3) } else { end };
        let mut add = |version: Version, verdict| {
            if is_said && version >= lowest && version <= highest {
                found.push((target, version, verdict));
            }
        };
        if range == "-" {
            add(lowest, false);
            add(highest, false);
            continue;
        }
        let (from, to) =
            range.split_once('-').map_or((range, None), |(from, to)| (from, Some(version(to))));
        let from = version(from).max(lowest);
        if from > lowest {
            add(before(from), false);
        }
        add(from, true);
        match to {
            Some(to) => {
                add(to, true);
                add(after(to), false);
            }
            None => add(highest, true),
        }
    }
    found
}

#[test]
fn forms_have_the_floors_of_ptxas() {
    let mut text = String::new();
    let packed = include_bytes!("ptx/ptx-floors.txt.gz");
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let first: Vec<(&str, Version)> = TARGETS
        .split(", ")
        .map(|entry| entry.split_once(' ').unwrap())
        .map(|(target, lowest)| (target, version(lowest)))
        .collect();
    let mut differ: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut asked = 0;
    for line in text.lines() {
        let (floors, statement) = line.split_once('\t').unwrap();
        for (target, version, taken) in places(floors, &first) {
            asked += 1;
            let read = warploom_ptx::read(module(statement, target, version).as_bytes());
            if read.is_ok() != taken {
                let (major, minor) = version;
                let problem = read
                    .err()
                    .map(|errors| errors.to_string().replace('\n', " "))
                    .unwrap_or_default();
                let opcode: String =
                    statement.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
                let kind =
                    format!("{opcode}, sm_{target} {major}.{minor}, ptxas takes it: {taken}");
                differ.entry(kind).or_default().push(format!("{statement} {problem}"));
            }
        }
    }
    assert!(asked > 60_000, "{asked}");
    for (kind, all) in &differ {
        println!("{kind}: {}", all.len());
        all.iter().take(3).for_each(|one| println!("    {one}"));
    }
    assert!(differ.is_empty(), "{} kinds of differences of {asked}", differ.len());
}
