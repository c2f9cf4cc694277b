::core::compile_error! {
    "protobuf numbers start at 1\nhelp: use the next free number of this struct, or leave `proto` out"
}
::core::compile_error! {
    "\"Shop\" is not an API group\nhelp: a group is a DNS name in lower case such as \"shop.example.com\", or \"\" for the core group"
}
const _: () = {
    static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
        name: "Order",
        module: ::core::module_path!(),
        ..::planesmith_machinery::facts::StructFacts::NONE
    };
    fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
        &__FACTS
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Shape for Order {
        const TYPE: ::planesmith_machinery::facts::TypeFacts = ::planesmith_machinery::facts::TypeFacts::Struct(
            __facts,
        );
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Value for Order {
        fn view(&self) -> ::planesmith_machinery::value::View<'_> {
            ::planesmith_machinery::value::View::Absent
        }
        fn slot(&mut self) -> ::planesmith_machinery::value::Slot<'_> {
            ::core::unreachable!()
        }
        fn reset(&mut self) {}
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Struct for Order {
        fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }
        fn field(
            &self,
            _: ::core::primitive::usize,
        ) -> &dyn ::planesmith_machinery::value::Value {
            ::core::unreachable!()
        }
        fn field_mut(
            &mut self,
            _: ::core::primitive::usize,
        ) -> &mut dyn ::planesmith_machinery::value::Value {
            ::core::unreachable!()
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::bridge::serde::Serialize for Order {
        fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
            &self,
            _: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::core::unreachable!()
        }
    }
    #[automatically_derived]
    impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for Order {
        fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
            _: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::core::unreachable!()
        }
    }
    ::planesmith_machinery::json_schema!(Order, __facts);
    use ::planesmith_machinery::resource as __resource;
    use ::std::borrow::Cow::Borrowed as __Text;
    static __TABLE: __resource::ResourceTable = __resource::ResourceTable {
        group: __Text(""),
        version: __Text(""),
        api_version: __Text(""),
        kind: __Text("Order"),
        list_kind: __Text(""),
        plural: __Text(""),
        singular: __Text(""),
        storage_name: __Text(""),
        hashed_version: __Text(""),
        short_names: __Text(&[]),
        categories: __Text(&[]),
        scope: __resource::Scope::Cluster,
        served: false,
        deprecated: ::core::option::Option::None,
        feature: ::core::option::Option::None,
        conversion: ::core::option::Option::None,
        subresources: __Text(&[]),
        selectable: __Text(&[]),
        columns: __Text(&[]),
        name_rule: __resource::NameRule::PathSegment,
        behavior: __resource::Behavior::NONE,
        schema: __facts,
        new: || ::core::unreachable!("Order"),
        strategy: &::planesmith_machinery::strategy::NoStrategy,
        extensions: ::planesmith_machinery::strategy::Extensions::NONE,
        custom: ::core::option::Option::None,
    };
    static __RESOURCE: __resource::ResourceFacts = __resource::ResourceFacts::declared(
        &__TABLE,
    );
    #[automatically_derived]
    impl ::planesmith_machinery::object::Object for Order {
        fn resource(&self) -> &__resource::ResourceFacts {
            ::core::unreachable!("Order")
        }
        fn meta(&self) -> &::planesmith_machinery::meta::ObjectMeta {
            ::core::unreachable!("Order")
        }
        fn meta_mut(&mut self) -> &mut ::planesmith_machinery::meta::ObjectMeta {
            ::core::unreachable!("Order")
        }
        fn boxed(
            &self,
        ) -> ::std::boxed::Box<dyn ::planesmith_machinery::object::Object> {
            ::core::unreachable!("Order")
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::object::Resource for Order {
        const RESOURCE: &'static __resource::ResourceFacts = &__RESOURCE;
    }
};
