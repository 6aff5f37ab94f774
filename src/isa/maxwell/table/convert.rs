//! Conversions between number formats.

family! { ($) convert {
    /// Integer to float.
    I2f (exact convert::i2f) {
        "I2F{dst_float@8}{src_int@10:2+13}{rounding@39} {d}{cc@47}, {b -45 |49 .B41}" {
            "0101 1100 1011 1--- b=r20"
            "0100 1100 1011 1--- b=c"
            "0011 100- 1011 1--- b=i"
        }
    }
} }
