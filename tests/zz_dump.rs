use object::{Object, ObjectSection};
#[test]
fn dump() {
    let file = std::env::var("CUBIN").unwrap();
    let kernel = std::env::var("KERNEL").unwrap();
    let bytes = std::fs::read(file).unwrap();
    let elf = object::File::parse(&*bytes).unwrap();
    let section = elf.section_by_name(&format!(".text.{kernel}")).unwrap();
    let code = section.data().unwrap();
    let k =
        warploom::isa::maxwell::lift::Kernel { name: &kernel, code, entry: 8, indirect_targets: &[], discovered: &[] };
    let t = std::time::Instant::now();
    let f = warploom::isa::maxwell::lift::lift_kernel(&k).unwrap();
    let t = t.elapsed();
    warploom::ir::verify::verify(&f).unwrap();
    println!("{f}");
    println!("{t:?} for {} bytes", code.len());
}
