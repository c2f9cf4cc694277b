const _: () = {
    static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
        name: "OrderAddress",
        module: ::core::module_path!(),
        doc: "The destination of an order.\n\nBoth lines are needed.",
        atomic: true,
        go_names: &[("postCode", "ZIP")],
        fields: &[
            ::planesmith_machinery::facts::FieldFacts {
                name: "street",
                ty: <String as ::planesmith_machinery::value::Shape>::TYPE,
                proto: 1u32,
                doc: "Street and number.",
                required: true,
                rules: &[
                    ::planesmith_machinery::facts::Rule::MinLength(1u64),
                    ::planesmith_machinery::facts::Rule::MaxLength(80u64),
                    ::planesmith_machinery::facts::Rule::Pattern("^[^\n]+$"),
                ],
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "countryISO",
                ty: <String as ::planesmith_machinery::value::Shape>::TYPE,
                omit: ::planesmith_machinery::facts::Omit::Never,
                default: ::core::option::Option::Some("\"DE\""),
                rules: &[
                    ::planesmith_machinery::facts::Rule::Enum(&["DE", "FR"]),
                    ::planesmith_machinery::facts::Rule::Immutable,
                ],
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "postCode",
                ty: <Option<i32> as ::planesmith_machinery::value::Shape>::TYPE,
                omit: ::planesmith_machinery::facts::Omit::Zero,
                rules: &[
                    ::planesmith_machinery::facts::Rule::Minimum(1i64),
                    ::planesmith_machinery::facts::Rule::Maximum(99999i64),
                ],
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "notes",
                ty: <Vec<Note> as ::planesmith_machinery::value::Shape>::TYPE,
                list: ::planesmith_machinery::facts::ListType::Map(&["name"]),
                patch: ::core::option::Option::Some(::planesmith_machinery::facts::PatchFacts {
                    merge: true,
                    retain_keys: true,
                    replace: false,
                    merge_key: "name",
                }),
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "state",
                ty: <String as ::planesmith_machinery::value::Shape>::TYPE,
                listing: ::planesmith_machinery::facts::Listing::Required,
                rules: &[
                    ::planesmith_machinery::facts::Rule::KnownValues(&["new", "old"]),
                ],
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "tags",
                ty: <BTreeMap<
                    String,
                    String,
                > as ::planesmith_machinery::value::Shape>::TYPE,
                atomic: true,
                moved_to: ::core::option::Option::Some("spec.tags"),
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                name: "words",
                ty: <Vec<String> as ::planesmith_machinery::value::Shape>::TYPE,
                rules: &[
                    ::planesmith_machinery::facts::Rule::MaxLength(9u64),
                    ::planesmith_machinery::facts::Rule::Each(
                        &[
                            ::planesmith_machinery::facts::Rule::MaxLength(63u64),
                            ::planesmith_machinery::facts::Rule::Pattern("^[a-z]+$"),
                        ],
                    ),
                ],
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
            ::planesmith_machinery::facts::FieldFacts {
                ty: <Rest as ::planesmith_machinery::value::Shape>::TYPE,
                inline: true,
                ..::planesmith_machinery::facts::FieldFacts::NONE
            },
        ],
        ..::planesmith_machinery::facts::StructFacts::NONE
    };
    fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
        &__FACTS
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Shape for Address {
        const TYPE: ::planesmith_machinery::facts::TypeFacts = ::planesmith_machinery::facts::TypeFacts::Struct(
            __facts,
        );
        const FACTS: ::planesmith_machinery::facts::StructTable = ::core::option::Option::Some(
            &__FACTS,
        );
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Value for Address {
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
    impl ::planesmith_machinery::value::Struct for Address {
        fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }
        fn field(
            &self,
            __index: ::core::primitive::usize,
        ) -> &dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &self.street,
                1usize => &self.country,
                2usize => &self.post_code,
                3usize => &self.notes,
                4usize => &self.state,
                5usize => &self.tags,
                6usize => &self.words,
                7usize => &self.rest,
                _ => ::core::unreachable!(),
            }
        }
        fn field_mut(
            &mut self,
            __index: ::core::primitive::usize,
        ) -> &mut dyn ::planesmith_machinery::value::Value {
            match __index {
                0usize => &mut self.street,
                1usize => &mut self.country,
                2usize => &mut self.post_code,
                3usize => &mut self.notes,
                4usize => &mut self.state,
                5usize => &mut self.tags,
                6usize => &mut self.words,
                7usize => &mut self.rest,
                _ => ::core::unreachable!(),
            }
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::bridge::serde::Serialize for Address {
        fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::planesmith_machinery::bridge::serialize(self, __serializer)
        }
    }
    #[automatically_derived]
    impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for Address {
        fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::planesmith_machinery::bridge::deserialize(__deserializer)
        }
    }
    ::planesmith_machinery::json_schema!(Address, __facts);
};
const _: () = {
    static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
        name: "Empty",
        module: ::core::module_path!(),
        doc: "",
        type_meta: ::core::option::Option::Some(::planesmith_machinery::facts::TypeMetaFacts {
            api_version: "v1",
            kind: "Note",
        }),
        fields: &[],
        ..::planesmith_machinery::facts::StructFacts::NONE
    };
    fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
        &__FACTS
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Shape for Empty {
        const TYPE: ::planesmith_machinery::facts::TypeFacts = ::planesmith_machinery::facts::TypeFacts::Struct(
            __facts,
        );
        const FACTS: ::planesmith_machinery::facts::StructTable = ::core::option::Option::Some(
            &__FACTS,
        );
    }
    #[automatically_derived]
    impl ::planesmith_machinery::value::Value for Empty {
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
    impl ::planesmith_machinery::value::Struct for Empty {
        fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }
        fn field(
            &self,
            __index: ::core::primitive::usize,
        ) -> &dyn ::planesmith_machinery::value::Value {
            match __index {
                _ => ::core::unreachable!(),
            }
        }
        fn field_mut(
            &mut self,
            __index: ::core::primitive::usize,
        ) -> &mut dyn ::planesmith_machinery::value::Value {
            match __index {
                _ => ::core::unreachable!(),
            }
        }
    }
    #[automatically_derived]
    impl ::planesmith_machinery::bridge::serde::Serialize for Empty {
        fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
            &self,
            __serializer: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::planesmith_machinery::bridge::serialize(self, __serializer)
        }
    }
    #[automatically_derived]
    impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for Empty {
        fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::planesmith_machinery::bridge::deserialize(__deserializer)
        }
    }
    ::planesmith_machinery::json_schema!(Empty, __facts);
};
