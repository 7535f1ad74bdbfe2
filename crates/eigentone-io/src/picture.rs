//! Pictures as grey values: PNG.

use crate::error::{IN_MEMORY, Place, ReadError};
use crate::file::read_file;
use eigentone_core::texture::MAX_PIXELS;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// Memory that the decoder may take beside the pixels, in bytes.
const DECODER_BYTES: usize = 64 << 20;

/// Shares of red, green and blue in what is seen as bright (Rec. 709).
const LUMA: [f32; 3] = [0.2126, 0.7152, 0.0722];

/// A picture without its colours.
#[derive(Clone, Debug, PartialEq)]
pub struct GreyPicture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// From 0, black, to 255, white, row by row from the top.
    pub grey: Arc<[u8]>,
}

/// Reads a PNG, of any depth and kind of colour; transparency is passed over.
///
/// # Errors
/// If it cannot be read, is no PNG, or has more pixels than a map may have.
pub fn read_picture(path: &Path) -> Result<GreyPicture, ReadError> {
    parse(&read_file(path)?, path)
}

/// The same from memory.
///
/// # Errors
/// As [`read_picture`].
pub fn read_picture_bytes(bytes: &[u8]) -> Result<GreyPicture, ReadError> {
    parse(bytes, Path::new(IN_MEMORY))
}

fn parse(bytes: &[u8], path: &Path) -> Result<GreyPicture, ReadError> {
    let bad = |found: String| ReadError::Syntax {
        file: path.to_owned(),
        place: Place::Whole,
        expected: "a PNG picture".to_owned(),
        found,
        hint: Some("export it as PNG; other pictures are not read"),
    };
    let limits = png::Limits { bytes: DECODER_BYTES };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|e| bad(e.to_string()))?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.saturating_mul(height) > MAX_PIXELS {
        let file = path.to_owned();
        let feature = format!("a picture of {width} × {height} pixels");
        return Err(ReadError::Unsupported { file, feature, hint: "make it smaller: 2048 × 2048 pixels will do" });
    }
    let size = reader.output_buffer_size().ok_or_else(|| bad("too many bytes".to_owned()))?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(|e| bad(e.to_string()))?;
    let channels = frame.color_type.samples();
    let grey = |pixel: &[u8]| match pixel {
        [r, g, b, ..] => [r, g, b].iter().zip(LUMA).map(|(c, share)| f32::from(**c) * share).sum::<f32>().round() as u8,
        [grey, ..] => *grey,
        [] => 0,
    };
    let grey: Arc<[u8]> = pixels[..frame.buffer_size()].chunks_exact(channels.max(1)).map(grey).collect();
    if grey.len() != width * height {
        return Err(bad(format!("{} pixels in place of {}", grey.len(), width * height)));
    }
    Ok(GreyPicture { width, height, grey })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, color: png::ColorType, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        bytes
    }

    /// Grey stays as it is, white and black are the same in colour, and of pure colours green is the brightest and blue the darkest.
    #[test]
    fn colours_become_what_is_seen_as_bright() {
        let grey = read_picture_bytes(&png(3, 1, png::ColorType::Grayscale, &[0, 100, 255])).unwrap();
        assert_eq!((grey.width, grey.height, &*grey.grey), (3, 1, &[0, 100, 255][..]));
        let colours = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0];
        let seen = read_picture_bytes(&png(5, 1, png::ColorType::Rgb, &colours)).unwrap();
        assert_eq!(&*seen.grey, &[255, 54, 182, 18, 0]);
    }

    /// Every beginning of a picture and every changed byte is read or refused, and none panics.
    #[test]
    fn damaged_pictures_are_refused() {
        let good = png(16, 16, png::ColorType::Rgba, &[77; 1024]);
        for end in 0..good.len() {
            let _ = read_picture_bytes(&good[..end]);
            let mut bytes = good.clone();
            bytes[end] ^= 0x55;
            let _ = read_picture_bytes(&bytes);
        }
        assert!(read_picture_bytes(b"no picture").unwrap_err().to_string().contains("PNG"));
        let huge = png(2, 2, png::ColorType::Grayscale, &[0; 4]);
        let mut wide = huge.clone();
        wide[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(read_picture_bytes(&wide).is_err());
    }
}
