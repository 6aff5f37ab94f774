//! Surfaces.

family! { ($) surface {
    Suld unimplemented {
        "SULD.P{surface_dim@61}{eviction@84}" {
            scoped_surface "load_scope" "old_store_order" "{surface_mask@72}{surface_clamp@59} {pd ?}, {d}, {m=m24}, " "100" "101" "198" "197";
        }
        "SULD.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}" {
            scoped_surface "load_scope" "old_store_order" "{surface_clamp@59} {pd ?}, {d}, {m=m24}, " "100" "101" "19a" "199";
        }
    }
    Sust unimplemented {
        "SUST.P{surface_dim@61}{eviction@84}" {
            scoped_surface "store_scope" "old_store_order" "{surface_mask@72}{surface_clamp@59} {m=m24}, {b=r32}, " "100" "101" "19c" "19b";
        }
        "SUST.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}" {
            scoped_surface "store_scope" "old_store_order" "{surface_clamp@59} {m=m24}, {b=r32}, " "100" "101" "19e" "19d";
        }
    }
    Suatom unimplemented {
        "SUATOM.D{byte_address@72}{surface_dim@61}{surface_atomic_op@87}{eviction@84}{surface_atomic_type@73}" {
            scoped_surface "store_scope" "old_atomic_order" "{surface_clamp@59} {pd ?}, {d}, {m=m24}, {b=r32}, " "001" "010" "194" "193";
        }
    }
    SuatomCas unimplemented {
        "SUATOM.D{byte_address@72}{surface_dim@61}.CAS{eviction@84}{surface_cas_type@73}" {
            scoped_surface "store_scope" "old_atomic_order" "{surface_clamp@59} {pd ?}, {d}, {m=m24}, {b=r32}, " "001" "010" "196" "195";
        }
    }
    /// Properties of a surface.
    Suquery unimplemented {
        "SUQUERY{byte_address@72}{surface_dim@61} {pd ?}, {d}, {m=m24}, {surface_query@87}, " {
            surface "1b3 >=86";
        }
    }
    Sured unimplemented {
        "SURED.D{byte_address@72}{surface_dim@61}{surface_reduce_op@87:3}{eviction@84}{surface_atomic_type@73}" {
            scoped_surface "store_scope" "old_atomic_order" "{surface_clamp@59} {m=m24}, {b=r32}, " "001" "010" "1a0" "19f";
        }
    }
} }
