//! Conversions between number formats.

family! { ($) convert {
    /// Integer to integer.
    I2i (exact convert::i2i) {
        "I2I{short_dst@8:2+12}{short_src@10:2+13}{sat@50} {d}{cc@47}, {b -45 |49 .S41}" {
            "0101 1100 1110 0--- b=r20"
            "0100 1100 1110 0--- b=c"
            "0011 100- 1110 0--- b=i"
        }
    }
    /// Integer to float.
    I2f (exact convert::i2f) {
        "I2F{dst_float@8}{src_int@10:2+13}{rounding@39} {d}{cc@47}, {b -45 |49 .S41}" {
            "0101 1100 1011 1--- b=r20"
            "0100 1100 1011 1--- b=c"
            "0011 100- 1011 1--- b=i"
        }
    }
    /// Float to integer.
    F2i (exact convert::f2i) {
        "F2I{ftz@44}{f2i_dst@8:2+12}{src_float@10}{int_rounding@39} {d}{cc@47}, {b -45 |49 .H41}" {
            "0101 1100 1011 0--- b=r20"
            "0100 1100 1011 0--- b=c"
            "0011 100- 1011 0--- b=f"
        }
    }
    /// Float to float. Between equal formats it rounds to an integral value.
    F2f (exact convert::f2f) {
        "F2F{ftz@44}{f2f_dst@8}{src_float@10}{rounding@39}{sat@50} {d}{cc@47}, {b -45 |49}" {
            "0101 1100 1010 1--- b=r20"
            "0100 1100 1010 1--- b=c"
            "0011 100- 1010 1--- b=f"
            "0101 1100 1010 1--- @10=01 b=r20 .H41"
            "0100 1100 1010 1--- @10=01 b=c .H41"
            "0011 100- 1010 1--- @10=01 b=f"
        }
        "F2F{ftz@44}{f2f_dst@8}{src_float@10}{copy_rounding@39:2+42}{sat@50} {d}{cc@47}, {b -45 |49}" {
            "0101 1100 1010 1--- @8=0000 b=r20"
            "0100 1100 1010 1--- @8=0000 b=c"
            "0011 100- 1010 1--- @8=0000 b=f"
            "0101 1100 1010 1--- @8=0101 b=r20 .H41"
            "0100 1100 1010 1--- @8=0101 b=c .H41"
            "0011 100- 1010 1--- @8=0101 b=f"
            "0101 1100 1010 1--- @8=1010 b=r20"
            "0100 1100 1010 1--- @8=1010 b=c"
            "0011 100- 1010 1--- @8=1010 b=f"
            "0101 1100 1010 1--- @8=1111 b=r20"
            "0100 1100 1010 1--- @8=1111 b=c"
            "0011 100- 1010 1--- @8=1111 b=f"
        }
    }
} }
