//! Descriptions, which are rendered when all is there that they may refer to.

use crate::auth::{Caller, Ctx};
use crate::domain::realm;
use crate::domain::rendering::render_description_again;
use crate::error::ok_unless_refused;
use crate::moving::import::error::ImportResult;
use crate::moving::import::message::Renderer;
use crate::moving::import::target::Target;
use crate::store::ExecuteCached;

/// The owner of a description.
#[derive(Clone, Copy, Debug)]
pub enum Described {
    Organization,
    Channel(u32),
    /// A folder of channels.
    Folder(u32),
}

#[derive(Debug)]
pub struct Description {
    /// Its owner.
    pub of: Described,
    /// Markdown.
    pub text: String,
    /// The archive's HTML.
    pub html: Option<String>,
}

/// Renders descriptions and stores their HTML. Those without HTML in the archive are rendered with the access of `reader`.
pub fn insert_all(
    target: &mut Target,
    reader: &Caller,
    renderer: &Renderer,
    descriptions: &[Description],
) -> ImportResult<()> {
    let htmls = target.read(|snapshot| {
        let ctx = Ctx::new(snapshot, reader, target.now());
        let html_of = |description: &Description| -> ImportResult<_> {
            let html = description.html.as_deref();
            let earlier = html.and_then(|html| renderer.references(html));
            let html = render_description_again(ctx, &renderer.origin, earlier.as_ref(), &description.text);
            Ok((description.of, ok_unless_refused(html)?.unwrap_or_default()))
        };
        descriptions.iter().map(html_of).collect::<ImportResult<Vec<_>>>()
    })?;
    target.run(move |tx| {
        for (of, html) in htmls {
            let (statement, id) = match of {
                Described::Organization => {
                    realm::settings::set(tx, "rendered_description", &html.into())?;
                    continue;
                }
                Described::Channel(id) => {
                    ("UPDATE stream SET rendered_description = ?2 WHERE stream_id = ?1", id)
                }
                Described::Folder(id) => {
                    ("UPDATE channel_folder SET rendered_description = ?2 WHERE id = ?1", id)
                }
            };
            tx.execute_cached(statement, (id, html))?;
        }
        Ok(())
    })
}
