//! Sets of fields.

use std::cmp::Ordering;

use planesmith_wire::sorting::sort_by;

use super::element::PathElement;

/// A set of fields, as a tree of steps. A field and the fields below it are members independently of each other.
///
/// Parts are borrowed from the objects and the JSON that the set was made of; [`Set::into_owned`] cuts that tie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set<'a> {
    /// Sorted by element, each once; every node is a member or has children.
    nodes: Vec<Node<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node<'a> {
    pub(super) element: PathElement<'a>,
    pub(super) member: bool,
    pub(super) children: Set<'a>,
}

impl Node<'_> {
    fn is_needed(&self) -> bool {
        self.member || !self.children.is_empty()
    }
}

impl<'a> Set<'a> {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// The set of these paths.
    pub fn of<P: IntoIterator<Item = PathElement<'a>>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(path);
        }
        set
    }

    /// True if no field is a member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of fields that are members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes
            .iter()
            .map(|node| usize::from(node.member) + node.children.len())
            .sum()
    }

    /// Makes the field at `path` a member; those above it stay what they are. The empty path is ignored.
    pub fn insert(&mut self, path: impl IntoIterator<Item = PathElement<'a>>) {
        let mut path = path.into_iter().peekable();
        let mut set = self;
        while let Some(element) = path.next() {
            let node = set.node(element);
            if path.peek().is_none() {
                node.member = true;
                return;
            }
            set = &mut node.children;
        }
    }

    /// True if the field at `path` is a member.
    #[must_use]
    pub fn contains(&self, path: &[PathElement<'_>]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        let Some(node) = self.find(first) else { return false };
        if rest.is_empty() {
            node.member
        } else {
            node.children.contains(rest)
        }
    }

    /// The fields below one step; `None` when there are none.
    pub(crate) fn below(&self, step: &PathElement<'_>) -> Option<&Set<'a>> {
        let node = self.find(step)?;
        (!node.children.is_empty()).then_some(&node.children)
    }

    /// Calls `visit` for each first step, with true if the field is a member, and the fields below it.
    pub(crate) fn each_step<'s>(&'s self, visit: &mut dyn FnMut(&'s PathElement<'a>, bool, &'s Set<'a>)) {
        for node in &self.nodes {
            visit(&node.element, node.member, &node.children);
        }
    }

    /// Calls `visit` with the path of each member, in order.
    pub fn each(&self, visit: &mut dyn FnMut(&[&PathElement<'a>])) {
        self.each_below(&mut Vec::new(), visit);
    }

    fn each_below<'s>(&'s self, path: &mut Vec<&'s PathElement<'a>>, visit: &mut dyn FnMut(&[&PathElement<'a>])) {
        for node in &self.nodes {
            path.push(&node.element);
            if node.member {
                visit(path);
            }
            node.children.each_below(path, visit);
            path.pop();
        }
    }

    /// The same set without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> Set<'static> {
        let owned = |node: Node<'a>| Node {
            element: node.element.into_owned(),
            member: node.member,
            children: node.children.into_owned(),
        };
        Set {
            nodes: self.nodes.into_iter().map(owned).collect(),
        }
    }
}

/// Algebra. Membership of a field says nothing about the fields below it, except in [`Set::remove_below`].
impl<'a> Set<'a> {
    /// Adds the members of `other`.
    #[must_use]
    pub fn union(self, other: Set<'a>) -> Self {
        if self.is_empty() {
            return other;
        }
        let mut left = self.nodes.into_iter().peekable();
        let mut right = other.nodes.into_iter().peekable();
        let mut nodes = Vec::with_capacity(left.len().max(right.len()));
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(left), Some(right)) => left.element.cmp(&right.element),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Self { nodes },
            };
            let mut node = match order {
                Ordering::Less | Ordering::Equal => left.next(),
                Ordering::Greater => right.next(),
            };
            if order == Ordering::Equal
                && let (Some(node), Some(other)) = (&mut node, right.next())
            {
                node.member |= other.member;
                node.children = std::mem::take(&mut node.children).union(other.children);
            }
            nodes.extend(node);
        }
    }

    /// The members of all sets. Neighbours are put together first: one big set that takes one small set after the other
    /// would be copied each time, and a client can send thousands.
    #[must_use]
    pub(crate) fn union_of(mut sets: Vec<Self>) -> Self {
        while sets.len() > 1 {
            let mut pairs = sets.into_iter();
            let mut halved = Vec::with_capacity(pairs.len().div_ceil(2));
            while let Some(left) = pairs.next() {
                halved.push(left.union(pairs.next().unwrap_or_default()));
            }
            sets = halved;
        }
        sets.pop().unwrap_or_default()
    }

    /// Keeps the members that are members of `other` too.
    #[must_use]
    pub fn intersection(mut self, other: &Set<'_>) -> Self {
        self.nodes.retain_mut(|node| {
            let Some(other) = other.find(&node.element) else {
                return false;
            };
            node.member &= other.member;
            node.children = std::mem::take(&mut node.children).intersection(&other.children);
            node.is_needed()
        });
        self
    }

    /// Removes the members of `other`.
    pub fn remove(&mut self, other: &Set<'_>) {
        if other.is_empty() {
            return;
        }
        self.nodes.retain_mut(|node| {
            let Some(other) = other.find(&node.element) else {
                return true;
            };
            node.member &= !other.member;
            node.children.remove(&other.children);
            node.is_needed()
        });
    }

    /// Removes the members of `other` and everything below them.
    pub fn remove_below(&mut self, other: &Set<'_>) {
        self.nodes.retain_mut(|node| match other.find(&node.element) {
            None => true,
            Some(other) if other.member => false,
            Some(other) => {
                node.children.remove_below(&other.children);
                node.is_needed()
            }
        });
    }

    /// True if a field is a member of both.
    #[must_use]
    pub fn intersects(&self, other: &Set<'_>) -> bool {
        self.nodes.iter().any(|node| {
            other
                .find(&node.element)
                .is_some_and(|other| (node.member && other.member) || node.children.intersects(&other.children))
        })
    }
}

