//! Lists, sets, and maps created by loops.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::operators::add;
use super::{Context, Entry, count, format, int, no_such_overload, unfit};
use crate::value::{Evaluated, Fault, Key, List, Map, Value, compare, contains_all, equal_or_false, includes, order};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("isSorted: list(int).() bool", "list_int_is_sorted_bool", is_sorted),
    ("isSorted: list(uint).() bool", "list_uint_is_sorted_bool", is_sorted),
    (
        "isSorted: list(double).() bool",
        "list_double_is_sorted_bool",
        is_sorted,
    ),
    ("isSorted: list(bool).() bool", "list_bool_is_sorted_bool", is_sorted),
    (
        "isSorted: list(duration).() bool",
        "list_duration_is_sorted_bool",
        is_sorted,
    ),
    (
        "isSorted: list(timestamp).() bool",
        "list_timestamp_is_sorted_bool",
        is_sorted,
    ),
    (
        "isSorted: list(string).() bool",
        "list_string_is_sorted_bool",
        is_sorted,
    ),
    ("isSorted: list(bytes).() bool", "list_bytes_is_sorted_bool", is_sorted),
    ("sum: list(int).() int", "list_int_sum_int", sum_int),
    ("sum: list(uint).() uint", "list_uint_sum_uint", sum_uint),
    ("sum: list(double).() double", "list_double_sum_double", sum_double),
    (
        "sum: list(duration).() duration",
        "list_duration_sum_duration",
        sum_duration,
    ),
    ("max: list(int).() int", "list_int_max_int", max),
    ("max: list(uint).() uint", "list_uint_max_uint", max),
    ("max: list(double).() double", "list_double_max_double", max),
    ("max: list(bool).() bool", "list_bool_max_bool", max),
    ("max: list(duration).() duration", "list_duration_max_duration", max),
    ("max: list(timestamp).() timestamp", "list_timestamp_max_timestamp", max),
    ("max: list(string).() string", "list_string_max_string", max),
    ("max: list(bytes).() bytes", "list_bytes_max_bytes", max),
    ("min: list(int).() int", "list_int_min_int", min),
    ("min: list(uint).() uint", "list_uint_min_uint", min),
    ("min: list(double).() double", "list_double_min_double", min),
    ("min: list(bool).() bool", "list_bool_min_bool", min),
    ("min: list(duration).() duration", "list_duration_min_duration", min),
    ("min: list(timestamp).() timestamp", "list_timestamp_min_timestamp", min),
    ("min: list(string).() string", "list_string_min_string", min),
    ("min: list(bytes).() bytes", "list_bytes_min_bytes", min),
    ("indexOf: list(A).(A) int", "list_a_index_of_int", index_of),
    (
        "lastIndexOf: list(A).(A) int",
        "list_a_last_index_of_int",
        last_index_of,
    ),
    ("slice: list(A).(int, int) list(A)", "list_slice", slice),
    ("flatten: list(list(A)).() list(A)", "list_flatten", flatten),
    ("flatten: list(dyn).(int) list(dyn)", "list_flatten_int", flatten),
    ("sort: list(int).() list(int)", "list_int_sort", sort),
    ("sort: list(uint).() list(uint)", "list_uint_sort", sort),
    ("sort: list(double).() list(double)", "list_double_sort", sort),
    ("sort: list(bool).() list(bool)", "list_bool_sort", sort),
    ("sort: list(duration).() list(duration)", "list_duration_sort", sort),
    ("sort: list(timestamp).() list(timestamp)", "list_timestamp_sort", sort),
    ("sort: list(string).() list(string)", "list_string_sort", sort),
    ("sort: list(bytes).() list(bytes)", "list_bytes_sort", sort),
    (
        "@sortByAssociatedKeys: list(A).(list(int)) list(A)",
        "list_int_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(uint)) list(A)",
        "list_uint_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(double)) list(A)",
        "list_double_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(bool)) list(A)",
        "list_bool_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(duration)) list(A)",
        "list_duration_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(timestamp)) list(A)",
        "list_timestamp_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(string)) list(A)",
        "list_string_sortByAssociatedKeys",
        sort_by,
    ),
    (
        "@sortByAssociatedKeys: list(A).(list(bytes)) list(A)",
        "list_bytes_sortByAssociatedKeys",
        sort_by,
    ),
    ("lists.range: (int) list(int)", "lists_range", range),
    ("reverse: list(A).() list(A)", "list_reverse", reverse),
    ("distinct: list(A).() list(A)", "list_distinct", distinct),
    (
        "sets.contains: (list(A), list(A)) bool",
        "list_sets_contains_list",
        contains,
    ),
    (
        "sets.equivalent: (list(A), list(A)) bool",
        "list_sets_equivalent_list",
        equivalent,
    ),
    (
        "sets.intersects: (list(A), list(A)) bool",
        "list_sets_intersects_list",
        intersects,
    ),
    (
        "cel.@mapInsert: (map(A, B), A, B) map(A, B)",
        "@mapInsert_map_key_value",
        insert,
    ),
    (
        "cel.@mapInsert: (map(A, B), map(A, B)) map(A, B)",
        "@mapInsert_map_map",
        insert,
    ),
];

