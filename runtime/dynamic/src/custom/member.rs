//! A member at the top of a custom object.

use serde_json::Value as Tree;

use planesmith_machinery::value::{Optional, Slot, Value, View};

/// Nothing, or a tree. That may be `null`, which is not nothing: it is a value where the schema says so, and wrong elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member(Option<Tree>);

impl Member {
    /// Something.
    pub(super) fn of(tree: Tree) -> Self {
        Member(Some(tree))
    }

    pub(super) fn get(&self) -> Option<&Tree> {
        self.0.as_ref()
    }

    /// Takes the tree out; nothing is left.
    pub(super) fn take(&mut self) -> Option<Tree> {
        self.0.take()
    }
}

impl Value for Member {
    fn view(&self) -> View<'_> {
        match &self.0 {
            None => View::Absent,
            // As a leaf it is written, and differs from nothing.
            Some(null @ Tree::Null) => View::Scalar(null),
            Some(tree) => tree.view(),
        }
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Optional(self)
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}

impl Optional for Member {
    fn is_some(&self) -> bool {
        self.0.is_some()
    }

    fn insert(&mut self) -> &mut dyn Value {
        self.0.get_or_insert(Tree::Null)
    }

    fn get_mut(&mut self) -> Option<&mut dyn Value> {
        self.0.as_mut().map(|tree| tree as &mut dyn Value)
    }

    fn clear(&mut self) {
        self.0 = None;
    }

    fn set_null(&mut self) {
        self.0 = Some(Tree::Null);
    }
}
