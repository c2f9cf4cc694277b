//! The content of the generated tables, and access to fields.

use std::collections::BTreeMap;

use planesmith_machinery::facts::{ListType, Listing, Omit, PatchFacts, Rule, TypeFacts};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::{Object, Resource as _};
use planesmith_machinery::resource::{CellSource, Generation, NameRule, Scope, SubresourceKind};
use planesmith_machinery::table::Cell;
use planesmith_machinery::value::{Slot, Struct as _, View};
use planesmith_machinery::{Resource, Struct};

/// A port
/// of something.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "WidgetPort")]
struct Port {
    /// Name of the port.
    #[field(proto = 1, required, pattern = "^[a-z]+$")]
    name: String,
    #[field(proto = 2, keep, minimum = 1, maximum = 65535, default = 80)]
    port: i32,
    #[field(name = "nodeIP", omit_zero, one_of("A", "B"), default = "A")]
    node_ip: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct WidgetSpec {
    #[field(list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    ports: Vec<Port>,
    #[field(atomic, immutable)]
    selector: BTreeMap<String, String>,
    nested: Option<Box<WidgetSpec>>,
    #[field(expected, known("plain", "odd"))]
    r#type: String,
    #[field(known = self::colors::ALL, max_length = 5)]
    color: String,
    #[field(keep, optional)]
    size: i64,
}

mod colors {
    pub(super) const ALL: &[&str] = &["red", "green"];
}

/// A widget.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1alpha1",
    short("wd"),
    categories("all"),
    storage_version = Gadget,
    convert,
    scale(spec = "spec.size", status = "spec.size"),
    subresource = "log",
    selectable("spec.type"),
    column(name),
    column(name = "Ports", type = "integer", with = ports),
    column(age),
    deprecated = "old",
)]
#[resource(generation)]
struct Widget {
    metadata: ObjectMeta,
    #[field(moved_to = "content")]
    spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", kind = "Widget", cluster, unserved, strategy, name_rule = path_segment)]
struct Gadget {
    metadata: ObjectMeta,
    content: WidgetSpec,
}

impl planesmith_machinery::strategy::Strategy for Gadget {
    fn set_defaults(&mut self) {
        self.content.r#type = "filled".to_owned();
    }
}

impl planesmith_machinery::resource::Convert<Gadget> for Widget {
    fn finish_to_hub(&self, hub: &mut Gadget) {
        hub.content.r#type.push('>');
    }

