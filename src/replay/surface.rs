//! Images of a launch: their texels in files, as arrays or as PNG.

use std::io::Cursor;
use std::path::PathBuf;

use super::array::{Array, Dtype};
use super::manifest::{self, Dim};
use super::resolve::{Expectation, Source};
use super::{Error, image};

const PNG_MAGIC: &[u8] = b"\x89PNG";

#[derive(Clone, Debug)]
pub struct Surface {
    pub name: String,
    pub description: manifest::Surface,
    /// Rows without gaps, ordered by slice, then layer, then level. `None`: zeros.
    pub content: Option<Vec<u8>>,
    /// The element type and the shape of the file that is written after the launch.
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub expect: Option<Expectation>,
}

/// Returns the type and the number of a texel's elements in files.
///
/// Components of 8, 16 or 32 bits are elements. Other formats have one element per texel.
pub fn elements(format: &str) -> Option<(Dtype, u64)> {
    let (texel, number) = format.split_once('_')?;
    let at = texel.find(|c: char| c.is_ascii_digit())?;
    let bits = match &texel[at..] {
        bits @ ("8" | "16" | "32") => bits.parse::<u64>().ok()?,
        _ if matches!(texel, "rgb10a2" | "r11g11b10" | "rgb9e5") => return Some((Dtype::U32, 1)),
        _ => return Some((Dtype::U16, 1)),
    };
    let name = match number {
        "float" => format!("f{bits}"),
        "snorm" | "sint" => format!("i{bits}"),
        _ => format!("u{bits}"),
    };
    Some((Dtype::from_name(&name)?, at as u64))
}

/// Returns the number of texels of all levels and layers.
fn texels(surface: &manifest::Surface) -> u64 {
    let [width, height, depth] = surface.size.map(u64::from);
    let of = |level: u32| {
        let half = |axis: u64| axis.checked_shr(level).unwrap_or(0).max(1);
        let slices = if surface.dim == Dim::D3 { half(depth) } else { depth };
        half(width).saturating_mul(half(height)).saturating_mul(slices)
    };
    (0..surface.levels).fold(0, |all, level| all.saturating_add(of(level)))
}

impl Source<'_> {
    pub(super) fn surface(
        &self,
        name: &str,
        surface: &manifest::Surface,
    ) -> Result<Surface, Error> {
        let key = format!("surface.{name}");
        self.check_name(&key, name)?;
        if surface.size.contains(&0) {
            return Err(self.wrong(key + ".size", "expected no 0"));
        }
        let [width, height, depth] = surface.size;
        let longest = width.max(height).max(if surface.dim == Dim::D3 { depth } else { 1 });
        if !(1..=longest.ilog2() + 1).contains(&surface.levels) {
            return Err(
                self.wrong(key + ".levels", format!("expected 1 to {}", longest.ilog2() + 1))
            );
        }
        if surface.resident.as_ref().is_some_and(|pages| !pages.is_sorted_by(|a, b| a < b)) {
            return Err(self.wrong(
                key + ".resident",
                "expected numbers of pages in ascending order, each once",
            ));
        }
        // The instruction set checks the format when the surface is made.
        let (dtype, channels) = elements(&surface.format).unwrap_or((Dtype::U8, 1));
        let [width, height, depth] = surface.size.map(u64::from);
        let mut shape = match surface.dim {
            Dim::D1 | Dim::D1Buffer => vec![width],
            Dim::D1Array => vec![depth, width],
            Dim::D2 => vec![height, width],
            Dim::D2Array | Dim::D3 | Dim::Cube | Dim::CubeArray => vec![depth, height, width],
        };
        // Levels differ in size: their texels have no rows and columns in common.
        if surface.levels != 1 {
            shape = vec![texels(surface)];
        }
        shape.extend((channels > 1).then_some(channels));
        if surface.png
            && !(surface.dim == Dim::D2
                && surface.levels == 1
                && dtype == Dtype::U8
                && matches!(channels, 1 | 4))
        {
            let problem = "expected a 2d surface of one or four components of eight bits";
            return Err(self.wrong(format!("{key}.png"), problem));
        }
        let content = surface
            .file
            .as_ref()
            .map(|file| self.texels(file, surface, dtype, channels))
            .transpose()?;
        let tolerance =
            self.tolerance(&key, [surface.rtol, surface.atol], surface.expect.is_some())?;
        let expect = match &surface.expect {
            None => None,
            Some(file) => {
                let (path, bytes) = self.texels(file, surface, dtype, channels)?;
                let array = Array { dtype, shape: shape.clone(), bytes };
                let expected =
                    shape.iter().fold(dtype.bytes() as u64, |all, &axis| all.saturating_mul(axis));
                if array.bytes.len() as u64 != expected {
                    let problem =
                        format!("{} bytes of data, but {key} has {expected}", array.bytes.len());
                    return Err(Error::Array { path, problem });
                }
                Some(Expectation { path, array, tolerance })
            }
        };
        let content = content.map(|(_, bytes)| bytes);
        Ok(Surface {
            name: name.into(),
            description: surface.clone(),
            content,
            dtype,
            shape,
            expect,
        })
    }

    /// Reads the texels of a file: `.npy`, PNG, or raw bytes.
    fn texels(
        &self,
        file: &std::path::Path,
        surface: &manifest::Surface,
        dtype: Dtype,
        channels: u64,
    ) -> Result<(PathBuf, Vec<u8>), Error> {
        let (path, array, typed) = self.array(file, Dtype::U8)?;
        let wrong = |problem| Error::Array { path: path.clone(), problem };
        if array.bytes.starts_with(PNG_MAGIC) && !typed {
            if dtype != Dtype::U8 {
                return Err(wrong(format!(
                    "a PNG has components of eight bits, but the format is {}",
                    surface.format
                )));
            }
            let texels = from_png(&array.bytes, surface, channels as usize).map_err(wrong)?;
            return Ok((path, texels));
        }
        if typed && array.dtype != dtype {
            let (has, format) = (array.dtype.name(), &surface.format);
            return Err(wrong(format!("elements are {has}: expected {} ({format})", dtype.name())));
        }
        Ok((path, array.bytes))
    }
}

