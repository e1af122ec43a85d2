//! The table of what was measured.

use std::time::Duration;

/// One line of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The figure.
    pub figure: String,
    /// The budget, where there is one.
    pub budget: String,
    /// Whether it is met.
    pub met: Option<bool>,
}

/// A line with a figure and the most it may be, both in `unit`.
#[must_use]
pub fn row(what: &str, figure: f64, most: Option<f64>, unit: &str) -> Row {
    let shown = |n: f64| {
        if n >= 100.0 {
            format!("{n:.0} {unit}")
        } else {
            format!("{n:.2} {unit}")
        }
    };
    Row {
        what: what.to_owned(),
        figure: shown(figure),
        budget: most.map(shown).unwrap_or_default(),
        met: most.map(|most| figure <= most),
    }
}

/// A line that says why nothing was measured.
#[must_use]
pub fn left_out(what: &str, why: &str) -> Row {
    Row {
        what: what.to_owned(),
        figure: format!("left out: {why}"),
        budget: String::new(),
        met: None,
    }
}

/// The middle of all values, milliseconds.
#[must_use]
pub fn median(values: &[Duration]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted
        .get(sorted.len() / 2)
        .map_or(0.0, |d| d.as_secs_f64() * 1000.0)
}

fn verdict(row: &Row) -> &'static str {
    match row.met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "",
    }
}

/// The table for a terminal.
#[must_use]
pub fn plain(rows: &[Row]) -> String {
    let widest = |of: fn(&Row) -> &str| rows.iter().map(|r| of(r).chars().count()).max();
    let what = widest(|r| &r.what).unwrap_or(0);
    let figure = widest(|r| if r.budget.is_empty() { "" } else { &r.figure }).unwrap_or(0);
    rows.iter()
        .map(|r| {
            let line = format!(
                "{:what$}  {:>figure$}  {:>10}  {}",
                r.what,
                r.figure,
                r.budget,
                verdict(r)
            );
            line.trim_end().to_owned() + "\n"
        })
        .collect()
}

/// The table as Markdown.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    let mut text = "| what | measured | budget | |\n|---|---|---|---|\n".to_owned();
    for r in rows {
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            r.what,
            r.figure,
            r.budget,
            verdict(r)
        ));
    }
    text
}
