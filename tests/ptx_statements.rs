//! Reads the statements of `ptx/ptx-forms.txt.gz` (its header explains it) amid what it says is declared around them.

use std::collections::BTreeMap;
use std::io::Read;

use warploom::isa::ptx;
use warploom::isa::ptx::text::print;

/// A module with one statement.
fn module(target: &str, version: &str, statement: &str) -> String {
    let at_least = |other: &str| -> bool {
        let parts = |text: &str| text.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<_>>();
        parts(version) >= parts(other)
    };
    let sm: u32 = target.trim_start_matches("sm_").trim_end_matches('a').parse().unwrap();
    let size = if at_least("2.3") { ".address_size 64" } else { "" };
    let wide = if at_least("8.3") && sm >= 70 { ".reg .b128 %q<8>;" } else { "" };
    format!(
        ".version {version}\n.target {target}\n{size}\n
        .global .align 16 .b8 g[256]; .const .align 16 .b8 c[256]; .shared .align 16 .b8 s[256];
        .global .surfref surf; .global .texref tex;
        .func (.reg .b32 x) fn (.reg .b32 y) {{ mov.b32 x, y; ret; }}
        .func fn2 (.reg .b32 y) {{ ret; }}
        .func fn0 {{ ret; }}
        .func (.param .b32 x) fnp (.param .b32 y) {{ ret; }}
        .entry k (.param .align 16 .b8 pp[256]) {{
        .local .align 16 .b8 l[256];
        .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>; .reg .f64 %fd<32>; .reg .pred %p<8>;
        .reg .b16 %h<32>; .reg .b8 %c<8>; {wide}
        .param .b32 pa0, pr0;
        ts: .branchtargets L1, L2;
        pr: .callprototype (.param .b32 _) _ (.param .b32 _);
        ct: .calltargets fnp;
        L1:
        {statement}
        L2: ret;
        }}"
    )
}

fn lines() -> Vec<(bool, String, String)> {
    let packed = include_bytes!("ptx/ptx-forms.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let mut found = vec![];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [verdict, place, statement] = columns[..] {
            found.push((verdict == "accept", place.to_string(), statement.to_string()));
        }
    }
    found
}

#[test]
fn accepted_statements_are_read() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for (_, place, statement) in lines().iter().filter(|line| line.0) {
        let (target, version) = place.split_once('/').unwrap();
        count += 1;
        let opcode = statement.split(['.', ' ']).next().unwrap().to_string();
        match ptx::read(module(target, version, statement).as_bytes()) {
            Err(errors) => wrong.entry(opcode).or_default().push(format!("{place} {statement}: {errors}")),
            Ok(module) => {
                let printed = print(&module);
                match ptx::read(printed.as_bytes()) {
                    Ok(again) => assert_eq!(printed, print(&again)),
                    Err(errors) => panic!("{statement}: printed text:\n{errors}\n{printed}"),
                }
            }
        }
    }
    assert!(count > 15_000);
    for (opcode, all) in &wrong {
        println!("{opcode}: {} refused", all.len());
        all.iter().take(8).for_each(|line| println!("    {line}"));
    }
}
