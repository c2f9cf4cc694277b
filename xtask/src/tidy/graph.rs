//! A directed graph of named nodes, and its strongly connected components.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A directed graph. Everything comes out in the order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Graph {
    edges: BTreeMap<String, BTreeMap<String, Edge>>,
}

/// The references from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The number of references.
    pub(super) count: usize,
    /// The first of them.
    pub(super) example: Site,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    /// The file, relative to the workspace.
    pub(super) file: String,
    /// The line, counted from 1.
    pub(super) line: usize,
}

/// An edge between the nodes of one component: from, to, and its references.
pub(super) type Link<'a> = (&'a str, &'a str, &'a Edge);

impl Graph {
    /// Adds a node without edges.
    pub(super) fn add_node(&mut self, name: &str) {
        self.edges.entry(name.to_owned()).or_default();
    }

    /// Adds a reference, and the nodes that it lacks.
    pub(super) fn add_edge(&mut self, from: &str, to: &str, site: Site) {
        self.add_node(to);
        let edges = self.edges.entry(from.to_owned()).or_default();
        let edge = edges.entry(to.to_owned()).or_insert_with(|| Edge {
            count: 0,
            example: site.clone(),
        });
        edge.count += 1;
        edge.example = site.min(edge.example.clone());
    }

    /// The names of the nodes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.edges.keys().map(String::as_str)
    }

    /// All edges.
    pub(super) fn links(&self) -> impl Iterator<Item = Link<'_>> {
        let links = self.edges.iter();
        links.flat_map(|(from, edges)| edges.iter().map(|(to, edge)| (from.as_str(), to.as_str(), edge)))
    }

    /// The edges between nodes of `component`.
    pub(super) fn links_within(&self, component: &BTreeSet<&str>) -> Vec<Link<'_>> {
        self.links()
            .filter(|(from, to, _)| component.contains(from) && component.contains(to))
            .collect()
    }

    /// The nodes that `from` has edges to.
    fn successors(&self, from: &str) -> impl Iterator<Item = &str> {
        self.edges
            .get(from)
            .into_iter()
            .flat_map(|edges| edges.keys().map(String::as_str))
    }

    /// The strongly connected components of more than one node, largest first.
    pub(super) fn knots(&self) -> Vec<BTreeSet<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> = self.nodes().map(|node| (node, self.reachable(node))).collect();
        let mut knots: Vec<BTreeSet<&str>> = Vec::new();
        for node in self.nodes() {
            if knots.iter().any(|knot| knot.contains(node)) {
                continue;
            }
            let circle: BTreeSet<&str> = reached[node]
                .iter()
                .copied()
                .filter(|other| reached[other].contains(node))
                .collect();
            if circle.len() > 1 {
                knots.push(circle);
            }
        }
        knots.sort_by_key(|knot| std::cmp::Reverse(knot.len()));
        knots
    }

    /// The nodes that a way from `from` leads to; `from` itself only if it is in a circle.
    fn reachable(&self, from: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = self.successors(from).collect();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(self.successors(node));
            }
        }
        reached
    }

    /// A shortest way from one node to another, both included.
    pub(super) fn path<'a>(&'a self, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
        let mut before: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            if node == to {
                let mut path = vec![to];
                while let Some(node) = path.last().and_then(|node| before.get(node)) {
                    path.push(node);
                }
                path.reverse();
                return Some(path);
            }
            for next in self.successors(node) {
                if next != from && !before.contains_key(next) {
                    before.insert(next, node);
                    open.push_back(next);
                }
            }
        }
        None
    }
}
