//! Layouts of kube-apiserver's internal types that differ from the versioned types.

use crate::facts::StructFacts;
use crate::value::Struct;

/// Returns the indexes of the fields of `object` in the order of Go; fields outside the layout come last.
pub(super) fn fields(object: &dyn Struct) -> Vec<usize> {
    let facts = object.facts();
    let Some(layout) = facts.internal else {
        return (0..facts.fields.len()).collect();
    };
    let mut order = places(object, layout.fields);
    let lent = layout.lent.map(|(_, fields)| fields).unwrap_or_default();
    let known = [layout.fields, lent, layout.left_out];
    let is_own = |place: &usize| !known.iter().any(|names| names.contains(&facts.fields[*place].name));
    order.extend((0..facts.fields.len()).filter(is_own));
    order
}

/// Returns the indexes of the fields of `object` that Go has at the start of its field `name`.
pub(super) fn lent(object: &dyn Struct, name: &str) -> Vec<usize> {
    match object.facts().internal.and_then(|layout| layout.lent) {
        Some((outer, fields)) if outer == name => places(object, fields),
        _ => Vec::new(),
    }
}

/// True if Go has 0 in the field `name` when it is absent.
pub(super) fn is_zero_if_absent(facts: &StructFacts, name: &str) -> bool {
    facts.internal.is_some_and(|layout| layout.zeros.contains(&name))
}

fn places(object: &dyn Struct, names: &[&str]) -> Vec<usize> {
    let fields = object.facts().fields;
    let place = |name: &&str| fields.iter().position(|field| field.name == *name);
    names.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Struct;
    use crate::facts::InternalLayout;

    /// In the internal type, `limits` comes first and contains `hosts`.
    static BOX: InternalLayout = InternalLayout {
        fields: &["limits", "contents"],
        lent: Some(("limits", &["hosts"])),
        left_out: &["old"],
        ..InternalLayout::SAME
    };

    /// A box.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    #[schema(internal = BOX)]
    struct Box {
        hosts: String,
        contents: String,
        old: String,
        limits: String,
        own: String,
    }

    #[test]
    fn fields_without_a_place_in_the_layout_come_last() {
        let object = Box::default();
        let shown: Vec<_> = fields(&object)
            .into_iter()
            .map(|place| object.facts().fields[place].name)
            .collect();
        assert_eq!(shown, ["limits", "contents", "own"]);
        assert_eq!(lent(&object, "limits"), [0]);
        assert_eq!(lent(&object, "contents"), [0; 0]);
    }
}