    fn finish_from_hub(&mut self, _: &Gadget) {
        self.spec.r#type.push('<');
    }
}

fn ports(widget: &Widget) -> Cell {
    Cell::Integer(widget.spec.ports.len() as i64)
}

#[test]
fn field_facts_are_what_was_declared() {
    let facts = Port::default().facts();
    assert_eq!((facts.name, facts.doc), ("WidgetPort", "A port of something."));
    let [name, port, node_ip] = facts.fields else {
        panic!("three fields")
    };
    assert_eq!(
        (name.name, name.proto, name.omit, name.required),
        ("name", 1, Omit::Empty, true)
    );
    assert_eq!(name.rules, [Rule::Pattern("^[a-z]+$")]);
    assert_eq!(name.doc, "Name of the port.");
    assert_eq!((port.omit, port.default), (Omit::Never, Some("80")));
    assert_eq!(port.rules, [Rule::Minimum(1), Rule::Maximum(65535)]);
    assert_eq!(
        (node_ip.name, node_ip.omit, node_ip.default),
        ("nodeIP", Omit::Zero, Some("\"A\""))
    );
    assert!(matches!(node_ip.ty, TypeFacts::Optional(TypeFacts::String)));

    let [ports, selector, nested, ty, color, size] = WidgetSpec::default().facts().fields else {
        panic!("six fields")
    };
    assert_eq!(ports.list, ListType::Map(&["name"]));
    assert_eq!(
        ports.patch,
        Some(PatchFacts {
            merge: true,
            retain_keys: false,
            replace: false,
            merge_key: "name"
        })
    );
    assert!(selector.atomic && selector.rules == [Rule::Immutable]);
    assert!(matches!(nested.ty, TypeFacts::Optional(TypeFacts::Struct(facts)) if facts().name == "WidgetSpec"));
    assert_eq!((ty.name, ty.listing), ("type", Listing::Required));
    assert_eq!(ty.rules, [Rule::KnownValues(&["plain", "odd"])]);
    assert_eq!(color.rules, [Rule::KnownValues(&["red", "green"]), Rule::MaxLength(5)]);
    assert!(ty.is_listed_as_required() && port.listing == Listing::AsWritten);
    assert_eq!((size.omit, size.listing), (Omit::Never, Listing::Optional));
    assert!(!size.is_listed_as_required());
}

#[test]
fn fields_are_read_and_written_by_index() {
    let mut port = Port {
        name: "web".to_owned(),
        ..Port::default()
    };
    assert!(matches!(port.field(0).view(), View::Str("web")));
    if let Slot::Int32(number) = port.field_mut(1).slot() {
        *number = 8080;
    }
    assert_eq!(port.port, 8080);
    port.field_mut(0).reset();
    assert_eq!(port.name, "");
}

#[test]
fn formats_of_serde_read_and_write_derived_types() {
    let port: Port = serde_json::from_str(r#"{"name":"web","port":1,"more":true}"#).expect("a port");
    assert_eq!(
        serde_json::to_string(&port).expect("a port"),
        r#"{"name":"web","port":1}"#
    );
    let widget = serde_json::to_value(Gadget::default()).expect("a kind");
    assert_eq!(widget["apiVersion"], "shop.example.com/v1");
}

#[test]
fn kind_facts_are_what_was_declared() {
    let facts = Widget::RESOURCE;
    assert_eq!(
        (&*facts.group, &*facts.version, &*facts.api_version),
        ("shop.example.com", "v1alpha1", "shop.example.com/v1alpha1")
    );
    assert_eq!(
        (&*facts.kind, &*facts.list_kind, &*facts.plural, &*facts.singular),
        ("Widget", "WidgetList", "widgets", "widget")
    );
    assert_eq!(
        (&*facts.short_names, &*facts.categories),
        (&["wd".into()] as &[_], &["all".into()] as &[_])
    );
    assert_eq!(
        (facts.scope, facts.served, facts.deprecated.as_deref()),
        (Scope::Namespaced, true, Some("old"))
    );
    assert_eq!(*facts.selectable, ["spec.type"]);
    let names: Vec<_> = facts.subresources.iter().map(|subresource| subresource.name).collect();
    assert_eq!(names, ["log", "scale"]);
    assert!(matches!(&facts.subresources[1].kind, SubresourceKind::Scale(scale) if scale.selector.is_empty()));
    let type_meta = facts.fields().type_meta.expect("a kind writes its type");
    assert_eq!(
        (type_meta.api_version, type_meta.kind),
        ("shop.example.com/v1alpha1", "Widget")
    );
    assert_eq!(facts.behavior.generation, Generation::Content);
    assert!(!facts.behavior.create_on_update);

    let hub = facts.hub();
    assert_eq!((&*hub.version, hub.scope, hub.served), ("v1", Scope::Cluster, false));
    assert_eq!((&*hub.kind, hub.name_rule), ("Widget", NameRule::PathSegment));
}

#[test]
fn functions_beside_a_kind_are_reached_through_its_table() {
    let facts = Widget::RESOURCE;
    let mut widget = facts.zero();
    let mut gadget = facts.hub().zero();
    facts.hub().strategy.set_defaults(gadget.as_mut());
    let conversion = facts.conversion.expect("v1alpha1 is not the storage version");
    (conversion.finish_to_hub)(widget.as_ref(), gadget.as_mut());
    (conversion.finish_from_hub)(gadget.as_ref(), widget.as_mut());
    assert_eq!(
        gadget
            .downcast_ref::<Gadget>()
            .map(|gadget| gadget.content.r#type.as_str()),
        Some("filled>")
    );
    assert_eq!(
        widget
            .downcast_ref::<Widget>()
            .map(|widget| widget.spec.r#type.as_str()),
        Some("<")
    );

    let CellSource::Function(cell) = facts.columns[1].source else {
        panic!("a function")
    };
    assert_eq!(cell(widget.as_ref()), Cell::Integer(0));
    assert_eq!([&*facts.columns[0].name, &*facts.columns[2].name], ["Name", "Age"]);
    let copy: Box<dyn Object> = widget.clone();
    assert_eq!(copy.resource().kind, "Widget");
}