/// Building in any order.
impl<'a> Set<'a> {
    pub(super) fn nodes(&self) -> &[Node<'a>] {
        &self.nodes
    }

    /// Appends a node without looking at the order; [`Set::settle`] must follow.
    pub(crate) fn push(&mut self, element: PathElement<'a>, member: bool, children: Set<'a>) {
        let node = Node {
            element,
            member,
            children,
        };
        if node.is_needed() {
            self.nodes.push(node);
        }
    }

    /// Restores the order after [`Set::push`], and merges nodes of one element.
    pub(crate) fn settle(&mut self) {
        if self.nodes.is_sorted_by(|left, right| left.element < right.element) {
            return;
        }
        sort_by(&mut self.nodes, |left, right| left.element.cmp(&right.element));
        self.nodes.dedup_by(|later, earlier| {
            let same = later.element == earlier.element;
            if same {
                earlier.member |= later.member;
                let children = std::mem::take(&mut later.children);
                earlier.children = std::mem::take(&mut earlier.children).union(children);
            }
            same
        });
    }

    fn node(&mut self, element: PathElement<'a>) -> &mut Node<'a> {
        let index = match self.nodes.binary_search_by(|node| node.element.cmp(&element)) {
            Ok(index) => index,
            Err(index) => {
                self.nodes.insert(
                    index,
                    Node {
                        element,
                        member: false,
                        children: Set::new(),
                    },
                );
                index
            }
        };
        &mut self.nodes[index]
    }

    fn find(&self, element: &PathElement<'_>) -> Option<&Node<'a>> {
        // Elements are compared across lifetimes: the order does not depend on what is borrowed.
        let index = self
            .nodes
            .binary_search_by(|node| compare_elements(&node.element, element))
            .ok()?;
        Some(&self.nodes[index])
    }
}

fn compare_elements<'x>(left: &PathElement<'x>, right: &PathElement<'x>) -> Ordering {
    left.cmp(right)
}

#[cfg(test)]
mod tests;
