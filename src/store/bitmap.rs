//! Sets of numbers as blobs, in the portable format of roaring bitmaps, and as JSON.

use roaring::RoaringBitmap;
use rusqlite::Error::FromSqlConversionFailure;
use rusqlite::types::Type;
use serde::{Deserialize, Deserializer, Serializer};

/// Serializes a set.
pub fn to_blob(set: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(set.serialized_size());
    // Writing to memory cannot fail.
    let _infallible = set.serialize_into(&mut bytes);
    bytes
}

/// Reads a set from the blob of a column; the error names the column.
pub fn from_blob(column: usize, bytes: &[u8]) -> rusqlite::Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| FromSqlConversionFailure(column, Type::Blob, error.into()))
}

/// Serializes a set as a list of numbers, for `#[serde(with = "bitmap")]`.
pub(crate) fn serialize<S: Serializer>(set: &RoaringBitmap, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(set)
}

/// Deserializes a set from a list of numbers.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RoaringBitmap, D::Error> {
    Ok(Vec::<u32>::deserialize(deserializer)?.into_iter().collect())
}
