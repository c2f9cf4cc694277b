const _: () = {
    static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
        name: "Order",
        module: ::core::module_path!(),
        doc: "An order.",
        type_meta: ::core::option::Option::Some(::planesmith_machinery::facts::TypeMetaFacts {
            api_version: "shop.example.com/v1alpha1",
            kind: "Order",
        }),
        fields: &[
            ::planesmith_machinery::facts::FieldFacts {
                name: "metadata",
                ty: <ObjectMeta as ::planesmith_machinery::value::Shape>::TYPE,
                proto: 1u32,
                doc: "Standard metadata.",
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "spec",
                ty: <OrderSpec as ::planesmith_machinery::value::Shape>::TYPE,
                proto: 2u32,
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "status",
                ty: <OrderStatus as ::planesmith_machinery::value::Shape>::TYPE,
                proto: 3u32,
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
        ],
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
        const FACTS: ::planesmith_machinery::facts::StructTable = ::core::option::Option::Some(
            &__FACTS,
        );
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Value for Order {
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
    impl ::planesmith_machinery::value::Struct for Order {
        fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }
        fn field(
            &self,
            __index: ::core::primitive::usize,
        ) -> &dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &self.metadata,
                1usize => &self.spec,
                2usize => &self.status,
                _ => ::core::unreachable!(),
            }
        }
        fn field_mut(
            &mut self,
            __index: ::core::primitive::usize,
        ) -> &mut dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &mut self.metadata,
                1usize => &mut self.spec,
                2usize => &mut self.status,
                _ => ::core::unreachable!(),
            }
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::bridge::serde::Serialize for Order {
        fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::planesmith_machinery::bridge::serialize(self, __serializer)
        }
    }
    #[automatically_derived]
    impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for Order {
        fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::planesmith_machinery::bridge::deserialize(__deserializer)
        }
    }
    ::planesmith_machinery::json_schema!(Order, __facts);
    use ::planesmith_machinery::resource as __resource;
    use ::std::borrow::Cow::Borrowed as __Text;
    static __TABLE: __resource::ResourceTable = __resource::ResourceTable {
        group: __Text("shop.example.com"),
        version: __Text("v1alpha1"),
        api_version: __Text("shop.example.com/v1alpha1"),
        kind: __Text("Order"),
        list_kind: __Text("OrderList"),
        plural: __Text("orders"),
        singular: __Text("order"),
        storage_name: __Text("purchases"),
        hashed_version: __Text("v1alpha1"),
        short_names: __Text(&[__Text("ord"), __Text("o")]),
        categories: __Text(&[__Text("all")]),
        scope: __resource::Scope::Cluster,
        served: false,
        deprecated: ::core::option::Option::Some(__Text("use v1")),
        feature: ::core::option::Option::Some(&features::ORDERS),
        conversion: ::core::option::Option::Some(__resource::ConversionFacts {
            hub: __resource::erased::facts_of::<super::v1::Order>,
            finish_to_hub: __resource::finish_to_hub::<Order, super::v1::Order>,
            finish_from_hub: __resource::finish_from_hub::<Order, super::v1::Order>,
            can_hold: __resource::can_hold::<Order, super::v1::Order>,
        }),
        subresources: __Text(
            &[
                __resource::SubresourceFacts {
                    name: "log",
                    kind: __resource::SubresourceKind::Other,
                },
                __resource::SubresourceFacts {
                    name: "scale",
                    kind: __resource::SubresourceKind::Scale(__resource::ScaleFacts {
                        spec_replicas: __Text("spec.lines"),
                        status_replicas: __Text("status.lines"),
                        selector: __Text("status.selector"),
                    }),
                },
                __resource::SubresourceFacts {
                    name: "status",
                    kind: __resource::SubresourceKind::Status,
                },
            ],
        ),
        selectable: __Text(&[__Text("spec.customer")]),
        columns: __Text(
            &[
                __resource::Column::NAME,
                __resource::Column {
                    name: __Text("Lines"),
                    ty: __Text("integer"),
                    format: __Text("int32"),
                    doc: __Text("How many."),
                    priority: 0i32,
                    source: __resource::CellSource::Path("spec.lines"),
                },
                __resource::Column {
                    name: __Text("Ready"),
                    ty: __Text("string"),
                    format: __Text(""),
                    doc: __Text(""),
                    priority: 0i32,
                    source: __resource::CellSource::JsonPath({
                        static __PATH: ::planesmith_machinery::json_path::LazyPath = ::planesmith_machinery::json_path::LazyPath::new(
                            ".status.conditions[?(@.type=='Ready')].status",
                        );
                        &__PATH
                    }),
                },
                __resource::Column {
                    name: __Text("State"),
                    ty: __Text("string"),
                    format: __Text(""),
                    doc: __Text(""),
                    priority: 1i32,
                    source: __resource::CellSource::Function(|__object| __resource::erased::cell_of::<
                        Order,
                    >(__object, columns::state)),
                },
                __resource::Column::AGE,
            ],
        ),
        name_rule: __resource::NameRule::DnsLabel1035,
        behavior: __resource::Behavior {
            generation: __resource::Generation::Content,
            create_on_update: true,
            conditional_update: true,
            returns_deleted: true,
            no_delete_collection: true,
            status_on_create: true,
            is_namespace: true,
            expires: true,
            deleted_first: true,
            partitioned_by: "spec.customer",
            ..__resource::Behavior::NONE
        },
        schema: __facts,
        new: __resource::erased::zero::<Order>,
        strategy: &__resource::strategy::Typed::<Order>::NEW,
        extensions: __resource::strategy::Extensions::of::<Order>(),
        custom: ::core::option::Option::None,
    };
    static __RESOURCE: __resource::ResourceFacts = __resource::ResourceFacts::declared(
        &__TABLE,
    );
    #[automatically_derived]
    impl __resource::object::Object for Order {
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
    impl __resource::object::Resource for Order {
        const RESOURCE: &'static __resource::ResourceFacts = &__RESOURCE;
    }
    const _: () = match ::planesmith_machinery::facts::check_path(
        <OrderSpec as ::planesmith_machinery::value::Shape>::FACTS,
        "lines",
        ::planesmith_machinery::facts::PathUse::Integer,
    ) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::NoSuchField,
        ) => ::core::panic!("`scale` names \"spec.lines\", which is not a field"),
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::WrongType,
        ) => {
            ::core::panic!(
                "`scale` needs an `i32` or `i64`, and \"spec.lines\" is of another type"
            )
        }
    };
    const _: () = match ::planesmith_machinery::facts::check_path(
        <OrderStatus as ::planesmith_machinery::value::Shape>::FACTS,
        "lines",
        ::planesmith_machinery::facts::PathUse::Integer,
    ) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::NoSuchField,
        ) => ::core::panic!("`scale` names \"status.lines\", which is not a field"),
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::WrongType,
        ) => {
            ::core::panic!(
                "`scale` needs an `i32` or `i64`, and \"status.lines\" is of another type"
            )
        }
    };
    const _: () = match ::planesmith_machinery::facts::check_path(
        <OrderStatus as ::planesmith_machinery::value::Shape>::FACTS,
        "selector",
        ::planesmith_machinery::facts::PathUse::Selector,
    ) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::NoSuchField,
        ) => ::core::panic!("`scale` names \"status.selector\", which is not a field"),
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::WrongType,
        ) => {
            ::core::panic!(
                "`scale` needs a `String` or a label selector, and \"status.selector\" is of another type"
            )
        }
    };
    const _: () = match ::planesmith_machinery::facts::check_path(
        <OrderSpec as ::planesmith_machinery::value::Shape>::FACTS,
        "customer",
        ::planesmith_machinery::facts::PathUse::Selectable,
    ) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::NoSuchField,
        ) => ::core::panic!("`selectable` names \"spec.customer\", which is not a field"),
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::WrongType,
        ) => {
            ::core::panic!(
                "`selectable` needs a `String`, `bool`, `i32` or `i64`, and \"spec.customer\" is of another type"
            )
        }
    };
    const _: () = match ::planesmith_machinery::facts::check_path(
        <OrderSpec as ::planesmith_machinery::value::Shape>::FACTS,
        "lines",
        ::planesmith_machinery::facts::PathUse::Number,
    ) {
        ::core::result::Result::Ok(()) => {}
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::NoSuchField,
        ) => ::core::panic!("`column` names \"spec.lines\", which is not a field"),
        ::core::result::Result::Err(
            ::planesmith_machinery::facts::PathError::WrongType,
        ) => {
            ::core::panic!(
                "`column` needs an `i32`, `i64` or `f64`, and \"spec.lines\" is of another type"
            )
        }
    };
};
