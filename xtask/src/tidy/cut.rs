//! The cheapest edges to cut so that a knot becomes layers.

use std::collections::BTreeMap;

use super::graph::Link;

/// The edges of a knot whose removal leaves no circle, cheapest first; the cost is the number of references.
///
/// The nodes are put in an order, and the edges that point backwards are cut. Starting from several orders, single nodes
/// move while that makes the cut cheaper. The result is small, though not always the smallest there is.
pub(super) fn cheapest<'a>(links: &[Link<'a>]) -> Vec<Link<'a>> {
    let mut names: Vec<&str> = links.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    names.sort_unstable();
    names.dedup();
    let numbers: BTreeMap<&str, usize> = names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let mut costs = vec![vec![0; names.len()]; names.len()];
    for (from, to, edge) in links {
        costs[numbers[from]][numbers[to]] = edge.count;
    }
    let starts = (0..names.len()).flat_map(|turn| {
        let mut start = greedy(&costs);
        start.rotate_left(turn);
        let mut plain: Vec<_> = (0..names.len()).collect();
        plain.rotate_left(turn);
        [start, plain]
    });
    let orders = starts.map(|start| improved(start, &costs));
    let Some(order) = orders.min_by_key(|order| cost(order, &costs)) else {
        return Vec::new();
    };
    let mut places = vec![0; names.len()];
    for (place, node) in order.into_iter().enumerate() {
        places[node] = place;
    }
    let backwards = |(from, to, _): &&Link<'a>| places[numbers[from]] > places[numbers[to]];
    let mut cut: Vec<_> = links.iter().filter(backwards).copied().collect();
    cut.sort_by_key(|(from, to, edge)| (edge.count, *from, *to));
    cut
}

/// Users first: the node with the largest surplus of outgoing over incoming references is taken next.
fn greedy(costs: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..costs.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let surplus = |node: usize| {
            let outgoing: usize = left.iter().map(|other| costs[node][*other]).sum();
            let incoming: usize = left.iter().map(|other| costs[*other][node]).sum();
            outgoing.cast_signed() - incoming.cast_signed()
        };
        let best = (0..left.len()).max_by_key(|place| surplus(left[*place])).unwrap_or(0);
        order.push(left.remove(best));
    }
    order
}

/// Moves single nodes to their best places until none gets better.
fn improved(mut order: Vec<usize>, costs: &[Vec<usize>]) -> Vec<usize> {
    let mut moved = true;
    while moved {
        moved = false;
        for place in 0..order.len() {
            if let Some(better) = better_place(&order, place, costs) {
                let node = order.remove(place);
                order.insert(better, node);
                moved = true;
            }
        }
    }
    order
}

/// The place where the node at `place` would cost least; `None` if that is where it is.
fn better_place(order: &[usize], place: usize, costs: &[Vec<usize>]) -> Option<usize> {
    let node = order[place];
    // A step down over a neighbour turns its edges to the node forward, and the node's edges to it backward.
    let gain = |over: usize| costs[over][node].cast_signed() - costs[node][over].cast_signed();
    let (mut best, mut best_gain) = (None, 0);
    let (above, below) = (
        order[..place].iter().enumerate().rev(),
        order.iter().enumerate().skip(place + 1),
    );
    for (steps, sign) in [(above.collect::<Vec<_>>(), -1), (below.collect(), 1)] {
        let mut sum = 0;
        for (target, over) in steps {
            sum += sign * gain(*over);
            if sum > best_gain {
                (best, best_gain) = (Some(target), sum);
            }
        }
    }
    best
}

fn cost(order: &[usize], costs: &[Vec<usize>]) -> usize {
    let pairs = order
        .iter()
        .enumerate()
        .flat_map(|(place, node)| order[..place].iter().map(move |before| (*node, *before)));
    pairs.map(|(node, before)| costs[node][before]).sum()
}