/// Returns for each component of a texel its index among red, green, blue and alpha.
fn order(format: &str) -> [usize; 4] {
    if format.starts_with("bgra") { [2, 1, 0, 3] } else { [0, 1, 2, 3] }
}

/// Decodes the texels of a PNG.
///
/// The result has as many of red, green, blue and alpha as the format has, or for a grey format the
/// brightness.
fn from_png(bytes: &[u8], surface: &manifest::Surface, channels: usize) -> Result<Vec<u8>, String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = reader.info().size();
    if [width, height, 1] != surface.size {
        return Err(format!("{width} x {height} pixels, but the surface has {:?}", surface.size));
    }
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    let info = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(info.buffer_size());
    let colour = |pixel: &[u8]| match info.color_type {
        png::ColorType::Grayscale => [pixel[0], pixel[0], pixel[0], 255],
        png::ColorType::GrayscaleAlpha => [pixel[0], pixel[0], pixel[0], pixel[1]],
        png::ColorType::Rgba => [pixel[0], pixel[1], pixel[2], pixel[3]],
        _ => [pixel[0], pixel[1], pixel[2], 255],
    };
    let order = order(&surface.format);
    let texel = |pixel: &[u8]| {
        let colour = colour(pixel);
        if channels == 1 {
            // ITU-R BT.601, like PNG's own conversion to grey.
            let [red, green, blue] = [0, 1, 2].map(|i| u32::from(colour[i]));
            return vec![((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8];
        }
        order[..channels].iter().map(|&component| colour[component]).collect()
    };
    Ok(pixels.chunks_exact(info.color_type.samples()).flat_map(texel).collect())
}

/// Draws the texels of a surface that asks for a PNG file.
pub fn draw(surface: &Surface, texels: &[u8]) -> Result<Vec<u8>, String> {
    let [width, height, _] = surface.description.size;
    let channels = if surface.shape.len() > 2 { 4 } else { 1 };
    let order = order(&surface.description.format);
    let pixels: Vec<u8> = texels
        .chunks_exact(channels)
        .flat_map(|texel| {
            order[..channels].iter().map(|&component| texel[component]).collect::<Vec<_>>()
        })
        .collect();
    let colour = if channels == 4 { png::ColorType::Rgba } else { png::ColorType::Grayscale };
    image::encode([width, height], colour, &pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_elements() {
        assert_eq!(elements("rgba8_unorm"), Some((Dtype::U8, 4)));
        assert_eq!(elements("r32_float"), Some((Dtype::F32, 1)));
        assert_eq!(elements("rg16_snorm"), Some((Dtype::I16, 2)));
        assert_eq!(elements("rgb10a2_unorm"), Some((Dtype::U32, 1)));
        assert_eq!(elements("r5g6b5_unorm"), Some((Dtype::U16, 1)));
        assert_eq!((elements("r32"), elements("r8_float"), elements("_uint")), (None, None, None));
    }
}
