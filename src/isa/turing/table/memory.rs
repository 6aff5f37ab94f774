//! Loads, stores, atomic operations, fences and cache control.

family! { ($) memory {
    Ld (exact memory::ld) {
        "LD{extended@72}{eviction@84}{sector_prefetch@68}" {
            scoped "mem_size@73}{load_scope" "old_load_size@73}{old_load_order"
                " {d}, {m}, {ps=q64 !67 ?}"
                "o180 @9=100 @91=0 m=ml";
            scoped_global "mem_size@73}{load_scope" "old_load_size@73}{old_load_order"
                " {d}, {m}, {ps=q64 !67 ?}"
                "o180 @9=100 @91=1" " @76" " m=mwu32" " @90=1 m=md32";
        }
    }
    St (exact memory::st) {
        "ST{extended@72}{eviction@84}{mem_size@73}" {
            scoped "store_scope" "old_store_order" " {m}, {b}" "o185 @9=001 @91=0 m=ml b=r64";
            scoped_global "store_scope" "old_store_order" " {m}, {b}" "o185 @9=100 @91=1 b=r32"
                " @76" " m=mwu64" " @90=1 m=md64";
        }
    }
    Ldg (exact memory::ldg) {
        "LDG{extended@72}{eviction@84}{sector_prefetch@68}" {
            scoped "mem_size@73}{load_scope" "old_load_size@73}{old_load_order"
                " {pd ?}, {d}, {m}, {ps=q64 !67 ?}"
                "o181 @9=001 @91=0";
            scoped_global "mem_size@73}{load_scope" "old_load_size@73}{old_load_order"
                " {pd ?}, {d}, {m}, {ps=q64 !67 ?}"
                "o181 @9=100 @91=1" " @76" " m=mwu32" " @90=1 m=md32";
        }
    }
    Stg (exact memory::stg) {
        "STG{extended@72}{eviction@84}{mem_size@73}" {
            scoped "store_scope" "old_store_order" " {m}, {b=r32}" "o186 @9=001 @91=0";
            scoped_global "store_scope" "old_store_order" " {m}, {b=r32}" "o186 @9=100 @91=1" " @76"
                " m=mwu64" " @90=1 m=md64";
        }
    }
    Ldl (exact memory::ldl) {
        "LDL{eviction@84}{mem_size@73} {d}, {m}" {
            one "o183 @9=100 @91=0";
            one "o183 @9=100 @91=1 <=75 m=mu32";
            one "o183 @9=100 @76=0 @91=1 >=80 m=mu32";
            one "o183 @9=100 @76=1 @91=1 >=80 m=ld32";
        }
    }
    Stl (exact memory::stl) {
        "STL{eviction@84}{mem_size@73} {m}, {b=r32}" {
            one "o187 @9=001 @91=0";
            one "o187 @9=100 @91=1 <=75 m=mu64";
            one "o187 @9=100 @76=0 @91=1 >=80 m=mu64";
            one "o187 @9=100 @76=1 @91=1 >=80 m=ld64";
        }
    }
    Lds (exact memory::lds) {
        "LDS{shared_size@73} {d}, {m}" {
            one "o184 @9=100 @91=0 >=80 m=mf";
            one "o184 @9=100 @91=1 >=80 m=mfu32";
        }
        "LDS{unaligned@76}{shared_size@73} {d}, {m}" {
            one "o184 @9=100 @91=0 <=75 m=mf";
            one "o184 @9=100 @91=1 <=75 m=mfu32";
        }
    }
    Sts (exact memory::sts) {
        "STS{mem_size@73} {m}, {b=r32}" {
            one "o188 @9=001 @91=0 m=mf";
            one "o188 @9=100 @91=1 m=mfu64";
        }
    }
    Ldc (exact memory::ldc) {
        "LDC{const_size@73}{const_mode@78} {d}, {m}" {
            one "o182 @9=101 @91=0 m=k";
            one "o182 @9=010 @91=1 m=kx";
        }
    }
    Atom (exact atomic::atom) {
        "ATOM{extended@72}{atomic_op@87}{eviction@84}{atomic_type@73}" {
            scoped "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}" "o18a @9=001 @91=0";
            scoped_global "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}"
                "o18a @9=100 @91=1" " @71" " m=mau" " @70=1 m=mad";
        }
    }
    AtomCas (exact atomic::atom_cas) {
        "ATOM{extended@72}{cas_op@87}{eviction@84}{cas_type@73}" {
            scoped "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}, {c}"
                "o18b @9=001 @91=0";
        }
    }
    Atomg (exact atomic::atomg) {
        "ATOMG{extended@72}{global_atomic_op@87}{eviction@84}{atomic_type@73}" {
            scoped "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}" "o1a8 @9=001 @91=0";
            scoped_global "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}"
                "o1a8 @9=100 @91=1" " @71" " m=mau" " @70=1 m=mad";
        }
    }
    AtomgCas (exact atomic::atomg_cas) {
        "ATOMG{extended@72}.CAS{eviction@84}{cas_type@73}" {
            scoped "store_scope" "old_atomic_order" " {pd}, {d}, {m}, {b=r32}, {c}"
                "o1a9 @9=001 @91=0";
        }
    }
    Atoms (exact atomic::atoms) {
        "ATOMS{shared_atomic_op@87}{shared_atomic_type@73} {d}, {m}, {b=r32}" {
            one "o18c @9=001 @91=0 m=mf";
            one "o18c @9=100 @91=1 m=mfu64";
        }
    }
    AtomsPopcInc (exact atomic::atoms_popc_inc) {
        "ATOMS.POPC.INC{popc_inc_size@73} {d}, {m}" {
            one "o18c @9=111 @87=1010 @91=1 m=mfu64";
        }
    }
    /// Arrives at a barrier in memory.
    AtomsArrive (exact atomic::atoms_arrive) {
        "ATOMS.ARRIVE{shared_atomic_type@73} {d}, {m}" {
            one "o18c @9=111 @87=1001 @91=1 m=mfu64";
        }
    }
    AtomsCas (exact atomic::atoms_cas) {
        "ATOMS{shared_cas_op@87}{shared_cas_type@73} {d}, {m}, {b=r32}, {c}" {
            one "o18d @9=001 @91=0 m=mf";
        }
    }
    Red (exact atomic::red) {
        "RED{extended@72}{reduce_op@87:3}{eviction@84}{atomic_type@73}" {
            scoped "store_scope" "old_atomic_order" " {m}, {b=r32}" "o18e @9=100 @91=0";
            scoped_global "store_scope" "old_atomic_order" " {m}, {b=r32}" "o18e @9=100 @91=1"
                " @71" " m=mwu64" " @90=1 m=md64";
        }
    }
    /// From global to shared memory.
    Ldgsts (exact memory::ldgsts) {
        "LDGSTS.E{bypass@81}{eviction@84}{sector_prefetch@71}{mem_size@73}{zfill@82}\
            {async_scope@77} {m}, {g}, {ps !90 ?}" {
            one "o1ae @9=110 @70=1 @91=1 m=msu g=mg";
            one "o1ae @9=111 @76=0 @91=1 m=ms g=mgu";
            one "o1ae @9=111 @70=1 @76=1 @91=1 m=ms g=mgd";
        }
    }
    Ldgdepbar (exact control::nop) {
        "LDGDEPBAR" {
            one "o1af @9=100 @91=0";
        }
    }
    /// As ATOMS.ARRIVE, when the asynchronous copies of the lane are done.
    Arrives (exact atomic::arrives) {
        "ARRIVES{arrives_kind@72}{arrives_size@73} {m}" {
            one "o1b0 @9=100 @91=1 m=mu64";
        }
    }
    Qspc (exact memory::qspc) {
        "QSPC{extended@72}{query_space@73} {pd}, {d}, {m}" {
            one "o1aa @9=001 @91=0";
            one "o1aa @9=100 @91=1 m=mwu32";
        }
    }
    Membar (exact memory::membar) {
        "MEMBAR{fence_kind@79}{fence_scope@76}" {
            one "o192 @9=100 @91=0";
        }
    }
    Errbar (exact control::nop) {
        "ERRBAR" {
            one "o1ab @9=100 @91=0";
        }
    }
    Cctl (exact memory::cctl) {
        "CCTL{extended@72}{cache_kind@78}{cache_op@87}" {
            one "o18f @9=100 @24=11111111 @87=0100 @91=0";
            one "o18f @9=100 @24=11111111 @87=0110 @91=0";
            one "o18f @9=100 @24=11111111 @87=0111 @91=0";
            one "o18f @9=100 @24=11111111 @87=1000 @91=0";
        }
        "CCTL{extended@72}{cache_kind@78}{cache_op@87} {m}" {
            one "o18f @9=100 @91=0 m=ml";
            one "o18f @9=110 @91=1 m=mu32n";
        }
    }
    Cctll (exact control::nop) {
        "CCTLL{cache_op@87}" {
            one "o190 @9=100 @24=11111111 @87=0100 @91=0";
            one "o190 @9=100 @24=11111111 @87=0111 @91=0";
        }
        "CCTLL{cache_op@87} {m}" {
            one "o190 @9=100 @89=00 @91=0";
            one "o190 @9=100 @87=0101 @91=0";
            one "o190 @9=110 @91=1 m=mu32n";
        }
    }
    Cctlt (exact control::nop) {
        "CCTLT{texture_cache_op@85}" {
            one "o191 @9=001 @85=10 @91=0";
        }
        "CCTLT{texture_cache_op@85} {b}" {
            one "o191 @9=001 @85=01 @91=0 b=r32";
            one "o191 @9=110 @91=1 b=ur32";
        }
        "CCTLT{texture_cache_op@85} {bank@54:5}, {handle@40:14}" {
            one "o191 @9=101 @91=0";
        }
    }
} }
