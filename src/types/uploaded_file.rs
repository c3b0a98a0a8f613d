//! A file in the body of a request.

use bytes::Bytes;

/// A file that came in a `multipart/form-data` body: a part with a file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// The name of the form field.
    pub field_name: String,
    /// The file's name as sent by the client. It may contain slashes or dots: never use it as a path.
    pub file_name: String,
    /// The media type as sent by the client.
    pub content_type: Option<String>,
    /// The content.
    pub bytes: Bytes,
}
