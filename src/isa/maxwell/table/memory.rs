//! Loads, stores, fences and cache control.

family! { ($) memory {
    /// Load from generic memory.
    Ld (exact memory::ld) {
        "LD{extended@52}{load_cache@56}{mem_size@53} {d}, {m=m8+20:32}, {ps=p58 ?}" {
            "100- ---- ---- ----"
        }
    }
    /// Store to generic memory.
    St (exact memory::st) {
        "ST{extended@52}{store_cache@56}{store_size@53} {m=m8+20:32}, {d}, {ps=p58 ?}" {
            "101- ---- ---- ----"
        }
    }
    /// Load from global memory.
    Ldg (exact memory::ldg) {
        "LDG{extended@45}{load_cache@46}{mem_size@48} {d}, {m=m8+20:24}" {
            "1110 1110 1101 0---"
        }
    }
    /// Load from global memory that may be sparse (sm_52); reports whether it was sparse.
    LdgSparse (exact memory::ldg) {
        "LDG{extended@45}{load_cache@46}{mem_size@48} {pd=q41}, {d}, {m=m8+20:20}" {
            "1110 1110 1100 1---"
        }
    }
    /// Store to global memory.
    Stg (exact memory::stg) {
        "STG{extended@45}{store_cache@46}{store_size@48} {m=m8+20:24}, {d}" {
            "1110 1110 1101 1---"
        }
    }
    /// Load from local memory.
    Ldl (exact memory::ldl) {
        "LDL{local_cache@44}{store_size@48} {d}, {m=m8+20:24}" {
            "1110 1111 0100 0---"
        }
    }
    /// Store to local memory.
    Stl (exact memory::stl) {
        "STL{store_cache@44}{store_size@48} {m=m8+20:24}, {d}" {
            "1110 1111 0101 0---"
        }
    }
    /// Load from shared memory.
    Lds (exact memory::lds) {
        "LDS{store_size@48} {d}, {m=m8+20:24}" {
            "1110 1111 0100 1--- @44=0"
        }
        "LDS.U{shared_size@48} {d}, {m=m8+20:24}" {
            "1110 1111 0100 1--- @44=1"
        }
    }
    /// Store to shared memory.
    Sts (exact memory::sts) {
        "STS{store_size@48} {m=m8+20:24}, {d}" {
            "1110 1111 0101 1---"
        }
    }
    /// Load from constant memory.
    Ldc (exact memory::ldc) {
        "LDC{const_size@48}{const_mode@44} {d}, {m=k}" {
            "1110 1111 1001 0---"
        }
    }
    /// Orders memory operations.
    Membar (exact barrier::membar) {
        "MEMBAR{fence_level@8}{fence_invalidate@0}" {
            "1110 1111 1001 1---"
        }
    }
    /// Cache control of global memory.
    Cctl (exact control::nop) {
        "CCTL{extended@52}{cache_kind@4}{cache_op@0} {m=m8+22:30*4}" {
            "1110 1111 011- ---- @0#0110 @0#1000"
        }
        "CCTL{extended@52}{cache_kind@4}{cache_op@0}" {
            "1110 1111 011- ---- @0=0110 @8=11111111 @22=000000000000000000000000000000"
        }
        "CCTL{extended@52}{cache_kind@4}{cache_op@0}{m=m8+22:30*4}" {
            "1110 1111 011- ---- @0=0000"
        }
    }
    /// Cache control of local memory.
    Cctll (exact control::nop) {
        "CCTLL{local_cache_kind@4}{cache_op@0} {m=m8+22:22*4}" {
            "1110 1111 1000 0--- @0#0000 @0#0110 @0#1000"
        }
        "CCTLL{local_cache_kind@4}{cache_op@0}" {
            "1110 1111 1000 0--- @0=0110 @4=00 @8=11111111 @22=0000000000000000000000"
        }
    }
    /// Cache control of textures.
    Cctlt (exact control::nop) {
        "CCTLT{texture_cache_op@0} {c}" {
            "1110 1011 1110 1--- @0#00"
        }
        "CCTLT{texture_cache_op@0} {handle@36:13}" {
            "1110 1011 1111 0--- @0#00"
        }
    }
} }
