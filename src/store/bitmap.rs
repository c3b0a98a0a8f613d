//! Sets of numbers as blobs, in the portable format of roaring bitmaps, as arguments of statements, and as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roaring::RoaringBitmap;
use rusqlite::Error::FromSqlConversionFailure;
use rusqlite::types::{Type, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use std::rc::Rc;

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

/// A set as an argument of the SQL function `rarray`.
pub fn to_array(set: &RoaringBitmap) -> Rc<Vec<Value>> {
    Rc::new(set.iter().map(Value::from).collect())
}

/// Serializes a set as the Base64 text of its blob, for `#[serde(with = "bitmap")]`. Large sets are much shorter than lists.
pub(crate) fn serialize<S: Serializer>(set: &RoaringBitmap, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(to_blob(set)))
}

/// Deserializes a set from the Base64 text of its blob.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RoaringBitmap, D::Error> {
    let bytes = STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)?;
    from_blob(0, &bytes).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize, Deserialize)]
    struct Ids(#[serde(with = "super")] RoaringBitmap);

    #[test]
    fn large_sets_are_short_in_json() {
        for (set, at_most) in [(RoaringBitmap::new(), 20), ((1_000_000..1_050_000).collect(), 30_000)] {
            let text = serde_json::to_string(&Ids(set.clone())).unwrap();
            assert!(text.len() <= at_most, "{} bytes", text.len());
            assert_eq!(serde_json::from_str::<Ids>(&text).unwrap().0, set);
        }
        assert!(serde_json::from_str::<Ids>("\"!\"").is_err());
        assert!(serde_json::from_str::<Ids>("\"AAAA\"").is_err());
    }
}
