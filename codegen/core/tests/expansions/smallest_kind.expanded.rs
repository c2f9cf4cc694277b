const _: () = {
    static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
        name: "Thing",
        module: ::core::module_path!(),
        doc: "",
        type_meta: ::core::option::Option::Some(::planesmith_machinery::facts::TypeMetaFacts {
            api_version: "v1",
            kind: "Thing",
        }),
        fields: &[
            ::planesmith_machinery::facts::FieldFacts {
                name: "metadata",
                ty: <ObjectMeta as ::planesmith_machinery::value::Shape>::TYPE,
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
        ],
        ..::planesmith_machinery::facts::StructFacts::NONE
    };
    fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
        &__FACTS
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Shape for Thing {
        const TYPE: ::planesmith_machinery::facts::TypeFacts = ::planesmith_machinery::facts::TypeFacts::Struct(
            __facts,
        );
        const FACTS: ::planesmith_machinery::facts::StructTable = ::core::option::Option::Some(
            &__FACTS,
        );
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Value for Thing {
        fn view(&self) -> ::planesmith_machinery::value::View<'_> {
            ::planesmith_machinery::value::View::Struct(self)
        }
        fn slot(&mut self) -> ::planesmith_machinery::value::Slot<'_> {
            ::planesmith_machinery::value::Slot::Struct(self)
        }
        fn reset(&mut self) {
            *self = ::core::default::Default::default();
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Struct for Thing {
        fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }
        fn field(
            &self,
            __index: ::core::primitive::usize,
        ) -> &dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &self.metadata,
                _ => ::core::unreachable!(),
            }
        }
        fn field_mut(
            &mut self,
            __index: ::core::primitive::usize,
        ) -> &mut dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &mut self.metadata,
                _ => ::core::unreachable!(),
            }
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::bridge::serde::Serialize for Thing {
        fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::planesmith_machinery::bridge::serialize(self, __serializer)
        }
    }
    #[automatically_derived]
    impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for Thing {
        fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::planesmith_machinery::bridge::deserialize(__deserializer)
        }
    }
    ::planesmith_machinery::json_schema!(Thing, __facts);
    use ::planesmith_machinery::resource as __resource;
    use ::std::borrow::Cow::Borrowed as __Text;
    static __TABLE: __resource::ResourceTable = __resource::ResourceTable {
        group: __Text(""),
        version: __Text("v1"),
        api_version: __Text("v1"),
        kind: __Text("Thing"),
        list_kind: __Text("ThingList"),
        plural: __Text("things"),
        singular: __Text("thing"),
        storage_name: __Text("things"),
        hashed_version: __Text("v1"),
        short_names: __Text(&[]),
        categories: __Text(&[]),
        scope: __resource::Scope::Namespaced,
        served: true,
        deprecated: ::core::option::Option::None,
        feature: ::core::option::Option::None,
        conversion: ::core::option::Option::None,
        subresources: __Text(&[]),
        selectable: __Text(&[]),
        columns: __Text(&[]),
        name_rule: __resource::NameRule::DnsSubdomain,
        behavior: __resource::Behavior::NONE,
        schema: __facts,
        new: __resource::erased::zero::<Thing>,
        strategy: &__resource::strategy::NoStrategy,
        extensions: __resource::strategy::Extensions::NONE,
        custom: ::core::option::Option::None,
    };
    static __RESOURCE: __resource::ResourceFacts = __resource::ResourceFacts::declared(
        &__TABLE,
    );
    #[automatically_derived]
    impl __resource::object::Object for Thing {
        fn resource(&self) -> &__resource::ResourceFacts {
            &__RESOURCE
        }
        fn meta(&self) -> &::planesmith_machinery::meta::ObjectMeta {
            &self.metadata
        }
        fn meta_mut(&mut self) -> &mut ::planesmith_machinery::meta::ObjectMeta {
            &mut self.metadata
        }
        fn boxed(&self) -> ::std::boxed::Box<dyn __resource::object::Object> {
            ::std::boxed::Box::new(::core::clone::Clone::clone(self))
        }
    }
    #[automatically_derived]
    impl __resource::object::Resource for Thing {
        const RESOURCE: &'static __resource::ResourceFacts = &__RESOURCE;
    }
    impl __resource::strategy::Strategy for Thing {}
    impl __resource::strategy::StrategyExtensions for Thing {}
};
