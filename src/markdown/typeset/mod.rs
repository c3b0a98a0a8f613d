//! TeX to the HTML that clients expect: KaTeX's MathML and spans.

mod write;

use std::{sync::LazyLock, thread};

use katex::{KatexContext, Settings, core::render_to_dom_tree};

/// Length limit of a formula in bytes. Longer TeX is shown as typed.
pub const MAX_LENGTH: usize = 4000;

/// Limit of macro expansions: enough for long derivations, too few for exponential ones.
const MAX_EXPANSIONS: usize = 200;

/// KaTeX recurses for each level of nesting. A thread of its own has the stack for the deepest formula of [`MAX_LENGTH`];
/// pages that are not touched cost nothing.
const STACK_SIZE: usize = 64 * 1024 * 1024;

/// A typeset formula. Its HTML is well-formed and has only the tags and attributes of `write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    source: String,
    html: String,
}

impl Formula {
    /// Returns the TeX as typed.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the HTML.
    pub fn html(&self) -> &str {
        &self.html
    }
}

/// Typesets TeX; `None` if it is too long or has errors.
pub fn typeset(tex: &str, display_mode: bool) -> Option<Formula> {
    static CONTEXT: LazyLock<KatexContext> = LazyLock::new(KatexContext::default);
    if tex.len() > MAX_LENGTH {
        return None;
    }
    let source = tex.to_owned();
    // The tree is built, written and dropped in the thread: each of these recurses.
    let typesetter =
        thread::Builder::new().name("typeset".to_owned()).stack_size(STACK_SIZE).spawn(move || {
            let settings = Settings::builder()
                .display_mode(display_mode)
                .throw_on_error(true)
                .max_expand(MAX_EXPANSIONS)
                .build();
            let tree = render_to_dom_tree(&CONTEXT, &source, &settings).ok()?;
            write::html(&tree).map(|html| Formula { source, html })
        });
    typesetter.ok()?.join().ok()?
}
