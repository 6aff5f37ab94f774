//! Builds a PTX module around one statement, with the declarations in the header of
//! `ptx/ptx-forms.txt.gz`.

/// Returns the module for a target such as `90a`. Before version 1.4 the body declares parameters;
/// before 1.5 there are no surfaces.
pub fn module(statement: &str, target: &str, version: (u8, u8)) -> String {
    let (major, minor) = version;
    let sm: u32 = target.trim_end_matches(['a', 'f']).parse().unwrap();
    let when = |holds: bool, text: &'static str| if holds { text } else { "" };
    let size = when(version >= (2, 3), ".address_size 64");
    let images = if version >= (1, 5) {
        ".global .surfref surf; .global .texref tex;"
    } else {
        ".tex .u32 tex;"
    };
    let (head, body) = match version >= (1, 4) {
        true => ("(.param .align 16 .b8 pp[256])", ""),
        false => ("", ".param .align 16 .b8 pp[256];"),
    };
    let stack = sm >= 20;
    let function = when(stack, ".func (.param .b32 r0) fnp (.param .b32 a0) { ret; }");
    let parameters = when(stack, ".param .b32 pa0; .param .b32 pr0;");
    let wide = when(version >= (8, 3) && sm >= 70, ".reg .b128 %q<8>;");
    let names = |name: &str| statement.contains(name);
    let branches = when(names("ts;"), "ts: .branchtargets L1, L2;");
    let prototype = when(names("pr;"), "pr: .callprototype (.param .b32 _) _ (.param .b32 _);");
    let targets = when(names("ct;"), "ct: .calltargets fnp;");
    format!(
        ".version {major}.{minor}\n.target sm_{target}\n{size}
.global .align 16 .b8 g[256]; .const .align 16 .b8 c[256]; .shared .align 16 .b8 s[256];
{images}
.func (.reg .b32 r0) fn (.reg .b32 a0) {{ mov.b32 r0, a0; ret; }}
.func fn2 (.reg .b32 a0) {{ ret; }}
.func fn0 {{ ret; }}
{function}
.entry k {head} {{
{body}
.reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>; .reg .f64 %fd<32>; .reg .pred %p<8>; .reg .b16 %h<32>; .reg .b8 %c<8>; {wide}
.local .align 16 .b8 l[256];
{parameters} {prototype} {targets} {branches}
L1:
{statement}
L2: ret;
}}
"
    )
}
