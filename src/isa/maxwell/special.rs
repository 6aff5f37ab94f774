//! Special registers: numbers and names of the registers that S2R and CS2R read.

/// The number of a special register. Registers without a name print as `SR` and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecialRegister(pub u8);

macro_rules! special_registers {
    ($($name:ident = $number:literal $text:literal,)*) => {
        impl SpecialRegister {
            $(pub const $name: SpecialRegister = SpecialRegister($number);)*

            /// Returns the name nvdisasm prints, if the register has one.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

special_registers! {
    LANEID = 0 "SR_LANEID",
    CLOCK = 1 "SR_CLOCK",
    VIRTCFG = 2 "SR_VIRTCFG",
    VIRTID = 3 "SR_VIRTID",
    PM0 = 4 "SR_PM0",
    PM1 = 5 "SR_PM1",
    PM2 = 6 "SR_PM2",
    PM3 = 7 "SR_PM3",
    PM4 = 8 "SR_PM4",
    PM5 = 9 "SR_PM5",
    PM6 = 10 "SR_PM6",
    PM7 = 11 "SR_PM7",
    PRIM_TYPE = 16 "SR_PRIM_TYPE",
    INVOCATION_ID = 17 "SR_INVOCATION_ID",
    Y_DIRECTION = 18 "SR_Y_DIRECTION",
    THREAD_KILL = 19 "SR_THREAD_KILL",
    SHADER_TYPE = 20 "SM_SHADER_TYPE",
    DIRECTCBEWRITEADDRESSLOW = 21 "SR_DIRECTCBEWRITEADDRESSLOW",
    DIRECTCBEWRITEADDRESSHIGH = 22 "SR_DIRECTCBEWRITEADDRESSHIGH",
    DIRECTCBEWRITEENABLED = 23 "SR_DIRECTCBEWRITEENABLED",
    MACHINE_ID_0 = 24 "SR_MACHINE_ID_0",
    MACHINE_ID_1 = 25 "SR_MACHINE_ID_1",
    MACHINE_ID_2 = 26 "SR_MACHINE_ID_2",
    MACHINE_ID_3 = 27 "SR_MACHINE_ID_3",
    AFFINITY = 28 "SR_AFFINITY",
    INVOCATION_INFO = 29 "SR_INVOCATION_INFO",
    WSCALEFACTOR_XY = 30 "SR_WSCALEFACTOR_XY",
    WSCALEFACTOR_Z = 31 "SR_WSCALEFACTOR_Z",
    TID = 32 "SR_TID",
    TID_X = 33 "SR_TID.X",
    TID_Y = 34 "SR_TID.Y",
    TID_Z = 35 "SR_TID.Z",
    CTA_PARAM = 36 "SR_CTA_PARAM",
    CTAID_X = 37 "SR_CTAID.X",
    CTAID_Y = 38 "SR_CTAID.Y",
    CTAID_Z = 39 "SR_CTAID.Z",
    NTID = 40 "SR_NTID",
    CIR_QUEUE_INCR_MINUS_ONE = 41 "SR_CirQueueIncrMinusOne",
    NLATC = 42 "SR_NLATC",
    SWINLO = 48 "SR_SWINLO",
    SWINSZ = 49 "SR_SWINSZ",
    SMEMSZ = 50 "SR_SMEMSZ",
    SMEMBANKS = 51 "SR_SMEMBANKS",
    LWINLO = 52 "SR_LWINLO",
    LWINSZ = 53 "SR_LWINSZ",
    LMEMLOSZ = 54 "SR_LMEMLOSZ",
    LMEMHIOFF = 55 "SR_LMEMHIOFF",
    EQMASK = 56 "SR_EQMASK",
    LTMASK = 57 "SR_LTMASK",
    LEMASK = 58 "SR_LEMASK",
    GTMASK = 59 "SR_GTMASK",
    GEMASK = 60 "SR_GEMASK",
    REGALLOC = 61 "SR_REGALLOC",
    CTXADDR = 62 "SR_CTXADDR",
    GLOBALERRORSTATUS = 64 "SR_GLOBALERRORSTATUS",
    WARPERRORSTATUS = 66 "SR_WARPERRORSTATUS",
    WARPERRORSTATUSCLEAR = 67 "SR_WARPERRORSTATUSCLEAR",
    PM_HI0 = 72 "SR_PM_HI0",
    PM_HI1 = 73 "SR_PM_HI1",
    PM_HI2 = 74 "SR_PM_HI2",
    PM_HI3 = 75 "SR_PM_HI3",
    PM_HI4 = 76 "SR_PM_HI4",
    PM_HI5 = 77 "SR_PM_HI5",
    PM_HI6 = 78 "SR_PM_HI6",
    PM_HI7 = 79 "SR_PM_HI7",
    CLOCKLO = 80 "SR_CLOCKLO",
    CLOCKHI = 81 "SR_CLOCKHI",
    GLOBALTIMERLO = 82 "SR_GLOBALTIMERLO",
    GLOBALTIMERHI = 83 "SR_GLOBALTIMERHI",
    HWTASKID = 96 "SR_HWTASKID",
    CIRCULARQUEUEENTRYINDEX = 97 "SR_CIRCULARQUEUEENTRYINDEX",
    CIRCULARQUEUEENTRYADDRESSLOW = 98 "SR_CIRCULARQUEUEENTRYADDRESSLOW",
    CIRCULARQUEUEENTRYADDRESSHIGH = 99 "SR_CIRCULARQUEUEENTRYADDRESSHIGH",
}
