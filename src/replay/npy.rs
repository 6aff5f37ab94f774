//! NumPy's `.npy` files.

use std::io::{self, Write};

use npyz::{DType, Endianness, Order, TypeChar, WriterBuilder};

use super::array::{Array, Dtype};

/// The first bytes of a `.npy` file.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// The most bytes of a header.
///
/// Headers of arrays of numbers are far shorter. The bounds limit the parser's memory and stack.
const MAX_HEADER_BYTES: usize = 4096;
const MAX_HEADER_DEPTH: usize = 8;

/// Reads an array, and puts it in C order whatever the file's order is.
///
/// # Errors
/// The error says what is wrong with the file.
pub fn read(bytes: &[u8]) -> Result<Array, String> {
    check_header(bytes)?;
    let mut rest = bytes;
    let header =
        npyz::NpyHeader::from_reader(&mut rest).map_err(|e| format!("not a .npy file: {e}"))?;
    let dtype = match header.dtype() {
        DType::Plain(ty) => {
            if ty.endianness() == Endianness::Big {
                return Err(format!("elements are big-endian ({ty}): expected little-endian"));
            }
            dtype(ty.type_char(), ty.size_field())
                .ok_or_else(|| format!("elements are {ty}: expected {EXPECTED}"))?
        }
        other => return Err(format!("elements are {}: expected {EXPECTED}", other.descr())),
    };
    let shape = header.shape().to_vec();
    let size = shape.iter().try_fold(dtype.bytes() as u64, |size, &n| size.checked_mul(n));
    if size != Some(rest.len() as u64) {
        let wanted = size.map_or("more than 2^64".into(), |n| n.to_string());
        return Err(format!(
            "{} bytes of data: expected {wanted} for shape {shape:?} of {}",
            rest.len(),
            dtype.name()
        ));
    }
    let bytes = match header.order() {
        Order::C => rest.to_vec(),
        Order::Fortran => in_c_order(rest, &shape, dtype.bytes()),
    };
    Ok(Array { dtype, shape, bytes })
}

/// Reorders elements from Fortran order (first index fastest) to C order (last index fastest).
fn in_c_order(fortran: &[u8], shape: &[u64], element: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(fortran.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..fortran.len() / element {
        let number =
            index.iter().zip(shape).rev().fold(0, |number, (&at, &length)| number * length + at);
        let at = number as usize * element;
        bytes.extend_from_slice(&fortran[at..at + element]);
        for (at, &length) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < length {
                break;
            }
            *at = 0;
        }
    }
    bytes
}

const EXPECTED: &str = "integers of 8 to 64 bits or floats of 16 to 64 bits";

fn check_header(bytes: &[u8]) -> Result<(), String> {
    if !bytes.starts_with(MAGIC) || bytes.len() < 12 {
        return Err("not a .npy file".into());
    }
    let (start, length) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    if length > MAX_HEADER_BYTES {
        return Err(format!(
            "a .npy header of {length} bytes: expected at most {MAX_HEADER_BYTES}"
        ));
    }
    let header = bytes.get(start..start + length).ok_or("the .npy header is cut off")?;
    if header.iter().filter(|b| b"([{".contains(b)).count() > MAX_HEADER_DEPTH {
        return Err("a nested .npy header: expected a plain type".into());
    }
    Ok(())
}

fn dtype(kind: TypeChar, bytes: u64) -> Option<Dtype> {
    Some(match (kind, bytes) {
        (TypeChar::Int, 1) => Dtype::I8,
        (TypeChar::Int, 2) => Dtype::I16,
        (TypeChar::Int, 4) => Dtype::I32,
        (TypeChar::Int, 8) => Dtype::I64,
        (TypeChar::Uint, 1) | (TypeChar::Bool, 1) => Dtype::U8,
        (TypeChar::Uint, 2) => Dtype::U16,
        (TypeChar::Uint, 4) => Dtype::U32,
        (TypeChar::Uint, 8) => Dtype::U64,
        (TypeChar::Float, 2) => Dtype::F16,
        (TypeChar::Float, 4) => Dtype::F32,
        (TypeChar::Float, 8) => Dtype::F64,
        _ => return None,
    })
}

/// Takes consecutive pieces of an array's bytes. Each piece has whole elements.
pub type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// Writes an array.
pub fn write(array: &Array, into: &mut dyn Write) -> io::Result<()> {
    write_pieces(array.dtype, &array.shape, into, &mut |sink| sink(&array.bytes))
}

/// Writes an array whose bytes `source` passes on piece by piece.
pub fn write_pieces(
    dtype: Dtype,
    shape: &[u64],
    into: &mut dyn Write,
    source: &mut dyn FnMut(&mut Sink<'_>) -> io::Result<()>,
) -> io::Result<()> {
    macro_rules! write_as {
        ($($dtype:ident => $t:ty),*) => {
            match dtype {
                $(Dtype::$dtype => {
                    let options = npyz::WriteOptions::<$t>::new().default_dtype().shape(shape);
                    let mut writer = options.writer(into).begin_nd()?;
                    source(&mut |bytes| {
                        let (elements, _) = bytes.as_chunks::<{ size_of::<$t>() }>();
                        writer.extend(elements.iter().map(|bytes| <$t>::from_le_bytes(*bytes)))
                    })?;
                    writer.finish()
                })*
            }
        };
    }
    write_as!(
        I8 => i8, U8 => u8, I16 => i16, U16 => u16, I32 => i32, U32 => u32, I64 => i64, U64 => u64,
        F16 => half::f16, F32 => f32, F64 => f64
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(array: &Array) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(array, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_can_be_read() {
        for dtype in Dtype::ALL {
            let array =
                Array { dtype, shape: vec![2, 3], bytes: (0..6 * dtype.bytes() as u8).collect() };
            assert_eq!(read(&file(&array)).unwrap(), array);
        }
    }

    #[test]
    fn fortran_order_is_the_same_array() {
        // numpy.save of numpy.asfortranarray(numpy.arange(24, dtype="<u2").reshape(2, 3, 4)).
        let stored: [u16; 24] =
            [0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23];
        let header = "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 4), }";
        let mut bytes = [MAGIC, &[1, 0, 118, 0], format!("{header:117}\n").as_bytes()].concat();
        bytes.extend(stored.iter().flat_map(|n| n.to_le_bytes()));
        let array = read(&bytes).unwrap();
        assert_eq!((array.dtype, &array.shape[..]), (Dtype::U16, &[2, 3, 4][..]));
        assert!(array.bytes.chunks(2).zip(0u16..).all(|(bytes, n)| bytes == n.to_le_bytes()));
        let empty = "{'descr': '<u2', 'fortran_order': True, 'shape': (0, 3), }";
        let bytes = [MAGIC, &[1, 0, 118, 0], format!("{empty:117}\n").as_bytes()].concat();
        assert!(read(&bytes).unwrap().bytes.is_empty());
    }

    #[test]
    fn damaged_files_are_errors() {
        let good = file(&Array::flat(Dtype::F32, vec![0; 16]));
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_err(), "{length}");
        }
        let replaced = |from: &str, to: &str| {
            let at = good.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
            let mut bytes = good.clone();
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            read(&bytes).unwrap_err()
        };
        assert!(replaced("<f4", ">f4").contains("big-endian"));
        assert!(replaced("<f4", "<c8").contains("expected integers"));
        assert!(replaced("(4", "(5").contains("expected 20"));
        assert!(replaced("{", "(").contains("not a .npy file"));
        let mut long = good.clone();
        long[6] = 2;
        long[8..12].fill(0xff);
        assert!(read(&long).unwrap_err().contains("at most 4096"));
    }
}
