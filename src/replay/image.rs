//! PNG images of buffers.

use super::array::{Array, Dtype, Element};
use super::manifest::{ColourMap, Png};

/// The most pixels of an image.
const MAX_PIXELS: u64 = 1 << 28;

/// Returns the element type of an image in a buffer of `bytes` bytes.
pub(super) fn pixel_type(png: &Png, bytes: u64) -> Result<Dtype, String> {
    let [width, height] = png.size;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MAX_PIXELS {
        return Err(format!("{width} x {height} pixels: expected 1 to 2^28"));
    }
    let of_size =
        || bytes.is_multiple_of(pixels).then(|| Dtype::unsigned(bytes / pixels)).flatten();
    of_size().ok_or_else(|| {
        format!("{width} x {height} pixels in {bytes} bytes: expected 1, 2, 4 or 8 bytes a pixel")
    })
}

/// Draws the buffer as a PNG file.
///
/// `bytes` has the length that `pixel_type` was called with.
pub fn draw(png: &Png, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let array = Array::flat(pixel_type(png, bytes.len() as u64)?, bytes.to_vec());
    let values = || {
        array.bytes.chunks_exact(array.dtype.bytes()).map(|bytes| value(array.dtype.element(bytes)))
    };
    let max = png.max.or_else(|| values().max()).unwrap_or(0).max(1);
    let rgb: Vec<u8> = values().flat_map(|v| colour(png.map, v, max)).collect();
    encode(png.size, png::ColorType::Rgb, &rgb)
}

/// Encodes a PNG file with components of eight bits.
pub(super) fn encode(
    [width, height]: [u32; 2],
    colour: png::ColorType,
    pixels: &[u8],
) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer.write_image_data(pixels).map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())?;
    Ok(file)
}

fn value(element: Element) -> u64 {
    match element {
        Element::Int(i) => i as u64,
        Element::Float(x) => x as u64,
    }
}

fn colour(map: ColourMap, value: u64, max: u64) -> [u8; 3] {
    let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    match map {
        ColourMap::Grey => [byte(value as f64 / max as f64); 3],
        ColourMap::Iterations if value >= max => [0; 3],
        ColourMap::Iterations => {
            // Most of the picture takes few iterations: the logarithm spreads their colours.
            let phase = (value as f64 + 1.0).log2();
            [0.55, 0.6, 0.7].map(|shift| {
                byte(0.5 - 0.5 * (std::f64::consts::TAU * (phase * 0.23 + shift)).cos())
            })
        }
        ColourMap::Density => {
            let x = (value as f64 + 1.0).log2() / (max as f64 + 1.0).log2();
            [2.2 * x, 1.6 * x * x + 0.1 * x, x.powi(4) + 0.35 * x].map(byte)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_must_fit() {
        let png = |size| Png { size, map: ColourMap::Grey, max: None };
        assert_eq!(pixel_type(&png([4, 2]), 16), Ok(Dtype::U16));
        assert!(pixel_type(&png([4, 2]), 24).unwrap_err().contains("4 x 2 pixels in 24 bytes"));
        assert!(pixel_type(&png([0, 2]), 24).is_err());
        assert!(pixel_type(&png([u32::MAX, u32::MAX]), 24).is_err());
    }

    #[test]
    fn an_image_can_be_decoded() {
        let file =
            draw(&Png { size: [2, 1], map: ColourMap::Grey, max: None }, &[0, 1, 0, 2]).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [128, 128, 128, 255, 255, 255]);
    }
}
