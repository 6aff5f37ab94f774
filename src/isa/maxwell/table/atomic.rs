//! Atomic operations and reductions on memory.

family! { ($) atomic {
    /// Atomic operation on global memory; returns the old value.
    Atom (exact atomic::atom) {
        "ATOM{extended@48}{atomic_op@52}{atomic_type@49} {d}, {m=m8+28:20}, {b=r20}" {
            "1110 1101 ---- ----"
        }
    }
    /// Advances the put pointer of a circular queue; returns the old value.
    AtomSafeAdd (approximate "which words are pointer, count and capacity is our choice" atomic::atom_safe_add) {
        "ATOM{extended@48}.SAFEADD{atomic_type@49} {d}, {m=m8+28:20}, {b=r20}" {
            "1110 1101 1010 ----"
        }
    }
    /// Compares global memory with B and swaps in C.
    AtomCas (exact atomic::atom_cas) {
        "ATOM{extended@48}.CAS{wide@49} {d}, {m=m8+28:20}, {b}, {c}" {
            "1110 1110 1111 000- b=r20 c=n20+1"
            "1110 1110 1111 000- @20=11111111 b=n20+0 c=n20+1"
            "1110 1110 1111 001- b=r20 c=n20+2"
            "1110 1110 1111 001- @20=11111111 b=n20+0 c=n20+2"
            "1110 1110 1111 01-- b=r20 c=z"
            "1110 1110 1111 10-- b=z c=n20+0"
        }
    }
    /// Atomic operation on global memory that may be sparse (sm_52); returns the old value, and
    /// whether the memory was sparse.
    AtomSparse (exact atomic::atom) {
        "ATOM{extended@48}{atomic_op@44}{atomic_type@49} {pd=q41}, {d}, {m=m8}, {b=r20}" {
            "1110 1110 0110 ---- @8#11111111"
        }
    }
    /// `.SAFEADD` on global memory that may be sparse.
    AtomSafeAddSparse (approximate "which words are pointer, count and capacity is our choice" atomic::atom_safe_add) {
        "ATOM{extended@48}.SAFEADD{atomic_type@49} {pd=q41}, {d}, {m=m8}, {b=r20}" {
            "1110 1110 0110 ---- @44=1010 @8#11111111"
        }
    }
    /// Compare and swap on global memory that may be sparse.
    AtomCasSparse (exact atomic::atom_cas) {
        "ATOM{extended@48}.CAS{wide@49} {pd=q41}, {d}, {m=m8}, {b}, {c}" {
            "1110 1110 0111 000- @8#11111111 b=r20 c=n20+1"
            "1110 1110 0111 000- @20=11111111 @8#11111111 b=n20+0 c=n20+1"
            "1110 1110 0111 001- @8#11111111 b=r20 c=n20+2"
            "1110 1110 0111 001- @20=11111111 @8#11111111 b=n20+0 c=n20+2"
            "1110 1110 0111 01-- @8#11111111 b=r20 c=z"
            "1110 1110 0111 10-- @8#11111111 b=z c=n20+0"
        }
    }
    /// Atomic operation on shared memory; returns the old value.
    Atoms (exact atomic::atoms) {
        "ATOMS{shared_atomic_op@52}{shared_atomic_type@28} {d}, {m=m8+30:22*4}, {b=r20}" {
            "1110 1100 ---- ----"
        }
    }
    /// Compares shared memory with B and swaps in C.
    AtomsCas (exact atomic::atoms_cas) {
        "ATOMS.CAS{wide@52} {d}, {m=m8+30:22*4}, {b}, {c}" {
            "1110 1110 0100 ---- @28=00 b=r20 c=n20+1"
            "1110 1110 0100 ---- @28=00 @20=11111111 b=n20+0 c=n20+1"
            "1110 1110 0101 ---- @28=00 b=r20 c=n20+2"
            "1110 1110 0101 ---- @28=00 @20=11111111 b=n20+0 c=n20+2"
            "1110 1110 010- ---- @28=01 b=r20 c=z"
            "1110 1110 010- ---- @28=10 b=z c=n20+0"
        }
    }
    /// Compare and swap that tries a lock.
    AtomsCast unimplemented {
        "ATOMS.CAST{spin@53}{wide@52} {d}, {m=m8+30:22*4}, {b}, {c}" {
            "1110 1110 00-0 ---- @28=00 b=r20 c=n20+1"
            "1110 1110 00-0 ---- @28=00 @20=11111111 b=n20+0 c=n20+1"
            "1110 1110 00-1 ---- @28=00 b=r20 c=n20+2"
            "1110 1110 00-1 ---- @28=00 @20=11111111 b=n20+0 c=n20+2"
            "1110 1110 00-- ---- @28=01 b=r20 c=z"
            "1110 1110 00-- ---- @28=10 b=z c=n20+0"
        }
    }
    /// Reduction on global memory.
    Red (exact atomic::red) {
        "RED{extended@48}{reduce_op@23}{atomic_type@20} {m=m8+28:20}, {b=r0}" {
            "1110 1011 1111 1---"
        }
    }
} }
