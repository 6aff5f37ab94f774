//! Surfaces. A is the coordinate register, C the handle: a register, or the index of a word of
//! constant bank 0. The sparse status predicate exists from sm_52 on.

family! { ($) surface {
    /// Load.
    Suld (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suld) {
        "SULD.P{surface_dim@33}{load_cache@24}{surface_mask@20}{surface_clamp@49} {pd=q30 ?}, {d}, [{a}], {c}" {
            "1110 1011 0000 0---"
            "1110 1011 0000 1--- c=u36:13"
        }
        "SULD.D{byte_address@23}{surface_dim@33}{load_cache@24}{store_size@20}{surface_clamp@49} {pd=q30 ?}, {d}, [{a}], {c}" {
            "1110 1011 0001 0---"
            "1110 1011 0001 1--- c=u36:13"
        }
    }
    /// Store.
    Sust (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::sust) {
        "SUST.P{surface_dim@33}{store_cache@24}{surface_mask@20}{surface_clamp@49} [{a}], {b=r0}, {c}" {
            "1110 1011 0010 0---"
            "1110 1011 0010 1--- c=u36:13"
        }
        "SUST.D{byte_address@23}{surface_dim@33}{store_cache@24}{store_size@20}{surface_clamp@49} [{a}], {b=r0}, {c}" {
            "1110 1011 0011 0---"
            "1110 1011 0011 1--- c=u36:13"
        }
    }
    /// Reduction.
    Sured (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::sured) {
        "SURED.P{surface_dim@33}{reduce_op@24}{surface_clamp@49} [{a}], {b=r0}, {c}" {
            "1110 1011 0100 0---"
            "1110 1011 0100 1--- c=u36:13"
        }
        "SURED.D{byte_address@23}{surface_dim@33}{reduce_op@24}{surface_atomic_type@20}{surface_clamp@49} [{a}], {b=r0}, {c}" {
            "1110 1011 0101 0---"
            "1110 1011 0101 1--- c=u36:13"
        }
    }
    /// Atomic operation; returns the old value.
    Suatom (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suatom) {
        "SUATOM.D{byte_address@28}{surface_dim@33}{shared_atomic_op@29}{surface_atomic_type@51}{surface_clamp@49} {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 00-- ---- c=u36:13"
        }
        "SUATOM.D{byte_address@28}{surface_dim@33}{shared_atomic_op@29}{surface_atomic_type@36}{surface_clamp@49} {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 0111 0---"
        }
        "SUATOM.D{byte_address@28}{surface_dim@33}{shared_atomic_op@29}{surface_atomic_type@36}{surface_clamp@49} {pd=q51}, {d}, [{a}], {b=r20}, {c}" {
            "1110 1011 10-- ----"
        }
        "SUATOM.P{surface_dim@33}{shared_atomic_op@29}{surface_clamp@49} {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 0110 0---"
            "1110 1010 0110 1--- c=u36:13"
        }
    }
    /// Compares with B and swaps in the register after it; returns the old value.
    SuatomCas (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suatom_cas) {
        "SUATOM.D{byte_address@28}{surface_dim@33}.CAS{surface_atomic_type@51}{surface_clamp@49} {pd=q30 ?}, {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 10-- ---- c=u36:13"
        }
        "SUATOM.D{byte_address@28}{surface_dim@33}.CAS{surface_atomic_type@36}{surface_clamp@49} {pd=q30 ?}, {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 1101 0---"
        }
        "SUATOM.P{surface_dim@33}{cas_op@29}{surface_clamp@49} {d}, [{a}], {b=r20}, {c}" {
            "1110 1010 1100 0---"
            "1110 1010 1100 1--- c=u36:13"
        }
    }
} }
