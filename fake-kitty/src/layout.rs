//! Layouts: what kitty saves about them, and where they put windows.

use crate::pairs::Pair;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// All layouts of kitty, sorted: what `enabled_layouts *` means.
pub const ALL: [&str; 7] = [
    "fat",
    "grid",
    "horizontal",
    "splits",
    "stack",
    "tall",
    "vertical",
];

/// A place on the grid of an OS window, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    pub x: u16,
    pub y: u16,
    pub w: u16,
    pub h: u16,
}

/// The current layout of a tab.
#[derive(Debug, Clone)]
pub struct Layout {
    /// `tall`, `splits`, …
    pub name: String,
    /// The layout's options, as kitty shows them.
    pub opts: Map<String, Value>,
    /// The keys of the saved state that come before `opts`, but for the tree of splits.
    extra: Map<String, Value>,
    pairs: Pair,
}

impl Layout {
    /// A layout from a definition such as `tall:bias=70;full_size=2`; values that make no sense are ignored.
    pub fn new(definition: &str) -> Layout {
        let (name, options) = definition.split_once(':').unwrap_or((definition, ""));
        let mut opts = Map::new();
        let mut extra = Map::new();
        match name {
            "splits" => {
                opts.insert("split_axis".into(), json!("horizontal"));
                opts.insert("equalize_on_window_close".into(), json!("n"));
            }
            "tall" | "fat" => {
                opts.insert("full_size".into(), json!(1));
                opts.insert("bias".into(), json!(50));
                opts.insert("mirrored".into(), json!("n"));
            }
            _ => {}
        }
        for (key, value) in options.split(';').filter_map(|o| o.split_once('=')) {
            let Some(slot) = opts.get_mut(key) else {
                continue;
            };
            if slot.is_number() {
                if let Ok(n) = value.parse::<u32>() {
                    *slot = json!(n);
                }
            } else {
                *slot = json!(value);
            }
        }
        match name {
            "tall" | "fat" => {
                let bias = opts.get("bias").and_then(Value::as_f64).unwrap_or(50.0) / 100.0;
                extra.insert("main_bias".into(), json!([bias, 1.0 - bias]));
                extra.insert("biased_map".into(), json!({}));
            }
            "grid" => {
                extra.insert("biased_cols".into(), json!({}));
                extra.insert("biased_rows".into(), json!({}));
            }
            "vertical" | "horizontal" => drop(extra.insert("biased_map".into(), json!({}))),
            _ => {}
        }
        Layout {
            name: name.to_owned(),
            opts,
            extra,
            pairs: Pair::default(),
        }
    }

    /// The class name in a saved state.
    pub fn class(&self) -> String {
        let mut c = self.name.chars();
        c.next()
            .map_or_else(String::new, |f| f.to_uppercase().chain(c).collect())
    }

    /// A new group beside `beside` (the active group).
    pub fn add(&mut self, group: u64, beside: Option<u64>, location: &str) {
        let horizontal = match location {
            "vsplit" => true,
            "hsplit" => false,
            _ => self.opts.get("split_axis").and_then(Value::as_str) != Some("vertical"),
        };
        self.pairs.split(
            beside,
            group,
            horizontal,
            location != "before" && location != "first",
        );
    }

    /// A group is gone.
    pub fn remove(&mut self, group: u64) {
        let pairs = std::mem::take(&mut self.pairs);
        self.pairs = pairs.retained(&|g| (g != group).then_some(g));
    }

    /// Whether new windows go behind the active one rather than to the end.
    pub fn adds_beside_active(&self) -> bool {
        self.name == "splits"
    }

    /// The state kitty saves and shows, with the part about windows given.
    pub fn state(&self, all_windows: Value) -> Value {
        let mut map = Map::new();
        if self.name == "splits" {
            map.insert("pairs".into(), self.pairs.to_json());
        }
        map.extend(self.extra.clone());
        map.insert("opts".into(), Value::Object(self.opts.clone()));
        map.insert("class".into(), json!(self.class()));
        map.insert("all_windows".into(), all_windows);
        Value::Object(map)
    }

