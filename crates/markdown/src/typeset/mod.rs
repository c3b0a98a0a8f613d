//! TeX to the HTML that clients expect: KaTeX's MathML and spans.
//!
//! The cost of a formula is limited before, during and after typesetting: the source has at most [`MAX_LENGTH`] bytes
//! and [`MAX_SYMBOLS`] symbols and cannot define macros, which could multiply them; all formulas of a message together
//! have [`TIME_LIMIT`], or what the directory leaves them; the HTML of each has a maximum length. Formulas beyond a limit are
//! shown as source.

mod write;

use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use katex::{KatexContext, Settings, core::render_to_dom_tree, lexer::Lexer};

/// Length limit of a formula in bytes.
pub const MAX_LENGTH: usize = 4000;

/// Limit of symbols in a formula: characters and control sequences. The typesetter takes quadratic time for some rows of
/// symbols.
const MAX_SYMBOLS: usize = 1500;

/// Limit of the time in which all formulas of a message are typeset.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Limit of expansions of built-in macros: enough for long derivations.
const MAX_EXPANSIONS: usize = 200;

/// Number of typesetters beyond their time limit at which no more formulas are typeset.
const MAX_LATE: usize = 4;

/// KaTeX recurses for each level of nesting. A thread of its own has the stack for the deepest formula of [`MAX_LENGTH`];
/// pages that are not touched cost nothing.
const STACK_SIZE: usize = 64 * 1024 * 1024;

/// Control words that define others. A few definitions can expand to any number of symbols.
const DEFINITIONS: [&str; 11] = [
    "\\def",
    "\\edef",
    "\\futurelet",
    "\\gdef",
    "\\global",
    "\\let",
    "\\long",
    "\\newcommand",
    "\\providecommand",
    "\\renewcommand",
    "\\xdef",
];

/// Threads that did not end in time. Each value lives as long as its thread.
#[derive(Default)]
struct LateThreads(Mutex<Vec<Weak<()>>>);

/// The late threads of the process.
static LATE: LateThreads = LateThreads(Mutex::new(Vec::new()));

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

/// Typesets the formulas of one message, in a thread that starts with the first of them.
pub struct Typesetter {
    time_left: Duration,
    thread: Option<Thread>,
    late: &'static LateThreads,
}

/// A thread that typesets formulas until the sender is dropped.
struct Thread {
    sources: Sender<(String, bool)>,
    formulas: Receiver<Option<Formula>>,
    is_alive: Weak<()>,
}

impl Typesetter {
    /// Returns a typesetter with this limit of time, or [`TIME_LIMIT`] if that is less.
    pub fn with_time(time_left: Duration) -> Self {
        Self { time_left: time_left.min(TIME_LIMIT), thread: None, late: &LATE }
    }

    /// Typesets TeX; `None` if it has errors or is beyond a limit.
    pub fn typeset(&mut self, tex: &str, display_mode: bool) -> Option<Formula> {
        if tex.len() > MAX_LENGTH || self.time_left.is_zero() || !is_allowed(tex) {
            return None;
        }
        let thread = match &mut self.thread {
            Some(thread) => thread,
            none if self.late.lock().len() < MAX_LATE => none.insert(Thread::start()?),
            _ => return None,
        };
        thread.sources.send((tex.to_owned(), display_mode)).ok()?;
        let started = Instant::now();
        let formula = thread.formulas.recv_timeout(self.time_left);
        self.time_left = self.time_left.saturating_sub(started.elapsed());
        match formula {
            Ok(formula) => formula,
            // It takes too long, or it panicked. The thread is left alone, never waited for.
            Err(_) => {
                self.late.lock().extend(self.thread.take().map(|thread| thread.is_alive));
                None
            }
        }
    }
}

impl Thread {
    fn start() -> Option<Self> {
        let (sources, to_typeset) = mpsc::channel::<(String, bool)>();
        let (done, formulas) = mpsc::channel();
        let alive = Arc::new(());
        let is_alive = Arc::downgrade(&alive);
        let run = move || {
            for (source, display_mode) in to_typeset {
                // The tree is built, written and dropped here: each of these recurses.
                if done.send(typeset(source, display_mode)).is_err() {
                    break;
                }
            }
            drop(alive);
        };
        thread::Builder::new().name("typeset".to_owned()).stack_size(STACK_SIZE).spawn(run).ok()?;
        Some(Self { sources, formulas, is_alive })
    }
}

impl LateThreads {
    /// Locks the list, without those that have ended.
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<()>>> {
        let mut late = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        late.retain(|alive| alive.strong_count() > 0);
        late
    }
}

fn typeset(source: String, display_mode: bool) -> Option<Formula> {
    static CONTEXT: LazyLock<KatexContext> = LazyLock::new(KatexContext::default);
    let settings = Settings::builder()
        .display_mode(display_mode)
        .throw_on_error(true)
        .max_expand(MAX_EXPANSIONS)
        .max_size(write::MAX_SIZE)
        .build();
    let tree = render_to_dom_tree(&CONTEXT, &source, &settings).ok()?;
    write::html(&tree).map(|html| Formula { source, html })
}

