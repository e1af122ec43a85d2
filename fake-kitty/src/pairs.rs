//! The tree of the splits layout.

use crate::layout::Rect;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// One member of a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Group(u64),
    Pair(Box<Pair>),
}

/// The tree of the splits layout.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    horizontal: bool,
    bias: f64,
    one: Option<Node>,
    two: Option<Node>,
}

impl Default for Pair {
    fn default() -> Self {
        Pair {
            horizontal: true,
            bias: 0.5,
            one: None,
            two: None,
        }
    }
}

impl Pair {
    /// Splits the place of `existing` (or adds anywhere, when it is not in the tree).
    pub fn split(&mut self, existing: Option<u64>, new: u64, horizontal: bool, after: bool) {
        if self.one.is_none() || self.two.is_none() {
            let old = self.one.take().or_else(|| self.two.take());
            self.horizontal = horizontal;
            let new = Some(Node::Group(new));
            (self.one, self.two) = match old {
                None => (new, None),
                old if after => (old, new),
                old => (new, old),
            };
            return;
        }
        let target = existing
            .filter(|g| self.contains(*g))
            .or_else(|| self.last());
        if let Some(target) = target {
            self.split_at(target, new, horizontal, after);
        }
    }

    fn split_at(&mut self, target: u64, new: u64, horizontal: bool, after: bool) -> bool {
        for side in [&mut self.one, &mut self.two] {
            let hit = match side {
                Some(Node::Group(g)) if *g == target => {
                    let (a, b) = if after { (target, new) } else { (new, target) };
                    *side = Some(Node::Pair(Box::new(Pair {
                        horizontal,
                        bias: 0.5,
                        one: Some(Node::Group(a)),
                        two: Some(Node::Group(b)),
                    })));
                    true
                }
                Some(Node::Pair(p)) => p.split_at(target, new, horizontal, after),
                _ => false,
            };
            if hit {
                return true;
            }
        }
        false
    }

    fn groups(&self, out: &mut Vec<u64>) {
        for side in [&self.one, &self.two].into_iter().flatten() {
            match side {
                Node::Group(g) => out.push(*g),
                Node::Pair(p) => p.groups(out),
            }
        }
    }

    pub fn contains(&self, group: u64) -> bool {
        let mut all = Vec::new();
        self.groups(&mut all);
        all.contains(&group)
    }

    fn last(&self) -> Option<u64> {
        let mut all = Vec::new();
        self.groups(&mut all);
        all.pop()
    }

    /// Drops every group `keep` refuses and collapses pairs with one member.
    fn retain(self, keep: &dyn Fn(u64) -> Option<u64>) -> Option<Node> {
        let side = |n: Option<Node>| match n? {
            Node::Group(g) => keep(g).map(Node::Group),
            Node::Pair(p) => p.retain(keep),
        };
        match (side(self.one), side(self.two)) {
            (None, None) => None,
            (Some(n), None) | (None, Some(n)) => Some(n),
            (one, two) => Some(Node::Pair(Box::new(Pair {
                horizontal: self.horizontal,
                bias: self.bias,
                one,
                two,
            }))),
        }
    }

    pub fn retained(self, keep: &dyn Fn(u64) -> Option<u64>) -> Pair {
        match self.retain(keep) {
            None => Pair::default(),
            Some(Node::Pair(p)) => *p,
            leaf => Pair {
                one: leaf,
                ..Pair::default()
            },
        }
    }

    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        if !self.horizontal {
            map.insert("horizontal".into(), json!(false));
        }
        if self.bias != 0.5 {
            map.insert("bias".into(), json!(self.bias));
        }
        for (key, side) in [("one", &self.one), ("two", &self.two)] {
            match side {
                None => {}
                Some(Node::Group(g)) => drop(map.insert(key.into(), json!(g))),
                Some(Node::Pair(p)) => drop(map.insert(key.into(), p.to_json())),
            }
        }
        Value::Object(map)
    }

    pub fn from_json(v: &Value) -> Pair {
        let side = |key: &str| match v.get(key) {
            Some(Value::Number(n)) => n.as_u64().map(Node::Group),
            Some(o @ Value::Object(_)) => Some(Node::Pair(Box::new(Pair::from_json(o)))),
            _ => None,
        };
        Pair {
            horizontal: v.get("horizontal").and_then(Value::as_bool).unwrap_or(true),
            bias: v.get("bias").and_then(Value::as_f64).unwrap_or(0.5),
            one: side("one"),
            two: side("two"),
        }
    }

    pub fn place(&self, r: Rect, out: &mut HashMap<u64, Rect>) {
        let (Some(one), Some(two)) = (&self.one, &self.two) else {
            if let Some(only) = self.one.as_ref().or(self.two.as_ref()) {
                only.place(r, out);
            }
            return;
        };
        let part = |whole: u16| ((f64::from(whole.saturating_sub(1)) * self.bias) as u16).max(1);
        let (a, b) = if self.horizontal {
            let w = part(r.w);
            (
                Rect { w, ..r },
                Rect {
                    x: r.x + w + 1,
                    w: r.w.saturating_sub(w + 1).max(1),
                    ..r
                },
            )
        } else {
            let h = part(r.h);
            (
                Rect { h, ..r },
                Rect {
                    y: r.y + h + 1,
                    h: r.h.saturating_sub(h + 1).max(1),
                    ..r
                },
            )
        };
        one.place(a, out);
        two.place(b, out);
    }
}

impl Node {
    pub fn place(&self, r: Rect, out: &mut HashMap<u64, Rect>) {
        match self {
            Node::Group(g) => drop(out.insert(*g, r)),
            Node::Pair(p) => p.place(r, out),
        }
    }
}