    /// Takes over a saved state of the same class; `map` says which saved group is which group now, `all`
    /// are the groups that must be in the tree afterwards.
    pub fn restore(&mut self, state: &Value, map: &HashMap<u64, u64>, all: &[u64]) {
        if let Some(Value::Object(opts)) = state.get("opts") {
            self.opts = opts.clone();
        }
        for (key, value) in &mut self.extra {
            if let Some(saved) = state.get(key) {
                *value = saved.clone();
            }
        }
        if let Some(pairs) = state.get("pairs").filter(|_| self.name == "splits") {
            self.pairs = Pair::from_json(pairs)
                .retained(&|g| map.get(&g).copied().filter(|g| all.contains(g)));
        }
        for g in all {
            if !self.pairs.contains(*g) {
                self.pairs.split(None, *g, true, true);
            }
        }
    }

    /// Where each group is, in an area of `w` by `h` cells.
    pub fn place(&self, groups: &[u64], w: u16, h: u16) -> HashMap<u64, Rect> {
        let mut out = HashMap::new();
        let whole = Rect { x: 0, y: 0, w, h };
        match self.name.as_str() {
            "splits" => self.pairs.place(whole, &mut out),
            "stack" => out.extend(groups.iter().map(|g| (*g, whole))),
            "horizontal" => share(groups, whole, true, &mut out),
            "vertical" => share(groups, whole, false, &mut out),
            "grid" => {
                let columns = (1..).find(|n| n * n >= groups.len()).unwrap_or(1);
                let rows = groups.len().div_ceil(columns.max(1)).max(1);
                let mut bands = HashMap::new();
                let chunks: Vec<&[u64]> = groups.chunks(rows).collect();
                share(
                    &(0..chunks.len() as u64).collect::<Vec<_>>(),
                    whole,
                    true,
                    &mut bands,
                );
                for (i, chunk) in chunks.iter().enumerate() {
                    share(chunk, bands[&(i as u64)], false, &mut out);
                }
            }
            name => {
                let across = name == "tall";
                let full = self
                    .opts
                    .get("full_size")
                    .and_then(Value::as_u64)
                    .unwrap_or(1)
                    .max(1) as usize;
                let (main, rest) = groups.split_at(full.min(groups.len()));
                let mut bands = HashMap::new();
                let n = if rest.is_empty() { 1 } else { 2 };
                share(&(0..n).collect::<Vec<_>>(), whole, across, &mut bands);
                share(main, bands[&0], across, &mut out);
                if let Some(band) = bands.get(&1) {
                    share(rest, *band, !across, &mut out);
                }
            }
        }
        out
    }
}

/// Shares an area evenly, one cell of border between two groups.
fn share(groups: &[u64], r: Rect, across: bool, out: &mut HashMap<u64, Rect>) {
    let n = groups.len() as u16;
    if n == 0 {
        return;
    }
    let whole = if across { r.w } else { r.h };
    let each = (whole.saturating_sub(n - 1) / n).max(1);
    for (i, g) in groups.iter().enumerate() {
        let at = i as u16 * (each + 1);
        let size = if i + 1 == groups.len() {
            whole.saturating_sub(at).max(1)
        } else {
            each
        };
        let rect = if across {
            Rect {
                x: r.x + at,
                w: size,
                ..r
            }
        } else {
            Rect {
                y: r.y + at,
                h: size,
                ..r
            }
        };
        out.insert(*g, rect);
    }
}

/// The groups on each side of `group`; a side without any is left out.
pub fn neighbors(places: &HashMap<u64, Rect>, order: &[u64], group: u64) -> Map<String, Value> {
    let mut map = Map::new();
    let Some(me) = places.get(&group) else {
        return map;
    };
    let overlap = |a: u16, an: u16, b: u16, bn: u16| a < b + bn && b < a + an;
    let mut side = |name: &str, test: &dyn Fn(&Rect) -> bool| {
        let found: Vec<u64> = order
            .iter()
            .copied()
            .filter(|g| *g != group && places.get(g).is_some_and(test))
            .collect();
        if !found.is_empty() {
            map.insert(name.to_owned(), json!(found));
        }
    };
    side("left", &|o| {
        o.x + o.w + 1 == me.x && overlap(o.y, o.h, me.y, me.h)
    });
    side("right", &|o| {
        me.x + me.w + 1 == o.x && overlap(o.y, o.h, me.y, me.h)
    });
    side("top", &|o| {
        o.y + o.h + 1 == me.y && overlap(o.x, o.w, me.x, me.w)
    });
    side("bottom", &|o| {
        me.y + me.h + 1 == o.y && overlap(o.x, o.w, me.x, me.w)
    });
    map
}
