//! The payload of a random kernel at its start, as `.ze_info` describes it.

use super::memory::{DATA_INDEX, LOCAL_BYTES, TABLE_INDEX};

/// Returns the bytes of a row of local ids.
pub fn row(lanes: u32, register: u32) -> u32 {
    if lanes == 32 { 64 } else { register }
}

/// Names, offsets and bytes in the payload behind the local ids: of arguments and of handles.
pub const PAYLOAD: [(&str, u32, u32); 9] = [
    ("POUT", 0, 8),
    ("TABLE", 8, 8),
    ("POWN", 16, 8),
    ("DATA", 24, 8),
    ("WORD", 32, 4),
    ("HANDLE", 36, 4),
    ("IMAGE", 40, 8),
    ("PICTURE", 48, 8),
    ("SAMPLER", 56, 8),
];

/// Returns the description of the kernel for the driver.
pub fn ze_info(lanes: u32, register: u32) -> String {
    let mut text = format!(
        "---\nversion: '1.73'\nkernels:\n  - name: k\n    execution_env:\n      simd_size: {lanes}\n      slm_size: {LOCAL_BYTES}\n      \
         barrier_count: 1\n    payload_arguments:\n"
    );
    let stateless = Some(("stateless", "global"));
    let entries = [
        (0, Some(0), stateless),
        (1, Some(1), stateless),
        (2, Some(2), stateless),
        (3, Some(3), stateless),
        (4, Some(4), None),
        (5, Some(1), Some(("bindless", "global"))),
        (6, Some(5), Some(("bindless", "image"))),
        (7, Some(6), Some(("bindless", "image"))),
        (8, Some(7), Some(("bindless", "sampler"))),
    ];
    for (entry, argument, pointer) in entries {
        let (_, offset, size) = PAYLOAD[entry];
        let kind = if pointer.is_some() { "arg_bypointer" } else { "arg_byvalue" };
        text +=
            &format!("      - arg_type: {kind}\n        offset: {offset}\n        size: {size}\n");
        if let Some(argument) = argument {
            text += &format!("        arg_index: {argument}\n");
        }
        if let Some((mode, space)) = pointer {
            text += &format!("        addrmode: {mode}\n        addrspace: {space}\n");
        }
    }
    text += &format!(
        "    per_thread_payload_arguments:\n      - arg_type: local_id\n        offset: 0\n        size: {}\n    binding_table_indices:\n",
        3 * row(lanes, register)
    );
    for (index, argument) in [(TABLE_INDEX, 1), (DATA_INDEX, 3)] {
        text += &format!("      - bti_value: {index}\n        arg_index: {argument}\n");
    }
    text
}
