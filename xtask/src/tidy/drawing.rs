//! The picture of a crate's modules, for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cut;
use super::graph::Graph;

/// `graph` in Graphviz's language: edges of knots in black, the suggested cuts in red, the rest in grey. Each edge shows
/// how many references it has. The knots and the cuts are also listed in comments at the end.
pub(super) fn draw(name: &str, graph: &Graph) -> String {
    let knots = graph.knots();
    let within: Vec<_> = knots.iter().map(|knot| graph.links_within(knot)).collect();
    let cuts: Vec<_> = within.iter().map(|links| cut::cheapest(links)).collect();
    let knotted: BTreeSet<_> = within.iter().flatten().map(|(from, to, _)| (*from, *to)).collect();
    let cut: BTreeSet<_> = cuts.iter().flatten().map(|(from, to, _)| (*from, *to)).collect();

    let mut text = format!("digraph \"{name}\" {{\n    node [shape=box];\n");
    for node in graph.nodes() {
        let _ = writeln!(text, "    \"{node}\";");
    }
    for (from, to, edge) in graph.links() {
        let colour = match (from, to) {
            link if cut.contains(&link) => "red",
            link if knotted.contains(&link) => "black",
            _ => "grey",
        };
        let count = edge.count;
        let _ = writeln!(text, "    \"{from}\" -> \"{to}\" [label={count}, color={colour}];");
    }
    text.push_str("}\n");
    for (knot, cuts) in knots.iter().zip(&cuts) {
        let nodes: Vec<_> = knot.iter().copied().collect();
        let _ = writeln!(text, "// knot of {} modules: {}", nodes.len(), nodes.join(", "));
        let references: usize = cuts.iter().map(|(_, _, edge)| edge.count).sum();
        let _ = writeln!(text, "// cut {} edges with {references} references:", cuts.len());
        for (from, to, edge) in cuts {
            let example = &edge.example;
            let _ = writeln!(
                text,
                "//   {from} -> {to}: {}, such as {}:{}",
                edge.count, example.file, example.line
            );
        }
    }
    if knots.is_empty() {
        text.push_str("// no circles\n");
    }
    text
}
