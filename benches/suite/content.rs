//! The content of buffers.

use warploom_replay::Dtype;

macro_rules! contents {
    ($($name:ident $dtype:ident $number:ty),*) => {
        /// The numbers of a buffer.
        #[derive(Clone)]
        pub enum Content {
            $($name(Vec<$number>)),*
        }

        impl Content {
            pub fn dtype(&self) -> Dtype {
                match self {
                    $(Content::$name(_) => Dtype::$dtype),*
                }
            }

            /// Returns the numbers as they lie in memory.
            pub fn bytes(&self) -> Vec<u8> {
                match self {
                    $(Content::$name(numbers) => numbers.iter().flat_map(|number| number.to_le_bytes()).collect()),*
                }
            }
        }

        $(impl From<Vec<$number>> for Content {
            fn from(numbers: Vec<$number>) -> Content {
                Content::$name(numbers)
            }
        })*
    };
}
contents!(U8 U8 u8, U16 U16 u16, U32 U32 u32, I32 I32 i32, U64 U64 u64, F16 F16 half::f16, F32 F32 f32, F64 F64 f64);
