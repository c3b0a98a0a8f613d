//! The table: each figure with its floor, the ratio of the two, and the goal.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A value measured several times.
#[derive(Clone)]
pub struct Spread {
    /// Values in the order of measurement.
    pub values: Vec<f64>,
}

/// The goal of a figure.
#[derive(Clone, Copy)]
pub enum Reach {
    /// This much or more.
    AtLeast(f64),
    /// This much or less.
    AtMost(f64),
}

/// One line of the table.
pub struct Figure {
    /// Name of the figure.
    pub what: String,
    /// The unit of `measured` and `against`.
    pub unit: &'static str,
    /// The server's values; absent when only floors ran.
    pub measured: Option<Spread>,
    /// The floor's values, or the server's own in the easier case.
    pub against: Option<Spread>,
    /// Round by round, `measured` in terms of `against`; `reach` is about this, or about `measured` when absent.
    pub ratio: Option<Spread>,
    /// The goal.
    pub reach: Reach,
    /// Further measurements that explain the figure.
    pub notes: Vec<String>,
}

impl Spread {
    /// The middle value; of an even number the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            length if length % 2 == 1 => sorted[length / 2],
            length => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
        }
    }

    fn least(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn most(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Value by value, this in terms of the other.
    pub fn over(&self, other: &Self) -> Self {
        Self { values: self.values.iter().zip(&other.values).map(|(one, other)| one / other).collect() }
    }

    fn to_json(&self) -> Value {
        json!({"median": self.median(), "min": self.least(), "max": self.most(), "values": self.values})
    }
}

impl From<Vec<f64>> for Spread {
    fn from(values: Vec<f64>) -> Self {
        Self { values }
    }
}

impl Reach {
    fn met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }
}

impl Figure {
    /// True if the median reaches the goal; `None` if only floors ran.
    fn met(&self) -> Option<bool> {
        let judged = self.ratio.as_ref().or(self.measured.as_ref())?;
        Some(self.reach.met(judged.median()))
    }

    /// True if all turns agree with the median.
    fn is_clear(&self) -> bool {
        let Some(judged) = self.ratio.as_ref().or(self.measured.as_ref()) else { return true };
        self.reach.met(judged.least()) == self.reach.met(judged.most())
    }

    /// The verdict as the table shows it.
    fn verdict(&self) -> &'static str {
        match (self.met(), self.is_clear()) {
            (None, _) => "",
            (Some(true), true) => "yes",
            (Some(true), false) => "yes?",
            (Some(false), true) => "NO",
            (Some(false), false) => "NO?",
        }
    }

    fn to_json(&self) -> Value {
        let (at_least, at_most) = match self.reach {
            Reach::AtLeast(least) => (Some(least), None),
            Reach::AtMost(most) => (None, Some(most)),
        };
        json!({
            "what": self.what,
            "unit": self.unit,
            "measured": self.measured.as_ref().map(Spread::to_json),
            "against": self.against.as_ref().map(Spread::to_json),
            "ratio": self.ratio.as_ref().map(Spread::to_json),
            "at_least": at_least,
            "at_most": at_most,
            "met": self.met(),
            "clear": self.is_clear(),
            "notes": self.notes,
        })
    }
}

/// The whole report as one JSON object.
pub fn as_json(conditions: &[String], figures: &[Figure]) -> String {
    let figures: Vec<_> = figures.iter().map(Figure::to_json).collect();
    json!({"conditions": conditions, "figures": figures}).to_string()
}

/// The whole report as a Markdown table with the notes below it.
pub fn as_table(conditions: &[String], figures: &[Figure]) -> String {
    let mut lines =
        vec![["what", "measured", "against", "ratio", "min..max", "reach", "met"].map(str::to_owned)];
    for figure in figures {
        let judged = figure.ratio.as_ref().or(figure.measured.as_ref());
        lines.push([
            figure.what.clone(),
            with_unit(figure.measured.as_ref(), figure.unit),
            with_unit(figure.against.as_ref(), figure.unit),
            figure.ratio.as_ref().map(|ratio| number(ratio.median())).unwrap_or_default(),
            judged
                .filter(|judged| judged.values.len() > 1)
                .map(|judged| format!("{}..{}", number(judged.least()), number(judged.most())))
                .unwrap_or_default(),
            match figure.reach {
                Reach::AtLeast(least) => format!(">= {}", number(least)),
                Reach::AtMost(most) => format!("<= {}", number(most)),
            },
            figure.verdict().to_owned(),
        ]);
    }
    let mut text = conditions.join("\n");
    text.push_str("\n\n");
    let widths: [usize; 7] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    });
    for (index, line) in lines.iter().enumerate() {
        for (column, width) in line.iter().zip(widths) {
            // Writing into a String cannot fail.
            let _ = write!(text, "| {column:width$} ");
        }
        text.push_str("|\n");
        if index == 0 {
            for width in widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text.push_str("|\n");
        }
    }
    text.push('\n');
    for figure in figures {
        for note in &figure.notes {
            let _ = writeln!(text, "- {}: {note}", figure.what);
        }
    }
    text
}

fn with_unit(spread: Option<&Spread>, unit: &str) -> String {
    spread.map(|spread| format!("{} {unit}", number(spread.median()))).unwrap_or_default()
}

/// Three figures or so.
pub fn number(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
