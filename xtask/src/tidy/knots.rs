//! Circles between the modules of a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::debts::{Debts, FILE};
use super::finding::Finding;
use super::graph::Graph;

/// The graphs of modules, by library or program.
pub(super) type Graphs = BTreeMap<String, Graph>;

/// The edges of circles, by library or program, as `from -> to`.
pub(super) fn edges(graphs: &Graphs) -> BTreeMap<String, BTreeSet<String>> {
    let edges = graphs.iter().map(|(owner, graph)| {
        let links = graph.knots().into_iter().flat_map(|knot| graph.links_within(&knot));
        let edges: BTreeSet<_> = links.map(|(from, to, _)| arrow(from, to)).collect();
        (owner.clone(), edges)
    });
    edges.filter(|(_, edges)| !edges.is_empty()).collect()
}

/// The findings about edges of circles that are not tolerated, and about tolerated ones that are none.
pub(super) fn check(graphs: &Graphs, debts: &Debts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (owner, graph) in graphs {
        for (from, to, edge) in graph.knots().into_iter().flat_map(|knot| graph.links_within(&knot)) {
            if debts
                .knots
                .get(owner)
                .is_some_and(|edges| edges.contains(&arrow(from, to)))
            {
                continue;
            }
            let back = graph.path(to, from).unwrap_or_default().join(" -> ");
            let fault = format!(
                "{from} uses {to} ({} times), which uses it over {back}: a new circle",
                edge.count
            );
            let help = format!("move the shared part below both; `cargo xtask tidy --graph {owner}` shows it");
            findings.push(Finding::new(
                (edge.example.file.clone(), edge.example.line),
                fault,
                help,
            ));
        }
    }
    let now = edges(graphs);
    for (owner, tolerated) in &debts.knots {
        let now = now.get(owner).cloned().unwrap_or_default();
        for edge in tolerated.difference(&now) {
            let fault = format!("{owner}: {edge} is not part of a circle any more");
            findings.push(Finding::new((FILE, 0), fault, "type `cargo xtask tidy --shrink`"));
        }
    }
    findings
}

/// Lists the knots: their modules, and each edge with its number of references and one example.
pub(super) fn list(graphs: &Graphs) -> Vec<String> {
    let mut lines = Vec::new();
    for (owner, graph) in graphs {
        for knot in graph.knots() {
            let modules: Vec<_> = knot.iter().copied().collect();
            lines.push(format!(
                "{owner}: a knot of {} modules: {}",
                modules.len(),
                modules.join(", ")
            ));
            for (from, to, edge) in graph.links_within(&knot) {
                let (file, line) = (&edge.example.file, edge.example.line);
                lines.push(format!("{file}:{line}: {from} -> {to}, {} references", edge.count));
            }
        }
    }
    lines
}

fn arrow(from: &str, to: &str) -> String {
    format!("{from} -> {to}")
}
