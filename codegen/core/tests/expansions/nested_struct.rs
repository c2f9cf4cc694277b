/// The destination of an order.
///
/// Both lines are needed.
#[schema(name = "OrderAddress", atomic)]
struct Address {
    /// Street and number.
    #[field(proto = 1, required, min_length = 1, max_length = 80, pattern = "^[^\n]+$")]
    street: String,
    #[field(name = "countryISO", keep, one_of("DE", "FR"), default = "DE", immutable)]
    country: String,
    #[field(omit_zero, minimum = 1, maximum = 99999, go_name = "ZIP")]
    post_code: Option<i32>,
    #[field(list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    notes: Vec<Note>,
    #[field(expected, known("new", "old"))]
    state: String,
    #[field(atomic, moved_to = "spec.tags")]
    tags: BTreeMap<String, String>,
    #[field(max_length = 9, each(pattern = "^[a-z]+$", max_length = 63))]
    words: Vec<String>,
    #[field(inline)]
    rest: Rest,
}

#[schema(type_meta("v1", "Note"))]
struct Empty {}
