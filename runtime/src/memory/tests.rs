use super::*;

#[test]
fn loads_what_was_stored() {
    let memory = Memory::default();
    let at = memory.alloc(100, 1).unwrap();
    for bytes in [1, 2, 4, 8, 16] {
        let value = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100_u128 >> (128 - 8 * bytes);
        assert_eq!(memory.store(at + 16, bytes, value), Ok(Residency::Resident));
        assert_eq!(memory.load(at + 16, bytes), Ok((value, Residency::Resident)));
    }
}
