//! Columns with JSON.

use rusqlite::Error::FromSqlConversionFailure;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

/// Parses the JSON of a column; the error names the column.
pub fn json_column<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| FromSqlConversionFailure(column, Type::Text, error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn columns_without_json_are_errors() {
        let connection = Connection::open_in_memory().unwrap();
        let read = |column| {
            connection
                .query_row("SELECT '[1,2]', '[1,', 3, NULL", [], |row| json_column::<Vec<i64>>(row, column))
        };
        assert_eq!(read(0).unwrap(), [1, 2]);
        assert!(matches!(read(1), Err(FromSqlConversionFailure(1, Type::Text, _))));
        assert!(read(2).is_err() && read(3).is_err());
    }
}
