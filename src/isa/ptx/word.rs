//! Modifier words: the words that follow an opcode after a dot, types excepted.

macro_rules! words {
    ($($name:ident $text:literal)*) => {
        /// A modifier, without its dot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Word { $($name,)* }

        impl Word {
            pub const ALL: &'static [Word] = &[$(Word::$name,)*];

            pub const fn text(self) -> &'static str {
                match self { $(Word::$name => $text,)* }
            }

            pub fn from_text(text: &str) -> Option<Word> {
                match text { $($text => Some(Word::$name),)* _ => None }
            }
        }
    };
}

words! {
    // Rounding.
    Rn "rn" Rz "rz" Rm "rm" Rp "rp" Rna "rna" Rs "rs" Rni "rni" Rzi "rzi" Rmi "rmi" Rpi "rpi"
    // Float results.
    Ftz "ftz" NoFtz "noftz" Sat "sat" SatFinite "satfinite" Relu "relu" Oob "oob" Approx "approx" Full "full" Nan "NaN" XorSign "xorsign" AbsWord "abs"
    // Parts of products.
    Lo "lo" Hi "hi" Wide "wide" Cc "cc"
    // Comparisons. `lo` and `hi` are above.
    Eq "eq" Ne "ne" Lt "lt" Le "le" Gt "gt" Ge "ge" Ls "ls" Hs "hs" Equ "equ" Neu "neu" Ltu "ltu" Leu "leu" Gtu "gtu" Geu "geu" Num "num" IsNan "nan"
    // Combinations, operations of atomics and reductions.
    And "and" Or "or" Xor "xor" Popc "popc" Add "add" Min "min" Max "max" Inc "inc" Dec "dec" Exch "exch" Cas "cas"
    // Shifts and bytes.
    Clamp "clamp" Wrap "wrap" Left "l" Right "r" ShiftAmt "shiftamt" F4e "f4e" B4e "b4e" Rc8 "rc8" Ecl "ecl" Ecr "ecr" Rc16 "rc16" Shr7 "shr7" Shr15 "shr15" Po "po"
    // Classes of floats.
    Finite "finite" Infinite "infinite" Number "number" NotANumber "notanumber" Normal "normal" Subnormal "subnormal"
    // State spaces.
    Global "global" Shared "shared" SharedCta "shared::cta" SharedCluster "shared::cluster" Local "local" Const "const" Param "param" ParamEntry "param::entry" ParamFunc "param::func"
    // Order, scope and caches of memory accesses.
    Volatile "volatile" Weak "weak" Relaxed "relaxed" Acquire "acquire" Release "release" AcqRel "acq_rel" Sc "sc" Mmio "mmio"
    Cta "cta" Cluster "cluster" Gpu "gpu" Sys "sys" Gl "gl"
    Ca "ca" Cg "cg" Cs "cs" Lu "lu" Cv "cv" Wb "wb" Wt "wt" Nc "nc"
    // Vectors.
    V2 "v2" V4 "v4" V8 "v8"
    // Control and warps.
    Uni "uni" Sync "sync" Aligned "aligned" All "all" Any "any" Ballot "ballot" Up "up" Down "down" Bfly "bfly" Idx "idx" Arrive "arrive" Red "red" Warp "warp" Wait "wait"
    // Textures and surfaces.
    D1 "1d" D2 "2d" D3 "3d" A1d "a1d" A2d "a2d" Cube "cube" ACube "acube" D2ms "2dms" A2dms "a2dms" Base "base" Level "level" Grad "grad" Trap "trap" Zero "zero"
    Green "g" Blue "b" Alpha "a"
    // Conversions of addresses.
    To "to"
    // Caches and their hints.
    L1 "L1" L2 "L2" L1EvictNormal "L1::evict_normal" L1EvictUnchanged "L1::evict_unchanged" L1EvictFirst "L1::evict_first" L1EvictLast "L1::evict_last" L1NoAllocate "L1::no_allocate"
    L2EvictNormal "L2::evict_normal" L2EvictUnchanged "L2::evict_unchanged" L2EvictFirst "L2::evict_first" L2EvictLast "L2::evict_last" L2CacheHint "L2::cache_hint"
    L2Bytes64 "L2::64B" L2Bytes128 "L2::128B" L2Bytes256 "L2::256B" Range "range" Fractional "fractional" Cvt "cvt" CpMask "cp_mask"
    // Asynchronous copies.
    Async "async" Bulk "bulk" BulkGroup "bulk_group" CommitGroup "commit_group" WaitGroup "wait_group" WaitAll "wait_all" Read "read" Reduce "reduce" Prefetch "prefetch" Multicast "multicast::cluster"
    Tensor "tensor" Tile "tile" TileGather4 "tile::gather4" TileScatter4 "tile::scatter4" Im2col "im2col" Im2colNoOffs "im2col_no_offs" Im2colW "im2col::w" Im2colW128 "im2col::w::128" D4 "4d" D5 "5d"
    // mbarrier.
    MBarrier "mbarrier" CompleteTxBytes "mbarrier::complete_tx::bytes" NoInc "noinc" Init "init" Inval "inval" ArriveDrop "arrive_drop" NoComplete "noComplete" ExpectTx "expect_tx" CompleteTx "complete_tx"
    TestWait "test_wait" TryWait "try_wait" Parity "parity" PendingCount "pending_count"
    // Fences.
    Proxy "proxy" Alias "alias" AsyncGeneric "async::generic" TensormapGeneric "tensormap::generic" MBarrierInit "mbarrier_init" RestrictCta "sync_restrict::shared::cta" RestrictCluster "sync_restrict::shared::cluster"
    // Control.
    Mask "mask" LaunchDependents "launch_dependents" TryCancel "try_cancel" QueryCancel "query_cancel" IsCanceled "is_canceled" GetFirstCtaid "get_first_ctaid" GetFirstCtaidX "get_first_ctaid::x" GetFirstCtaidY "get_first_ctaid::y" GetFirstCtaidZ "get_first_ctaid::z"
    MulticastAll "multicast::cluster::all"
    // Conversions.
    Pack "pack"
    // Queries of textures and surfaces.
    Width "width" Height "height" Depth "depth" ChannelDataType "channel_data_type" ChannelOrder "channel_order" NormalizedCoords "normalized_coords" ArraySize "array_size" NumMipmapLevels "num_mipmap_levels" NumSamples "num_samples"
    ForceUnnormalizedCoords "force_unnormalized_coords" FilterMode "filter_mode" AddrMode0 "addr_mode_0" AddrMode1 "addr_mode_1" AddrMode2 "addr_mode_2" MemoryLayout "memory_layout"
    // Formatted surface accesses.
    Formatted "p"
    // Matrices.
    Row "row" Col "col" MatrixC "c" MatrixD "d" Load "load" Store "store" Mma "mma" Sp "sp" SpOrdered "sp::ordered_metadata" Trans "trans" X1 "x1" X2 "x2" X4 "x4" X8 "x8" X16 "x16" X32 "x32" X64 "x64" X128 "x128"
    M8n8 "m8n8" M16n8 "m16n8" M16n16 "m16n16" M8n16 "m8n16" B8x16 "b8x16" B6x16P32 "b6x16_p32" B4x16P64 "b4x16_p64"
    M8n8k4 "m8n8k4" M8n8k16 "m8n8k16" M8n8k32 "m8n8k32" M8n8k128 "m8n8k128" M16n8k4 "m16n8k4" M16n8k8 "m16n8k8" M16n8k16 "m16n8k16" M16n8k32 "m16n8k32" M16n8k64 "m16n8k64" M16n8k128 "m16n8k128" M16n8k256 "m16n8k256"
    M16n16k16 "m16n16k16" M32n8k16 "m32n8k16" M8n32k16 "m8n32k16" M16n16k8 "m16n16k8"
    BlockScale "block_scale" ScaleVec1 "scale_vec::1X" ScaleVec2 "scale_vec::2X" ScaleVec4 "scale_vec::4X" KindMxf8f6f4 "kind::mxf8f6f4" KindMxf4 "kind::mxf4" KindMxf4nvf4 "kind::mxf4nvf4" KindF8f6f4 "kind::f8f6f4"
    KindF16 "kind::f16" KindTf32 "kind::tf32" KindI8 "kind::i8"
    // Warpgroups.
    MmaAsync "mma_async" Fence "fence"
    M64n8k8 "m64n8k8" M64n8k16 "m64n8k16" M64n8k32 "m64n8k32" M64n8k256 "m64n8k256"
    M64n16k8 "m64n16k8" M64n16k16 "m64n16k16" M64n16k32 "m64n16k32" M64n16k256 "m64n16k256"
    M64n24k8 "m64n24k8" M64n24k16 "m64n24k16" M64n24k32 "m64n24k32" M64n24k256 "m64n24k256"
    M64n32k8 "m64n32k8" M64n32k16 "m64n32k16" M64n32k32 "m64n32k32" M64n32k256 "m64n32k256"
    M64n40k8 "m64n40k8" M64n40k16 "m64n40k16" M64n40k32 "m64n40k32" M64n40k256 "m64n40k256"
    M64n48k8 "m64n48k8" M64n48k16 "m64n48k16" M64n48k32 "m64n48k32" M64n48k256 "m64n48k256"
    M64n56k8 "m64n56k8" M64n56k16 "m64n56k16" M64n56k32 "m64n56k32" M64n56k256 "m64n56k256"
    M64n64k8 "m64n64k8" M64n64k16 "m64n64k16" M64n64k32 "m64n64k32" M64n64k256 "m64n64k256"
    M64n72k8 "m64n72k8" M64n72k16 "m64n72k16" M64n72k32 "m64n72k32" M64n72k256 "m64n72k256"
    M64n80k8 "m64n80k8" M64n80k16 "m64n80k16" M64n80k32 "m64n80k32" M64n80k256 "m64n80k256"
    M64n88k8 "m64n88k8" M64n88k16 "m64n88k16" M64n88k32 "m64n88k32" M64n88k256 "m64n88k256"
    M64n96k8 "m64n96k8" M64n96k16 "m64n96k16" M64n96k32 "m64n96k32" M64n96k256 "m64n96k256"
    M64n104k8 "m64n104k8" M64n104k16 "m64n104k16" M64n104k32 "m64n104k32" M64n104k256 "m64n104k256"
    M64n112k8 "m64n112k8" M64n112k16 "m64n112k16" M64n112k32 "m64n112k32" M64n112k256 "m64n112k256"
    M64n120k8 "m64n120k8" M64n120k16 "m64n120k16" M64n120k32 "m64n120k32" M64n120k256 "m64n120k256"
    M64n128k8 "m64n128k8" M64n128k16 "m64n128k16" M64n128k32 "m64n128k32" M64n128k256 "m64n128k256"
    M64n136k8 "m64n136k8" M64n136k16 "m64n136k16" M64n136k32 "m64n136k32" M64n136k256 "m64n136k256"
    M64n144k8 "m64n144k8" M64n144k16 "m64n144k16" M64n144k32 "m64n144k32" M64n144k256 "m64n144k256"
    M64n152k8 "m64n152k8" M64n152k16 "m64n152k16" M64n152k32 "m64n152k32" M64n152k256 "m64n152k256"
    M64n160k8 "m64n160k8" M64n160k16 "m64n160k16" M64n160k32 "m64n160k32" M64n160k256 "m64n160k256"
    M64n168k8 "m64n168k8" M64n168k16 "m64n168k16" M64n168k32 "m64n168k32" M64n168k256 "m64n168k256"
    M64n176k8 "m64n176k8" M64n176k16 "m64n176k16" M64n176k32 "m64n176k32" M64n176k256 "m64n176k256"
    M64n184k8 "m64n184k8" M64n184k16 "m64n184k16" M64n184k32 "m64n184k32" M64n184k256 "m64n184k256"
    M64n192k8 "m64n192k8" M64n192k16 "m64n192k16" M64n192k32 "m64n192k32" M64n192k256 "m64n192k256"
    M64n200k8 "m64n200k8" M64n200k16 "m64n200k16" M64n200k32 "m64n200k32" M64n200k256 "m64n200k256"
    M64n208k8 "m64n208k8" M64n208k16 "m64n208k16" M64n208k32 "m64n208k32" M64n208k256 "m64n208k256"
    M64n216k8 "m64n216k8" M64n216k16 "m64n216k16" M64n216k32 "m64n216k32" M64n216k256 "m64n216k256"
    M64n224k8 "m64n224k8" M64n224k16 "m64n224k16" M64n224k32 "m64n224k32" M64n224k256 "m64n224k256"
    M64n232k8 "m64n232k8" M64n232k16 "m64n232k16" M64n232k32 "m64n232k32" M64n232k256 "m64n232k256"
    M64n240k8 "m64n240k8" M64n240k16 "m64n240k16" M64n240k32 "m64n240k32" M64n240k256 "m64n240k256"
    M64n248k8 "m64n248k8" M64n248k16 "m64n248k16" M64n248k32 "m64n248k32" M64n248k256 "m64n248k256"
    M64n256k8 "m64n256k8" M64n256k16 "m64n256k16" M64n256k32 "m64n256k32" M64n256k256 "m64n256k256"
    // tcgen05.
    Alloc "alloc" Dealloc "dealloc" Relinquish "relinquish_alloc_permit" Commit "commit" ArriveOne "mbarrier::arrive::one" Cp "cp" Shift "shift" CtaGroup1 "cta_group::1" CtaGroup2 "cta_group::2" Ld "ld" St "st"
    Shape128x256b "128x256b" Shape16x64b "16x64b" Shape16x128b "16x128b" Shape16x256b "16x256b" Shape32x32b "32x32b" WaitLd "wait::ld" WaitSt "wait::st" FenceBefore "fence::before_thread_sync" FenceAfter "fence::after_thread_sync"
    // Tensor maps and multimem.
    Tensormap "tensormap" CpFenceProxy "cp_fenceproxy" Replace "replace" GlobalAddress "global_address" B1024 "b1024" Rank "rank" BoxDim "box_dim" GlobalDim "global_dim" GlobalStride "global_stride" ElementStride "element_stride"
    ElemType "elemtype" InterleaveLayout "interleave_layout" SwizzleMode "swizzle_mode" FillMode "fill_mode" LdReduce "ld_reduce"
}