fn list<'a, 'd>(args: &'a [Value<'d>], index: usize) -> Result<&'a List<'d>, Fault> {
    match args.get(index) {
        Some(Value::List(list)) => Ok(list),
        _ => Err(unfit()),
    }
}

fn is_sorted<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let elements = context.elements(list(&args, 0)?)?;
    for pair in elements.windows(2) {
        let ordering = compare(&pair[0], &pair[1]).ok_or_else(|| no_such_overload("isSorted", pair))?;
        if ordering == Ordering::Greater {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum<'d>(context: &mut Context<'_>, args: &[Value<'d>], zero: Value<'d>) -> Evaluated<'d> {
    let mut total = zero;
    for element in list(args, 0)?.iter() {
        total = add(context, vec![total, element?])?;
    }
    Ok(total)
}

fn sum_int<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    sum(context, &args, Value::Int(0))
}

fn sum_uint<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    sum(context, &args, Value::Uint(0))
}

fn sum_double<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    sum(context, &args, Value::Double(0.0))
}

fn sum_duration<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    sum(context, &args, Value::Duration(0))
}

fn extreme<'d>(name: &str, args: &[Value<'d>], wanted: Ordering) -> Evaluated<'d> {
    let mut best: Option<Value<'d>> = None;
    for element in list(args, 0)?.iter() {
        let element = element?;
        let is_better = match &best {
            None => true,
            Some(best) => compare(&element, best).ok_or_else(|| no_such_overload(name, args))? == wanted,
        };
        if is_better {
            best = Some(element);
        }
    }
    best.ok_or_else(|| Fault::new(format!("{name} called on empty list")))
}

fn max<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    extreme("max", &args, Ordering::Greater)
}

fn min<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    extreme("min", &args, Ordering::Less)
}

fn place<'d>(context: &mut Context<'_>, args: &[Value<'d>], from_end: bool) -> Evaluated<'d> {
    let wanted = args.get(1).ok_or_else(unfit)?;
    let list = list(args, 0)?;
    for step in 0..list.len() {
        let index = if from_end { list.len() - 1 - step } else { step };
        if let Some(element) = list.get(index)
            && equal_or_false(&mut context.effort, &element?, wanted)?
        {
            return Ok(count(index));
        }
    }
    Ok(Value::Int(-1))
}

fn index_of<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    place(context, &args, false)
}

fn last_index_of<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    place(context, &args, true)
}

fn slice<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (list, start, end) = (list(&args, 0)?, int(&args, 1)?, int(&args, 2)?);
    let refused = |why: &str| Fault::new(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(first), Ok(last)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(refused("negative indexes not supported"));
    };
    if first > last {
        return Err(refused("start index must be less than or equal to end index"));
    }
    if list.len() < last {
        return Err(refused(&format!("list is length {}", list.len())));
    }
    context.effort.takes_elements(last - first)?;
    let elements: Result<_, Fault> = (first..last).filter_map(|index| list.get(index)).collect();
    Ok(Value::list(elements?))
}

