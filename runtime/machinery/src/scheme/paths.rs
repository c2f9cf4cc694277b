//! Checks the dotted paths in the attributes of kinds against the types that they lead to. Derives check two levels of
//! structs; this module checks the rest.

use super::SchemeError;
use crate::facts::{PathError, PathUse, check_whole_path};
use crate::resource::{CellSource, ResourceTable, SubresourceKind};

/// Reports the paths of a kind that lead to no field, or to values of an unsuitable type.
pub(super) fn check_paths(facts: &ResourceTable, problems: &mut Vec<SchemeError>) {
    for (key, path, used) in paths(facts) {
        let problem = match check_whole_path((facts.schema)(), path, used) {
            Ok(()) => continue,
            Err(PathError::NoSuchField) => "which is not a field",
            Err(PathError::WrongType) => "whose type does not fit",
        };
        problems.push(SchemeError::UnsuitablePath {
            kind: facts.group_version_kind(),
            key,
            path: path.to_owned().into(),
            problem,
        });
    }
}

/// Returns the paths of a kind, each with its key and use.
fn paths(facts: &ResourceTable) -> Vec<(&'static str, &str, PathUse)> {
    let mut paths: Vec<(&'static str, &str, PathUse)> = Vec::new();
    for subresource in &*facts.subresources {
        if let SubresourceKind::Scale(scale) = &subresource.kind {
            paths.extend([
                ("scale", &*scale.spec_replicas, PathUse::Integer),
                ("scale", &*scale.status_replicas, PathUse::Integer),
                ("scale", &*scale.selector, PathUse::Selector),
            ]);
        }
    }
    let selectable = facts.selectable.iter();
    paths.extend(selectable.map(|path| ("selectable", &**path, PathUse::Selectable)));
    for column in &*facts.columns {
        if let CellSource::Path(path) = column.source {
            let used = match &*column.ty {
                "integer" | "number" => PathUse::Number,
                "boolean" => PathUse::Boolean,
                "date" => PathUse::Date,
                _ => PathUse::Any,
            };
            paths.push(("column", path, used));
        }
    }
    paths.retain(|(_, path, _)| !path.is_empty());
    paths
}

#[cfg(test)]
mod tests {
    use crate::meta::ObjectMeta;
    use crate::scheme::Scheme;
    use crate::{Resource, Struct};

    /// The innermost struct.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Size {
        /// Text.
        replicas: String,
    }

    /// A struct between.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Spec {
        /// The size.
        size: Size,
    }

    /// A kind whose scale is two structs deep.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(
        group = "test.example.com",
        version = "v1",
        scale(spec = "spec.size.replicas", status = "spec.size.replicas"),
        selectable("spec.size.replicas"),
        column(name = "Wide", type = "string", path = "spec.size.wide")
    )]
    struct Tent {
        /// Metadata.
        metadata: ObjectMeta,
        /// The content.
        spec: Spec,
    }

    #[test]
    fn paths_of_any_depth_fit_their_types() {
        let mut scheme = Scheme::new();
        scheme.add::<Tent>();
        let problems = scheme.check().expect_err("paths that do not fit");
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let scale = "test.example.com/v1, Kind=Tent: `scale` names \"spec.size.replicas\", whose type does not fit";
        let column = "test.example.com/v1, Kind=Tent: `column` names \"spec.size.wide\", which is not a field";
        assert_eq!(messages, [scale, scale, column]);
    }
}
