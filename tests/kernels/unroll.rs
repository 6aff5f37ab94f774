//! Straight lines of up to 10,000 instructions, against their own source: this test reads and
//! executes each statement of `unroll10k.cu` and of its shorter relatives.

use std::path::Path;

use crate::draw::Draw;
use crate::reference::Shape;
use crate::support::Case;

/// A statement: its text without registers and numbers, and the registers and numbers in order.
struct Statement {
    form: String,
    registers: Vec<usize>,
    numbers: Vec<String>,
}

impl Statement {
    /// `u3 += u1 + 77u;` becomes `u+=u+#`, [3, 1] and ["77"].
    fn parse(line: &str) -> Statement {
        let mut statement = Statement { form: String::new(), registers: vec![], numbers: vec![] };
        let mut rest = line.trim().trim_end_matches(';');
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            let starts_word =
                !statement.form.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if (c == 'u' || c == 'f') && digit(after) && starts_word {
                statement.form.push(c);
                statement.registers.push(after[..1].parse().expect("a register"));
                rest = &after[1..];
            } else if c.is_ascii_digit() || c == '-' && digit(after) {
                let end =
                    after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
                statement.form.push('#');
                statement.numbers.push(rest[..1 + end].into());
                rest = after[end..].trim_start_matches(['u', 'f']);
            } else {
                if c != ' ' {
                    statement.form.push(c);
                }
                rest = after;
            }
        }
        statement
    }

    fn integer(&self, k: usize) -> u32 {
        self.numbers[k].parse().expect("an integer")
    }

    fn float(&self, k: usize) -> f32 {
        self.numbers[k].parse().expect("a float")
    }
}

/// One lane: eight integers and eight floats.
struct Lane<'a> {
    u: [u32; 8],
    f: [f32; 8],
    /// The input from the lane's own element on.
    input: &'a [u32],
    /// The output, one word for each store.
    output: Vec<u32>,
}

impl Lane<'_> {
    fn step(&mut self, s: &Statement) {
        let (u, f) = (&mut self.u, &mut self.f);
        let d = s.registers[0];
        let a = s.registers.get(1).copied().unwrap_or(d);
        match s.form.as_str() {
            "out[#*n+i]=u^__float_as_uint(f)" => {
                assert_eq!(s.integer(0) as usize, self.output.len());
                self.output.push(u[d] ^ f[a].to_bits());
            }
            "u+=in[i+#]" => u[d] = u[d].wrapping_add(self.input[s.integer(0) as usize]),
            "u+=u+#" => u[d] = u[d].wrapping_add(u[a]).wrapping_add(s.integer(0)),
            "u^=u^#" => u[d] ^= u[a] ^ s.integer(0),
            "u+=u" => u[d] = u[d].wrapping_add(u[a]),
            "u=u-u" => u[d] = u[a].wrapping_sub(u[s.registers[2]]),
            "u=(u&u)+#" => u[d] = (u[a] & u[s.registers[2]]).wrapping_add(s.integer(0)),
            "u^=u<<#" => u[d] ^= u[a] << s.integer(0),
            "u+=u>>#" => u[d] = u[d].wrapping_add(u[a] >> s.integer(0)),
            "u*=#" => u[d] = u[d].wrapping_mul(s.integer(0)),
            "u=min(u,u)+#" => u[d] = u[a].min(u[s.registers[2]]).wrapping_add(s.integer(0)),
            "u+=f<f?u:#" => {
                let taken = f[s.registers[1]] < f[s.registers[2]];
                u[d] = u[d].wrapping_add(if taken { u[s.registers[3]] } else { s.integer(0) });
            }
            "f=__fmaf_rn(f,#,#)" => f[d] = f[a].mul_add(s.float(0), s.float(1)),
            "f=__fmul_rn(f,#)" => f[d] = f[a] * s.float(0),
            "f=__fadd_rn(f,f)" => f[d] = f[a] + f[s.registers[2]],
            "f=fminf(f,f)" => f[d] = f[a].min(f[s.registers[2]]),
            form => panic!("unknown statement {form}"),
        }
    }
}

#[test]
fn computes_what_its_source_says() {
    for (name, statements) in [("unroll100", 88), ("unroll1k", 808), ("unroll10k", 8008)] {
        computes(name, statements);
    }
}

fn computes(name: &'static str, count: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/fixtures/{name}.cu"));
    let source =
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let statements: Vec<Statement> = source
        .lines()
        .skip_while(|line| !line.contains("float f7"))
        .skip(1)
        .take_while(|line| *line != "}")
        .map(Statement::parse)
        .collect();
    assert_eq!(statements.len(), count);
    for (n, block) in [(1, 32), (77, 33), (500, 256)] {
        let input = Draw::new(n as u64).vec(n + 64, Draw::u32);
        let lanes: Vec<Vec<u32>> = (0..n)
            .map(|i| {
                let u: [u32; 8] = std::array::from_fn(|k| input[i + k]);
                let mut lane =
                    Lane { u, f: u.map(|u| (u & 1023) as f32), input: &input[i..], output: vec![] };
                statements.iter().for_each(|s| lane.step(s));
                assert!(lane.f.iter().all(|f| f.is_finite()));
                lane.output
            })
            .collect();
        let output: Vec<u32> =
            (0..lanes[0].len()).flat_map(|k| lanes.iter().map(move |lane| lane[k])).collect();
        for case in [Case::bench(name, name), Case::bench_gfx9(name, name)] {
            case.shape(Shape::covering(n, block))
                .input(&input)
                .output(&output)
                .value(n as i32)
                .check();
        }
    }
}