fn flatten<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let depth = if args.len() > 1 { int(&args, 1)? } else { 1 };
    if depth < 0 {
        return Err(Fault::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(&mut flat, list(&args, 0)?, depth, context)?;
    Ok(Value::list(flat))
}

fn flatten_into<'d>(
    flat: &mut Vec<Value<'d>>,
    list: &List<'d>,
    depth: i64,
    context: &mut Context<'_>,
) -> Result<(), Fault> {
    context.effort.takes_elements(list.len())?;
    for element in list.iter() {
        match element? {
            Value::List(inner) if depth > 0 => flatten_into(flat, &inner, depth - 1, context)?,
            other => flat.push(other),
        }
    }
    Ok(())
}

fn sort<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (elements, keys) = (context.elements(list(&args, 0)?)?, context.elements(list(&args, 0)?)?);
    sorted(elements, keys)
}

fn sort_by<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (elements, keys) = (context.elements(list(&args, 0)?)?, context.elements(list(&args, 1)?)?);
    sorted(elements, keys)
}

fn sorted<'d>(elements: Vec<Value<'d>>, keys: Vec<Value<'d>>) -> Evaluated<'d> {
    if elements.len() != keys.len() {
        return Err(Fault::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            elements.len(),
            keys.len()
        )));
    }
    if let Some(first) = keys.first() {
        if compare(first, first).is_none() && !matches!(first, Value::Double(_)) {
            return Err(Fault::new("list elements must be comparable"));
        }
        if keys.iter().any(|key| key.type_name() != first.type_name()) {
            return Err(Fault::new("list elements must have the same type"));
        }
    }
    let mut pairs: Vec<(Value<'d>, Value<'d>)> = keys.into_iter().zip(elements).collect();
    pairs.sort_by(|(one, _), (other, _)| order(one, other));
    Ok(Value::list(pairs.into_iter().map(|(_, element)| element).collect()))
}

fn range<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let end = int(&args, 0)?;
    if u64::try_from(end).is_ok_and(|end| end > context.budget) {
        return Err(Fault::TooExpensive);
    }
    context
        .effort
        .takes_elements(usize::try_from(end).unwrap_or_default())?;
    Ok(Value::list((0..end).map(Value::Int).collect()))
}

fn reverse<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let mut elements = context.elements(list(&args, 0)?)?;
    elements.reverse();
    Ok(Value::list(elements))
}

fn distinct<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let mut unique: Vec<Value<'d>> = Vec::new();
    for element in list(&args, 0)?.iter() {
        let element = element?;
        let mut is_known = false;
        for other in &unique {
            is_known |= equal_or_false(&mut context.effort, &element, other)?;
        }
        if !is_known {
            context.effort.takes_elements(1)?;
            unique.push(element);
        }
    }
    Ok(Value::list(unique))
}

fn contains<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    contains_all(&mut context.effort, list(&args, 0)?, list(&args, 1)?).map(Value::Bool)
}

fn equivalent<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (one, other) = (list(&args, 0)?, list(&args, 1)?);
    let effort = &mut context.effort;
    Ok(Value::Bool(
        contains_all(effort, one, other)? && contains_all(effort, other, one)?,
    ))
}

fn intersects<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let other = list(&args, 1)?;
    for element in list(&args, 0)?.iter() {
        if includes(&mut context.effort, other, &element?)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn insert<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let mut args = args.into_iter();
    let Some(Value::Map(Map::Owned(mut entries))) = args.next() else {
        return Err(unfit());
    };
    let target = Rc::make_mut(&mut entries);
    match (args.next(), args.next()) {
        (Some(key), Some(value)) => put(target, &key, value)?,
        (Some(Value::Map(added)), None) => {
            for (key, value) in added.entries()? {
                put(target, &key, value)?;
            }
        }
        _ => return Err(unfit()),
    }
    Ok(Value::Map(Map::Owned(entries)))
}

fn put<'d>(target: &mut BTreeMap<Key, Value<'d>>, key: &Value<'d>, value: Value<'d>) -> Result<(), Fault> {
    let place = Key::from_value(key).ok_or_else(|| Fault::new("unsupported key type"))?;
    match target.insert(place, value) {
        None => Ok(()),
        Some(_) => Err(Fault::new(format!(
            "insert failed: key {} already exists",
            format::plain(key)
        ))),
    }
}
