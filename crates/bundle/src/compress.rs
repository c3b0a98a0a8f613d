//! Compressing files.

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Result, Write};

/// A file, compressed.
pub struct Compressed {
    /// With gzip, which all clients know.
    pub gzip: Vec<u8>,
    /// With Brotli, a sixth smaller, which browsers know over https.
    pub brotli: Vec<u8>,
}

/// Compresses a file, as small as possible or quickly.
///
/// # Errors
/// None, because memory does not fail.
pub fn compress(content: &[u8], is_small: bool) -> Result<Compressed> {
    let level = if is_small { Compression::best() } else { Compression::fast() };
    let mut gzip = GzEncoder::new(Vec::new(), level);
    gzip.write_all(content)?;
    let mut brotli = Vec::new();
    let quality = if is_small { 11 } else { 2 };
    let parameters =
        BrotliEncoderParams { quality, size_hint: content.len(), ..BrotliEncoderParams::default() };
    brotli::BrotliCompress(&mut &*content, &mut brotli, &parameters)?;
    Ok(Compressed { gzip: gzip.finish()?, brotli })
}