/// Checks the symbols of a formula: their number, that none defines another, and that none is internal to KaTeX (`@`).
fn is_allowed(tex: &str) -> bool {
    let settings = Settings::default();
    let mut lexer = Lexer::new(Arc::from(tex), &settings);
    // Comments are read as well: in an argument that is an address, a percent sign begins none.
    lexer.set_catcode('%', 12);
    for _ in 0..=MAX_SYMBOLS {
        let Ok(symbol) = lexer.lex() else { return false };
        let symbol = symbol.text.as_str();
        if symbol == "EOF" {
            return true;
        }
        if symbol.starts_with('\\') && (symbol.contains('@') || DEFINITIONS.contains(&symbol)) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typeset(tex: &str) -> Option<Formula> {
        Typesetter::with_time(Duration::MAX).typeset(tex, false)
    }

    // conformance: md-66
    #[test]
    fn definitions_are_not_typeset() {
        assert!(typeset(r"\mathrm{def} \text{\verb|\x|} \longrightarrow \operatorname{let}").is_some());
        for name in DEFINITIONS {
            assert!(typeset(&format!(r"{name}\x{{y}}z")).is_none(), "{name}");
        }
        for hidden in [
            "x\n\\def\\x{y}\\x",
            r"\verb*\x\\def\x{y}",
            r"\text{\def\x{y}\x}",
            r"\expandafter\def\x{y}\x",
            "\\href{%\\def\\x{y}}{z}",
            r"\tag{\df@tag x}",
            r"\@firstoftwo{x}{y}",
        ] {
            assert!(typeset(hidden).is_none(), "{hidden}");
        }
    }

    // conformance: md-66
    #[test]
    fn symbols_that_multiply_are_not_typeset() {
        let steps = "abcdef".as_bytes().windows(2).fold(String::new(), |text, names| {
            let copies = "#1".repeat(10);
            let (name, next) = (char::from(names[0]), char::from(names[1]));
            format!(r"{text}\def\{name}#1{{\{next}{{{copies}}}}}")
        });
        let bomb = format!(r"{steps}\def\f#1{{#1}}\a{{x+y+z+w+}}");
        assert!(bomb.len() < 250, "{bomb}");
        assert_eq!(typeset(&bomb), None);
    }

    // conformance: md-66
    #[test]
    fn long_formulas_are_not_typeset() {
        assert!(typeset(&"+".repeat(MAX_SYMBOLS)).is_some());
        assert_eq!(typeset(&"+".repeat(MAX_SYMBOLS + 1)), None);
        let spaces = " ".repeat(MAX_LENGTH - 1);
        assert!(typeset(&format!("x{spaces}")).is_some());
        assert_eq!(typeset(&format!("xx{spaces}")), None);
    }

    // conformance: md-66
    #[test]
    fn slow_formulas_are_not_typeset() {
        let mut typesetter = Typesetter::with_time(Duration::ZERO);
        assert_eq!(typesetter.typeset("x", false), None);
        assert!(typesetter.thread.is_none());
    }

    /// The thread is left alone and counted until it ends; the message gets no other.
    // conformance: md-66
    #[test]
    fn late_threads_are_abandoned() {
        let late: &'static LateThreads = Box::leak(Box::default());
        let mut typesetter = Typesetter { late, ..Typesetter::with_time(Duration::from_nanos(1)) };
        assert_eq!(typesetter.typeset(&"+".repeat(MAX_SYMBOLS), false), None);
        assert!(typesetter.thread.is_none());
        assert_eq!(late.0.lock().unwrap().len(), 1);
        assert_eq!(typesetter.typeset("x", false), None);
        assert!(typesetter.thread.is_none(), "no time is left");
        while !late.lock().is_empty() {
            thread::yield_now();
        }
        let mut typesetter = Typesetter { late, ..Typesetter::with_time(Duration::MAX) };
        assert!(typesetter.typeset("x", false).is_some());
    }

    /// Other messages have no formulas until one of the threads ends.
    // conformance: md-66
    #[test]
    fn late_threads_have_a_limit() {
        let late: &'static LateThreads = Box::leak(Box::default());
        let mut threads: Vec<Arc<()>> = (0..MAX_LATE).map(|_| Arc::new(())).collect();
        late.lock().extend(threads.iter().map(Arc::downgrade));
        let mut typesetter = Typesetter { late, ..Typesetter::with_time(Duration::MAX) };
        assert_eq!(typesetter.typeset("x", false), None);
        assert!(typesetter.thread.is_none());
        threads.pop();
        assert!(typesetter.typeset("x", false).is_some());
    }

    // conformance: md-56
    #[test]
    fn operators_without_operands_do_not_run_together() {
        let html = |tex: &str| typeset(tex).unwrap().html;
        for (tex, one, two) in
            [(r"\cup \cap", "∪", "∩"), (r"\dagger \ddagger", "†", "‡"), (r"\circ \bullet", "∘", "∙")]
        {
            let html = html(tex);
            assert!(
                html.contains(&format!(">{one}</span>")) && html.contains(&format!(">{two}</span>")),
                "{html}"
            );
        }
        assert!(html("12").contains(">12</span>"));
        assert!(html(r"\text{a+b}").contains(">a+b</span>"), "a text is no formula");
    }

    // conformance: md-56
    #[test]
    fn the_line_of_an_arrow_is_aligned_and_bold_symbols_have_a_shadow() {
        // Diagrams stand by themselves.
        let html = |tex: &str| Typesetter::with_time(Duration::MAX).typeset(tex, true).unwrap().html;
        for tex in [r"\xrightarrow{abc}", r"\xleftarrow[a]{b}", r"\begin{CD} A @>a>> B \end{CD}"] {
            let html = html(tex);
            assert_eq!(html.matches(" x-arrow\"").count(), html.matches("\"svg-align\"").count(), "{html}");
            assert!(html.contains("<span class=\"svg-align\" style=\"top:"), "{html}");
        }
        assert!(html(r"\pmb{x}").contains("text-shadow:0.02em 0.01em 0.04px;"));
    }

    // conformance: md-66
    #[test]
    fn sizes_have_a_limit() {
        let html = typeset(r"\rule{500em}{500em}").unwrap().html;
        assert!(html.contains(":50em") && !html.contains(":500em"), "{html}");
        assert!(typeset(r"x\kern-40em y").is_some());
        assert_eq!(typeset(r"x\kern-500em y"), None);
    }
}
