//! The derives work in scopes where all common names have other meanings.

/// A module without a prelude, in which the names of the standard library refer to other items.
#[deny(warnings)]
mod no_prelude {
    #![no_implicit_prelude]
    #![allow(
        dead_code,
        non_camel_case_types,
        unused_macros,
        reason = "names that nobody uses are the point"
    )]

    mod core {}
    mod std {}
    mod alloc {}
    mod planesmith_machinery {}

    struct Option;
    struct Some;
    struct None;
    struct Box;
    struct Vec;
    struct Default;
    struct Any;
    struct Value;
    struct Object;
    struct Strategy;
    struct Extensions;
    type bool = Option;
    type str = Option;
    type u32 = Option;
    type usize = Option;

    /// A trait whose methods are candidates for method calls on any type.
    trait Clone {
        fn clone(&self) {}
        fn field(&self, _: usize) {}
        fn facts(&self) {}
        fn meta(&self) {}
        fn serialize(&self) {}
        fn default() {}
    }
    impl<T> Clone for T {}

    macro_rules! unreachable {
        ($($anything:tt)*) => {
            compile_error!("another macro was meant")
        };
    }
    macro_rules! panic {
        ($($anything:tt)*) => {
            compile_error!("another macro was meant")
        };
    }

    #[derive(
        ::core::clone::Clone,
        ::core::fmt::Debug,
        ::core::default::Default,
        ::core::cmp::PartialEq,
        ::planesmith_machinery::Struct,
    )]
    #[schema(atomic)]
    pub(super) struct Spec {
        #[field(proto = 1, one_of("A", "B"), default = "A", keep)]
        pub(super) r#type: ::std::string::String,
        #[field(minimum = 1, maximum = 9, immutable)]
        pub(super) __index: ::core::option::Option<::core::primitive::i32>,
        #[field(list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
        pub(super) __facts: ::std::vec::Vec<Spec>,
        #[field(omit_zero)]
        pub(super) next: ::core::option::Option<::std::boxed::Box<Spec>>,
        pub(super) size: ::core::primitive::i32,
    }

    #[derive(
        ::core::clone::Clone,
        ::core::fmt::Debug,
        ::core::default::Default,
        ::core::cmp::PartialEq,
        ::planesmith_machinery::Resource,
    )]
    #[resource(group = "shop.example.com", version = "v1alpha1", storage_version = Newer, deprecated = "old")]
    #[resource(
        status,
        scale(spec = "spec.size", status = "status.size"),
        subresource = "log",
        short("o")
    )]
    #[resource(column(name), column(name = "Type", type = "string", with = cell), selectable("spec.type"))]
    pub(super) struct Order {
        pub(super) metadata: ::planesmith_machinery::meta::ObjectMeta,
        pub(super) spec: Spec,
        pub(super) status: Spec,
    }

    #[derive(
        ::core::clone::Clone,
        ::core::fmt::Debug,
        ::core::default::Default,
        ::core::cmp::PartialEq,
        ::planesmith_machinery::Resource,
    )]
    #[resource(group = "shop.example.com", version = "v1", kind = "Order")]
    pub(super) struct Newer {
        pub(super) metadata: ::planesmith_machinery::meta::ObjectMeta,
    }

    fn cell(_: &Order) -> ::planesmith_machinery::table::Cell {
        ::planesmith_machinery::table::Cell::Null
    }
}

/// Types and names that come from a user's macro.
mod from_a_macro {
    use planesmith_machinery::Struct;

    macro_rules! pair {
        ($name:ident, $first:ident: $type:ty) => {
            #[derive(Clone, Debug, Default, PartialEq, Struct)]
            pub(super) struct $name {
                $first: $type,
                second: Option<$type>,
            }
        };
    }

    pair!(Pair, first: i64);
}

#[test]
fn derives_do_not_depend_on_names_in_scope() {
    use planesmith_machinery::object::Resource as _;
    use planesmith_machinery::value::Struct as _;

    assert_eq!(no_prelude::Spec::default().facts().fields.len(), 5);
    assert_eq!(no_prelude::Order::RESOURCE.hub().version, "v1");
    assert_eq!(from_a_macro::Pair::default().facts().fields[1].name, "second");
}
