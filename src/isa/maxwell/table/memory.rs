//! Loads and stores.

family! { ($) memory {
    /// Load from global memory.
    Ldg (exact memory::ldg) {
        "LDG{extended@45}{load_cache@46}{mem_size@48} {d}, {m=m8+20:24}" {
            "1110 1110 1101 0---"
        }
    }
    /// Store to global memory.
    Stg (exact memory::stg) {
        "STG{extended@45}{store_cache@46}{store_size@48} {m=m8+20:24}, {d}" {
            "1110 1110 1101 1---"
        }
    }
} }
