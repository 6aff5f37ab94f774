//! Products of matrices.

family! { ($) matrix {
    Hmma (exact matrix::hmma) {
        "HMMA{hmma_shape@75:1+78}{hmma_result@76}{hmma_source@82} {d}, {a -72}, {b -63}, {c}" {
            one "o03c @9=001 @73=0 @91=0 b=r32";
        }
        "HMMA.SP{sparse_hmma_shape@75:1+78}{hmma_result@76}{hmma_source@82} {d}, {a -72}, {b -63}, \
            {c}, {e=r40}{metadata_reuse@50}, {sparsity@48:2}" {
            one "o03c @9=001 @73=1 @91=0 b=r32";
        }
    }
    Imma (exact matrix::imma) {
        "IMMA{imma_shape@75:1+85:2}{imma_a@76:2+83}{imma_b@78:2+84}{sat@82} {d}, {a}{row@73}, \
            {b}{col@74}, {c}" {
            one "o037 @9=001 @72=0 @91=0 b=r32";
        }
        "IMMA.SP{sparse_imma_shape@75:1+85:2}{imma_a@76:2+83}{imma_b@78:2+84}{sat@82} {d}, \
            {a}{row@73}, {b}{col@74}, {c}, {e=r40}{metadata_reuse@50}, {sparsity@48:2}" {
            one "o037 @9=001 @72=1 @91=0 b=r32";
        }
    }
    /// Factors of 8 bits.
    Qmma (exact matrix::qmma) {
        "QMMA{qmma_shape@75}{qmma_result@77}{qmma_a@78}{qmma_b@79} {d}, {a -72}{row@73}, \
            {b -63}{col@74}, {c}, {ps=uq87 !90 ?}" {
            one "o07a @9=001 @80=0 @91=0 >=89 <=89 b=r32";
        }
        "QMMA.SP{sparse_qmma_shape@75}{qmma_result@77}{qmma_a@78}{qmma_b@79} {d}, {a -72}{row@73}, \
            {b -63}{col@74}, {c}, {ps=uq87 !90 ?}, {e=r40}{metadata_reuse@50}, {sparsity@48:2}" {
            one "o07a @9=001 @80=1 @91=0 >=89 <=89 b=r32";
        }
    }
    Bmma (exact matrix::bmma) {
        "BMMA{bmma_shape@75}{bmma_op@77}{bmma_popc@80} {d}, {a}{row@73}, {b}{col@74}, {c}" {
            one "o03d @9=001 @91=0 b=r32";
        }
    }
    Dmma (exact matrix::dmma) {
        "DMMA{dmma_shape@76}{rounding@78} {d}, {a -72 |73}, {b -63 |62}, {c -75 |74}" {
            one "o03f @9=001 @91=0 <=89 b=r32";
        }
        "DMMA{long_dmma_shape@76}{rounding@78} {d}, {a -72 |73}, {b -63 |62}, {c -75 |74}" {
            one "o03f @9=001 @91=0 >=90 b=r32";
        }
    }
    /// A matrix of halves, transposed.
    Movm (exact matrix::movm) {
        "MOVM.16{movm_mode@78} {d}, {a %7}" {
            one "o03a @9=001 @75=000 @91=0";
        }
    }
    /// Matrices from shared memory.
    Ldsm (exact matrix::ldsm) {
        "LDSM.16{ldsm_mode@78}{ldsm_count@72} {d}, {m}" {
            one "o03b @9=100 @75=000 @91=0";
        }
        "LDSM.16{ldsm_mode@78}{ldsm_count@72} {d}, {m=mu32}" {
            one "o03b @9=100 @75=000 @91=1";
        }
    }
} }
