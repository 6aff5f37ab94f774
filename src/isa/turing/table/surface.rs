//! Surfaces.

family! { ($) surface {
    Suld (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suld) {
        "SULD.P{surface_dim@61}{eviction@84}{load_scope@77}{surface_mask@72}{surface_clamp@59} \
            {pd ?}, {d}, {m=m24}, " {
            surface "100" "101" "198" "197" " >=80";
        }
        "SULD.P{surface_dim@61}{eviction@84}{old_store_order@79}{old_scope@77}{private@76}\
            {surface_mask@72}{surface_clamp@59} {pd ?}, {d}, {m=m24}, " {
            surface "100" "101" "198" "197" " <=75";
        }
        "SULD.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}{load_scope@77}\
            {surface_clamp@59} {pd ?}, {d}, {m=m24}, " {
            surface "100" "101" "19a" "199" " >=80";
        }
        "SULD.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}{old_store_order@79}\
            {old_scope@77}{private@76}{surface_clamp@59} {pd ?}, {d}, {m=m24}, " {
            surface "100" "101" "19a" "199" " <=75";
        }
    }
    Sust (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::sust) {
        "SUST.P{surface_dim@61}{eviction@84}{store_scope@77}{surface_mask@72}{surface_clamp@59} \
            {m=m24}, {b=r32}, " {
            surface "100" "101" "19c" "19b" " >=80";
        }
        "SUST.P{surface_dim@61}{eviction@84}{old_store_order@79}{old_scope@77}{private@76}\
            {surface_mask@72}{surface_clamp@59} {m=m24}, {b=r32}, " {
            surface "100" "101" "19c" "19b" " <=75";
        }
        "SUST.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}{store_scope@77}\
            {surface_clamp@59} {m=m24}, {b=r32}, " {
            surface "100" "101" "19e" "19d" " >=80";
        }
        "SUST.D{byte_address@72}{surface_dim@61}{eviction@84}{mem_size@73}{old_store_order@79}\
            {old_scope@77}{private@76}{surface_clamp@59} {m=m24}, {b=r32}, " {
            surface "100" "101" "19e" "19d" " <=75";
        }
    }
    Suatom (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suatom) {
        "SUATOM.D{byte_address@72}{surface_dim@61}{surface_atomic_op@87}{eviction@84}\
            {surface_atomic_type@73}{store_scope@77}{surface_clamp@59} {pd ?}, {d}, {m=m24}, \
            {b=r32}, " {
            surface "001" "010" "194" "193" " >=80";
        }
        "SUATOM.D{byte_address@72}{surface_dim@61}{surface_atomic_op@87}{eviction@84}\
            {surface_atomic_type@73}{old_atomic_order@79}{old_scope@77}{private@76}\
            {surface_clamp@59} {pd ?}, {d}, {m=m24}, {b=r32}, " {
            surface "001" "010" "194" "193" " <=75";
        }
    }
    SuatomCas (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::suatom_cas) {
        "SUATOM.D{byte_address@72}{surface_dim@61}.CAS{eviction@84}{surface_cas_type@73}\
            {store_scope@77}{surface_clamp@59} {pd ?}, {d}, {m=m24}, {b=r32}, " {
            surface "001" "010" "196" "195" " >=80";
        }
        "SUATOM.D{byte_address@72}{surface_dim@61}.CAS{eviction@84}{surface_cas_type@73}\
            {old_atomic_order@79}{old_scope@77}{private@76}{surface_clamp@59} {pd ?}, {d}, \
            {m=m24}, {b=r32}, " {
            surface "001" "010" "196" "195" " <=75";
        }
    }
    /// Properties of a surface.
    Suquery unimplemented {
        "SUQUERY{byte_address@72}{surface_dim@61} {pd ?}, {d}, {m=m24}, {surface_query@87}, " {
            surface "100" "101" "1b3" "1b3" " >=86";
        }
    }
    Sured (approximate "bounds, clamps, alignment and bad handles where the documents are silent are our choice" surface::sured) {
        "SURED.D{byte_address@72}{surface_dim@61}{surface_reduce_op@87:3}{eviction@84}\
            {surface_atomic_type@73}{store_scope@77}{surface_clamp@59} {m=m24}, {b=r32}, " {
            surface "001" "010" "1a0" "19f" " >=80";
        }
        "SURED.D{byte_address@72}{surface_dim@61}{surface_reduce_op@87:3}{eviction@84}\
            {surface_atomic_type@73}{old_atomic_order@79}{old_scope@77}{private@76}\
            {surface_clamp@59} {m=m24}, {b=r32}, " {
            surface "001" "010" "1a0" "19f" " <=75";
        }
    }
} }
