//! Each overload of each function, with results that follow from the CEL specification and from Kubernetes' documentation
//! of its libraries.

use std::collections::BTreeSet;

use super::check;
use crate::functions::ids;

/// The identifier of an overload, an expression that calls it, and the result.
type Case = (&'static str, &'static str, &'static str);

const OPERATORS: &[Case] = &[
    ("conditional", "1 < 2 ? 'a' : 'b'", "a"),
    ("logical_and", "true && false", "false"),
    ("logical_and", "1 / 0 == 1 && false", "false"),
    ("logical_or", "false || true", "true"),
    ("logical_or", "1 / 0 == 1 || false", "error: division by zero"),
    ("logical_not", "!true", "false"),
    ("not_strictly_false", "[1, 2].all(i, i > 1)", "false"),
    (
        "equals",
        "[1, 2] == [1, 2] && {'a': 1} == {'a': 1} && 1 == 1 && 'a' == 'a'",
        "true",
    ),
    (
        "equals",
        "dyn(1) == dyn(1.0) && dyn(1u) == dyn(1) && dyn(1) != dyn('1')",
        "true",
    ),
    ("not_equals", "1 != 2 && !('a' != 'a')", "true"),
    ("add_bytes", "b'a' + b'b' == b'ab'", "true"),
    ("add_double", "1.5 + 1.0", "2.5"),
    ("add_duration_duration", "duration('1m') + duration('1s')", "61s"),
    (
        "add_duration_timestamp",
        "duration('1s') + timestamp('2020-01-01T00:00:00Z')",
        "2020-01-01T00:00:01Z",
    ),
    (
        "add_timestamp_duration",
        "timestamp('2020-01-01T00:00:00Z') + duration('24h')",
        "2020-01-02T00:00:00Z",
    ),
    ("add_int64", "1 + 2", "3"),
    ("add_int64", "-9223372036854775807 + -2", "error: integer overflow"),
    ("add_list", "[1] + [2, 3]", "[1, 2, 3]"),
    ("add_string", "'a' + 'b'", "ab"),
    ("add_uint64", "1u + 2u", "3"),
    (
        "add_uint64",
        "18446744073709551615u + 1u",
        "error: unsigned integer overflow",
    ),
    ("subtract_double", "1.5 - 2.0", "-0.5"),
    ("subtract_duration_duration", "duration('1m') - duration('1s')", "59s"),
    ("subtract_int64", "1 - 2", "-1"),
    (
        "subtract_timestamp_duration",
        "timestamp('2020-01-01T00:00:01Z') - duration('1s')",
        "2020-01-01T00:00:00Z",
    ),
    (
        "subtract_timestamp_timestamp",
        "timestamp('2020-01-01T00:01:00Z') - timestamp('2020-01-01T00:00:00Z')",
        "60s",
    ),
    ("subtract_uint64", "3u - 2u", "1"),
    ("subtract_uint64", "2u - 3u", "error: unsigned integer overflow"),
    ("multiply_double", "1.5 * 2.0", "3"),
    ("multiply_int64", "-3 * 2", "-6"),
    ("multiply_int64", "9223372036854775807 * 2", "error: integer overflow"),
    ("multiply_uint64", "3u * 2u", "6"),
    ("divide_double", "3.0 / 2.0", "1.5"),
    ("divide_int64", "-7 / 2", "-3"),
    ("divide_uint64", "7u / 2u", "3"),
    ("divide_uint64", "7u / 0u", "error: division by zero"),
    ("modulo_int64", "-7 % 2", "-1"),
    ("modulo_int64", "7 % 0", "error: modulus by zero"),
    ("modulo_uint64", "7u % 2u", "1"),
    ("negate_double", "-(1.5)", "-1.5"),
    ("negate_int64", "-(3)", "-3"),
    ("index_list", "['a', 'b'][1]", "b"),
    ("index_map", "{'a': 1, 'b': 2}['b']", "2"),
    ("optional_list_index_int", "optional.of([1, 2])[1].orValue(0)", "2"),
    ("optional_map_index_value", "optional.of({'a': 1})['b'].orValue(0)", "0"),
    (
        "list_optindex_optional_int",
        "[1, 2][?1].orValue(0) + [1][?5].orValue(10)",
        "12",
    ),
    (
        "optional_list_optindex_optional_int",
        "optional.of([1, 2])[?5].orValue(9)",
        "9",
    ),
    ("map_optindex_optional_value", "{'a': 1}[?'a'].orValue(0)", "1"),
    (
        "optional_map_optindex_optional_value",
        "optional.of({'a': 1})[?'a'].orValue(0)",
        "1",
    ),
    ("in_list", "2 in [1, 2] && !(3 in [1, 2])", "true"),
    ("in_map", "'a' in {'a': 1} && !('b' in {'a': 1})", "true"),
    ("size_bytes", "size(b'abc')", "3"),
    ("bytes_size", "b'\\xc3\\xa4'.size()", "2"),
    ("size_list", "size([1, 2])", "2"),
    ("list_size", "[].size()", "0"),
    ("size_map", "size({'a': 1})", "1"),
    ("map_size", "{'a': 1, 'b': 2}.size()", "2"),
    ("size_string", "size('äö')", "2"),
    ("string_size", "'abc'.size()", "3"),
];

const CONVERSIONS: &[Case] = &[
    (
        "type",
        "type(1u) == uint && type([1]) == list && type(type(1)) == type",
        "true",
    ),
    ("to_dyn", "dyn(1) == 1", "true"),
    ("bool_to_bool", "bool(true)", "true"),
    ("string_to_bool", "bool('t') && bool('TRUE') && !bool('0')", "true"),
    ("bytes_to_bytes", "bytes(b'a') == b'a'", "true"),
    ("string_to_bytes", "bytes('ä') == b'\\xc3\\xa4'", "true"),
    ("double_to_double", "double(1.5)", "1.5"),
    ("int64_to_double", "double(3) / 2.0", "1.5"),
    ("string_to_double", "double('1e3')", "1000"),
    ("uint64_to_double", "double(3u) / 2.0", "1.5"),
    ("duration_to_duration", "duration(duration('1s'))", "1s"),
    ("string_to_duration", "duration('1h1m1.5s')", "3661.5s"),
    ("int64_to_int64", "int(7)", "7"),
    ("double_to_int64", "int(-1.9)", "-1"),
    ("double_to_int64", "int(1e99)", "error: integer overflow"),
    ("duration_to_int64", "int(duration('1s'))", "1000000000"),
    ("string_to_int64", "int('-12')", "-12"),
    ("timestamp_to_int64", "int(timestamp('1970-01-01T00:01:00Z'))", "60"),
    ("uint64_to_int64", "int(7u)", "7"),
    (
        "uint64_to_int64",
        "int(18446744073709551615u)",
        "error: integer overflow",
    ),
    ("string_to_string", "string('a')", "a"),
    ("bool_to_string", "string(true)", "true"),
    ("bytes_to_string", "string(b'abc')", "abc"),
    ("double_to_string", "string(2.5)", "2.5"),
    ("duration_to_string", "string(duration('1m'))", "60s"),
    ("int64_to_string", "string(-1)", "-1"),
    (
        "timestamp_to_string",
        "string(timestamp('2020-01-01T01:00:00+01:00'))",
        "2020-01-01T00:00:00Z",
    ),
    ("uint64_to_string", "string(1u)", "1"),
    ("ip_to_string", "string(ip('::0001'))", "::1"),
    ("cidr_to_string", "string(cidr('10.0.0.0/8'))", "10.0.0.0/8"),
    (
        "timestamp_to_timestamp",
        "timestamp(timestamp('2020-01-01T00:00:00Z')) == timestamp('2020-01-01T00:00:00Z')",
        "true",
    ),
    ("int64_to_timestamp", "timestamp(60)", "1970-01-01T00:01:00Z"),
    (
        "string_to_timestamp",
        "timestamp('2020-02-29T12:00:00.5Z').getMilliseconds()",
        "500",
    ),
    ("uint64_to_uint64", "uint(7u)", "7"),
    ("double_to_uint64", "uint(1.9)", "1"),
    ("double_to_uint64", "uint(-1.0)", "error: unsigned integer overflow"),
    ("int64_to_uint64", "uint(7)", "7"),
    ("int64_to_uint64", "uint(-1)", "error: unsigned integer overflow"),
    ("string_to_uint64", "uint('12')", "12"),
];

const STRINGS: &[Case] = &[
    (
        "contains_string",
        "'hello'.contains('ell') && !'hello'.contains('x')",
        "true",
    ),
    (
        "ends_with_string",
        "'hello'.endsWith('lo') && !'hello'.endsWith('he')",
        "true",
    ),
    (
        "starts_with_string",
        "'hello'.startsWith('he') && !'hello'.startsWith('lo')",
        "true",
    ),
    ("string_char_at_int", "'häl'.charAt(1)", "ä"),
    ("string_char_at_int", "'abc'.charAt(3) == ''", "true"),
    ("string_index_of_string", "'hello'.indexOf('l')", "2"),
    ("string_index_of_string", "'hello'.indexOf('x')", "-1"),
    ("string_index_of_string_int", "'hello'.indexOf('l', 3)", "3"),
    ("string_last_index_of_string", "'hello'.lastIndexOf('l')", "3"),
    ("string_last_index_of_string_int", "'hello'.lastIndexOf('l', 2)", "2"),
    ("string_lower_ascii", "'AÄb'.lowerAscii()", "aÄb"),
    ("string_upper_ascii", "'aäb'.upperAscii()", "AäB"),
    ("string_replace_string_string", "'aXbX'.replace('X', '-')", "a-b-"),
    (
        "string_replace_string_string_int",
        "'aXbX'.replace('X', '-', 1)",
        "a-bX",
    ),
    (
        "string_replace_string_string_int",
        "'aXbX'.replace('X', '-', 0)",
        "aXbX",
    ),
    ("string_split_string", "'a,b,c'.split(',')", "[a, b, c]"),
    ("string_split_string_int", "'a,b,c'.split(',', 2)", "[a, b,c]"),
    ("string_split_string_int", "'a,b,c'.split(',', 0)", "[]"),
    ("string_substring_int", "'hello'.substring(2)", "llo"),
    ("string_substring_int_int", "'hello'.substring(1, 3)", "el"),
    (
        "string_substring_int_int",
        "'hello'.substring(3, 1)",
        "error: invalid substring range. start: 3, end: 1",
    ),
    ("string_trim", "' \\t a b \\n'.trim()", "a b"),
    ("string_reverse", "'abä'.reverse()", "äba"),
    (
        "string_format",
        "'%s is %d and %.1f'.format(['a', 1, 2.25])",
        "a is 1 and 2.2",
    ),
    (
        "string_format",
        "'%x %X %o %b %e'.format([10, 'ab', 8, 5, 1500.0])",
        "a 6162 10 101 1.500000e+03",
    ),
    ("strings_quote", "strings.quote('a\\n\"')", "\"a\\n\\\"\""),
    ("list_join", "['a', 'b'].join()", "ab"),
    ("list_join_string", "['a', 'b'].join('-')", "a-b"),
    (
        "string_jsonpatch_escapeKey_string",
        "jsonpatch.escapeKey('k8s.io/my~label')",
        "k8s.io~1my~0label",
    ),
    ("matches", "matches('abc', 'a.c')", "true"),
    (
        "matches_string",
        "'xabcx'.matches('abc') && !'abc'.matches('^b')",
        "true",
    ),
    (
        "string_find_string",
        "'a1b22'.find('[0-9]+') + 'abc'.find('[0-9]')",
        "1",
    ),
    ("string_find_all_string", "'a1b22'.findAll('[0-9]+')", "[1, 22]"),
    (
        "string_find_all_string_int",
        "'a1b22c3'.findAll('[0-9]+', 2)",
        "[1, 22]",
    ),
];

const LISTS: &[Case] = &[
    (
        "list_int_is_sorted_bool",
        "[1, 2, 2].isSorted() && ![2, 1].isSorted()",
        "true",
    ),
    (
        "list_uint_is_sorted_bool",
        "[1u, 2u].isSorted() && ![2u, 1u].isSorted()",
        "true",
    ),
    (
        "list_double_is_sorted_bool",
        "[1.0, 2.0].isSorted() && ![2.0, 1.0].isSorted()",
        "true",
    ),
    (
        "list_bool_is_sorted_bool",
        "[false, true].isSorted() && ![true, false].isSorted()",
        "true",
    ),
    (
        "list_duration_is_sorted_bool",
        "[duration('1s'), duration('1m')].isSorted()",
        "true",
    ),
    (
        "list_timestamp_is_sorted_bool",
        "[timestamp(2), timestamp(1)].isSorted()",
        "false",
    ),
    (
        "list_string_is_sorted_bool",
        "['a', 'b'].isSorted() && !['b', 'a'].isSorted()",
        "true",
    ),
    (
        "list_bytes_is_sorted_bool",
        "[b'a', b'b'].isSorted() && ![b'b', b'a'].isSorted()",
        "true",
    ),
    ("list_int_sum_int", "[1, 2, 3].sum()", "6"),
    ("list_uint_sum_uint", "[1u, 2u].sum()", "3"),
    ("list_double_sum_double", "[1.5, 2.0].sum()", "3.5"),
    (
        "list_duration_sum_duration",
        "[duration('1s'), duration('1m')].sum()",
        "61s",
    ),
    ("list_int_max_int", "[1, 3, 2].max()", "3"),
    (
        "list_int_max_int",
        "[].map(i, int(i)).max()",
        "error: max called on empty list",
    ),
    ("list_uint_max_uint", "[1u, 3u].max()", "3"),
    ("list_double_max_double", "[1.0, 3.5].max()", "3.5"),
    ("list_bool_max_bool", "[false, true].max()", "true"),
    (
        "list_duration_max_duration",
        "[duration('1s'), duration('1m')].max()",
        "60s",
    ),
    (
        "list_timestamp_max_timestamp",
        "[timestamp(1), timestamp(2)].max()",
        "1970-01-01T00:00:02Z",
    ),
    ("list_string_max_string", "['a', 'c', 'b'].max()", "c"),
    ("list_bytes_max_bytes", "[b'a', b'c'].max() == b'c'", "true"),
    ("list_int_min_int", "[2, 1, 3].min()", "1"),
    ("list_uint_min_uint", "[3u, 1u].min()", "1"),
    ("list_double_min_double", "[1.5, 3.5].min()", "1.5"),
    ("list_bool_min_bool", "[true, false].min()", "false"),
    (
        "list_duration_min_duration",
        "[duration('1s'), duration('1m')].min()",
        "1s",
    ),
    (
        "list_timestamp_min_timestamp",
        "[timestamp(1), timestamp(2)].min()",
        "1970-01-01T00:00:01Z",
    ),
    ("list_string_min_string", "['b', 'a'].min()", "a"),
    ("list_bytes_min_bytes", "[b'b', b'a'].min() == b'a'", "true"),
    (
        "list_a_index_of_int",
        "['a', 'b', 'b'].indexOf('b') + ['a'].indexOf('c')",
        "0",
    ),
    ("list_a_last_index_of_int", "['a', 'b', 'b'].lastIndexOf('b')", "2"),
    ("list_slice", "[1, 2, 3, 4].slice(1, 3)", "[2, 3]"),
    ("list_flatten", "[[1], [2, 3]].flatten()", "[1, 2, 3]"),
    ("list_flatten_int", "[[1, [2, [3]]]].flatten(2)", "[1, 2, [3]]"),
    ("list_int_sort", "[3, 1, 2].sort()", "[1, 2, 3]"),
    ("list_uint_sort", "[3u, 1u].sort()", "[1, 3]"),
    ("list_double_sort", "[2.5, 1.5].sort()", "[1.5, 2.5]"),
    ("list_bool_sort", "[true, false].sort()", "[false, true]"),
    (
        "list_duration_sort",
        "[duration('1m'), duration('1s')].sort()",
        "[1s, 60s]",
    ),
    (
        "list_timestamp_sort",
        "[timestamp(2), timestamp(1)].sort() == [timestamp(1), timestamp(2)]",
        "true",
    ),
    ("list_string_sort", "['b', 'a'].sort()", "[a, b]"),
    ("list_bytes_sort", "[b'b', b'a'].sort() == [b'a', b'b']", "true"),
    (
        "list_int_sortByAssociatedKeys",
        "['ccc', 'a', 'bb'].sortBy(e, e.size())",
        "[a, bb, ccc]",
    ),
    ("list_uint_sortByAssociatedKeys", "[3, 1].sortBy(e, uint(e))", "[1, 3]"),
    (
        "list_double_sortByAssociatedKeys",
        "[1, 3].sortBy(e, double(-e))",
        "[3, 1]",
    ),
    ("list_bool_sortByAssociatedKeys", "[1, 2].sortBy(e, e == 1)", "[2, 1]"),
    (
        "list_duration_sortByAssociatedKeys",
        "['1m', '1s'].sortBy(e, duration(e))",
        "[1s, 1m]",
    ),
    (
        "list_timestamp_sortByAssociatedKeys",
        "[2, 1].sortBy(e, timestamp(e))",
        "[1, 2]",
    ),
    (
        "list_string_sortByAssociatedKeys",
        "[2, 1].sortBy(e, string(e))",
        "[1, 2]",
    ),
    (
        "list_bytes_sortByAssociatedKeys",
        "['b', 'a'].sortBy(e, bytes(e))",
        "[a, b]",
    ),
    ("lists_range", "lists.range(3)", "[0, 1, 2]"),
    ("list_reverse", "[1, 2, 3].reverse()", "[3, 2, 1]"),
    ("list_distinct", "[1, 2, 1, 3, 2].distinct()", "[1, 2, 3]"),
    (
        "list_sets_contains_list",
        "sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2])",
        "true",
    ),
    (
        "list_sets_equivalent_list",
        "sets.equivalent([1, 2, 2], [2, 1]) && !sets.equivalent([1], [1, 2])",
        "true",
    ),
    (
        "list_sets_intersects_list",
        "sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])",
        "true",
    ),
    (
        "@mapInsert_map_key_value",
        "{'a': 1}.transformMap(k, v, v + 1)",
        "{a: 2}",
    ),
    (
        "@mapInsert_map_map",
        "{'a': 1}.transformMapEntry(k, v, {v: k})",
        "{1: a}",
    ),
    ("optional_of", "optional.of(1).value()", "1"),
    (
        "optional_ofNonZeroValue",
        "optional.ofNonZeroValue('').hasValue() || !optional.ofNonZeroValue('a').hasValue()",
        "false",
    ),
    ("optional_none", "optional.none().hasValue()", "false"),
    (
        "optional_unwrap",
        "optional.unwrap([optional.of(1), optional.none()])",
        "[1]",
    ),
    (
        "optional_unwrapOpt",
        "[optional.of(1), optional.none(), optional.of(2)].unwrapOpt()",
        "[1, 2]",
    ),
    (
        "optional_value",
        "optional.none().value()",
        "error: optional.none() dereference",
    ),
    ("optional_hasValue", "optional.of(1).hasValue()", "true"),
    (
        "optional_or_optional",
        "optional.none().or(optional.of(3)).value()",
        "3",
    ),
    ("optional_orValue_value", "optional.none().orValue(4)", "4"),
    (
        "list_first",
        "[1, 2].first().value() + [3].filter(i, i > 5).first().orValue(10)",
        "11",
    ),
    ("list_last", "[1, 2].last().value()", "2"),
];

const TIMES: &[Case] = &[
    (
        "timestamp_to_year",
        "timestamp('2021-03-04T05:06:07.089Z').getFullYear()",
        "2021",
    ),
    (
        "timestamp_to_year_with_tz",
        "timestamp('2020-12-31T23:00:00Z').getFullYear('+02:00')",
        "2021",
    ),
    (
        "timestamp_to_month",
        "timestamp('2021-03-04T05:06:07Z').getMonth()",
        "2",
    ),
    (
        "timestamp_to_month_with_tz",
        "timestamp('2021-03-31T23:00:00Z').getMonth('Europe/Berlin')",
        "3",
    ),
    (
        "timestamp_to_day_of_year",
        "timestamp('2021-02-01T00:00:00Z').getDayOfYear()",
        "31",
    ),
    (
        "timestamp_to_day_of_year_with_tz",
        "timestamp('2021-01-01T00:00:00Z').getDayOfYear('-01:00')",
        "365",
    ),
    (
        "timestamp_to_day_of_month",
        "timestamp('2021-02-01T00:00:00Z').getDayOfMonth()",
        "0",
    ),
    (
        "timestamp_to_day_of_month_with_tz",
        "timestamp('2021-02-01T00:00:00Z').getDayOfMonth('-01:00')",
        "30",
    ),
    (
        "timestamp_to_day_of_month_1_based",
        "timestamp('2021-02-01T00:00:00Z').getDate()",
        "1",
    ),
    (
        "timestamp_to_day_of_month_1_based_with_tz",
        "timestamp('2021-02-01T00:00:00Z').getDate('-01:00')",
        "31",
    ),
    (
        "timestamp_to_day_of_week",
        "timestamp('2021-03-04T05:06:07Z').getDayOfWeek()",
        "4",
    ),
    (
        "timestamp_to_day_of_week_with_tz",
        "timestamp('2021-03-07T00:00:00Z').getDayOfWeek('UTC')",
        "0",
    ),
    (
        "timestamp_to_hours",
        "timestamp('2021-03-04T05:06:07Z').getHours()",
        "5",
    ),
    (
        "timestamp_to_hours_with_tz",
        "timestamp('2021-03-04T05:06:07Z').getHours('+02:00')",
        "7",
    ),
    ("duration_to_hours", "duration('90m').getHours()", "1"),
    (
        "timestamp_to_minutes",
        "timestamp('2021-03-04T05:06:07Z').getMinutes()",
        "6",
    ),
    (
        "timestamp_to_minutes_with_tz",
        "timestamp('2021-03-04T05:06:07Z').getMinutes('+00:30')",
        "36",
    ),
    ("duration_to_minutes", "duration('1h30m').getMinutes()", "90"),
    (
        "timestamp_to_seconds",
        "timestamp('2021-03-04T05:06:07Z').getSeconds()",
        "7",
    ),
    (
        "timestamp_to_seconds_tz",
        "timestamp('2021-03-04T05:06:07Z').getSeconds('+02:00')",
        "7",
    ),
    ("duration_to_seconds", "duration('1m1s').getSeconds()", "61"),
    (
        "timestamp_to_milliseconds",
        "timestamp('2021-03-04T05:06:07.089Z').getMilliseconds()",
        "89",
    ),
    (
        "timestamp_to_milliseconds_with_tz",
        "timestamp('2021-03-04T05:06:07.089Z').getMilliseconds('UTC')",
        "89",
    ),
    (
        "duration_to_milliseconds",
        "duration('1.234s').getMilliseconds()",
        "234",
    ),
];

const KUBERNETES: &[Case] = &[
    (
        "string_to_url",
        "url('https://h/a') == url('https://h/a') && url('/a') != url('/b')",
        "true",
    ),
    (
        "is_url_string",
        "isURL('https://h/p') && isURL('/p') && !isURL('://') && !isURL('a b')",
        "true",
    ),
    (
        "url_get_scheme",
        "url('https://h:80/p').getScheme() + url('/p').getScheme()",
        "https",
    ),
    ("url_get_host", "url('https://u@h:80/p').getHost()", "h:80"),
    ("url_get_hostname", "url('https://[::1]:80/p').getHostname()", "::1"),
    (
        "url_get_port",
        "url('https://h:8443/').getPort() + url('https://h/').getPort()",
        "8443",
    ),
    (
        "url_get_escaped_path",
        "url('https://h/a b/c').getEscapedPath()",
        "/a%20b/c",
    ),
    (
        "url_get_query",
        "url('https://h/?k=a&k=b&l=c').getQuery()['k']",
        "[a, b]",
    ),
    ("string_to_ip", "ip('10.0.0.1') == ip('10.0.0.1')", "true"),
    ("cidr_ip", "string(cidr('10.1.2.3/8').ip())", "10.1.2.3"),
    (
        "is_ip",
        "isIP('10.0.0.1') && isIP('::1') && !isIP('10.0.0.256') && !isIP('::ffff:1.2.3.4')",
        "true",
    ),
    (
        "ip_is_canonical",
        "ip.isCanonical('::1') && !ip.isCanonical('0::1')",
        "true",
    ),
    ("ip_family", "ip('10.0.0.1').family() * 10 + ip('::1').family()", "46"),
    (
        "ip_is_unspecified",
        "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('::1').isUnspecified()",
        "true",
    ),
    (
        "ip_is_loopback",
        "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('10.0.0.1').isLoopback()",
        "true",
    ),
    (
        "ip_is_link_local_multicast",
        "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
        "true",
    ),
    (
        "ip_is_link_local_unicast",
        "ip('169.254.0.1').isLinkLocalUnicast() && !ip('10.0.0.1').isLinkLocalUnicast()",
        "true",
    ),
    (
        "ip_is_global_unicast",
        "ip('10.0.0.1').isGlobalUnicast() && !ip('127.0.0.1').isGlobalUnicast()",
        "true",
    ),
    ("string_to_cidr", "cidr('10.0.0.0/8') == cidr('10.0.0.0/8')", "true"),
    (
        "is_cidr",
        "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0')",
        "true",
    ),
    (
        "cidr_contains_ip_string",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP('11.0.0.1')",
        "true",
    ),
    (
        "cidr_contains_ip_ip",
        "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))",
        "true",
    ),
    (
        "cidr_contains_cidr_string",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.0.0.0/8').containsCIDR('0.0.0.0/0')",
        "true",
    ),
    (
        "cidr_contains_cidr",
        "cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/8'))",
        "true",
    ),
    ("cidr_prefix_length", "cidr('10.0.0.0/8').prefixLength()", "8"),
    ("cidr_masked", "string(cidr('10.1.2.3/8').masked())", "10.0.0.0/8"),
    ("string_to_quantity", "quantity('1000m') == quantity('1')", "true"),
    (
        "is_quantity_string",
        "isQuantity('1.5Gi') && isQuantity('1k') && !isQuantity('1K') && !isQuantity('x')",
        "true",
    ),
    (
        "quantity_sign",
        "quantity('-1').sign() * 10 + quantity('0').sign()",
        "-10",
    ),
    (
        "quantity_is_greater_than",
        "quantity('1Gi').isGreaterThan(quantity('1G')) && !quantity('1').isGreaterThan(quantity('1'))",
        "true",
    ),
    (
        "quantity_is_less_than",
        "quantity('1G').isLessThan(quantity('1Gi'))",
        "true",
    ),
    (
        "quantity_compare_to",
        "quantity('1').compareTo(quantity('2')) * 10 + quantity('500m').compareTo(quantity('0.5'))",
        "-10",
    ),
    ("quantity_get_float", "quantity('1500m').asApproximateFloat()", "1.5"),
    ("quantity_get_int", "quantity('50k').asInteger()", "50000"),
    (
        "quantity_is_integer",
        "quantity('50k').isInteger() && !quantity('1m').isInteger()",
        "true",
    ),
    (
        "quantity_add",
        "quantity('50k').add(quantity('20')) == quantity('50020')",
        "true",
    ),
    (
        "quantity_add_int",
        "quantity('50k').add(20) == quantity('50020')",
        "true",
    ),
    (
        "quantity_sub",
        "quantity('50k').sub(quantity('20')) == quantity('49980')",
        "true",
    ),
    (
        "quantity_sub_int",
        "quantity('50k').sub(20) == quantity('49980')",
        "true",
    ),
    ("string_to_semver", "semver('1.2.3') == semver('1.2.3+build')", "true"),
    (
        "string_bool_to_semver",
        "semver('v01.2', true) == semver('1.2.0')",
        "true",
    ),
    (
        "is_semver_string",
        "isSemver('1.2.3-rc.1') && !isSemver('v1.2.3') && !isSemver('1.2')",
        "true",
    ),
    (
        "is_semver_string_bool",
        "isSemver('v1.2', true) && !isSemver('v1.2', false)",
        "true",
    ),
    (
        "semver_is_greater_than",
        "semver('1.10.0').isGreaterThan(semver('1.9.0')) && semver('1.0.0').isGreaterThan(semver('1.0.0-rc'))",
        "true",
    ),
    (
        "semver_is_less_than",
        "semver('1.2.3').isLessThan(semver('1.2.4'))",
        "true",
    ),
    ("semver_compare_to", "semver('1.2.3').compareTo(semver('1.2.3'))", "0"),
    ("semver_major", "semver('1.2.3').major()", "1"),
    ("semver_minor", "semver('1.2.3').minor()", "2"),
    ("semver_patch", "semver('1.2.3').patch()", "3"),
    (
        "format-validate",
        "format.dns1123Label().validate('a-b').hasValue() || !format.dns1123Label().validate('A').hasValue()",
        "false",
    ),
    (
        "format-named",
        "format.named('dns1123Label').hasValue() && !format.named('nope').hasValue()",
        "true",
    ),
];

/// Pairs of types that can be compared, and a smaller and a larger value of each.
const ORDERED: &[(&str, [&str; 2], [&str; 2])] = &[
    ("bool", ["false", "true"], ["false", "true"]),
    ("int64", ["1", "2"], ["1", "2"]),
    ("int64_double", ["1", "2"], ["1.0", "2.0"]),
    ("int64_uint64", ["1", "2"], ["1u", "2u"]),
    ("uint64", ["1u", "2u"], ["1u", "2u"]),
    ("uint64_double", ["1u", "2u"], ["1.0", "2.0"]),
    ("uint64_int64", ["1u", "2u"], ["1", "2"]),
    ("double", ["1.5", "2.5"], ["1.5", "2.5"]),
    ("double_int64", ["1.0", "2.0"], ["1", "2"]),
    ("double_uint64", ["1.0", "2.0"], ["1u", "2u"]),
    ("string", ["'a'", "'b'"], ["'a'", "'b'"]),
    ("bytes", ["b'a'", "b'b'"], ["b'a'", "b'b'"]),
    (
        "timestamp",
        ["timestamp(1)", "timestamp(2)"],
        ["timestamp(1)", "timestamp(2)"],
    ),
    (
        "duration",
        ["duration('1s')", "duration('2s')"],
        ["duration('1s')", "duration('2s')"],
    ),
];

/// The comparisons, with their results for a smaller, an equal and a larger left operand.
const COMPARISONS: [(&str, &str, [bool; 3]); 4] = [
    ("less", "<", [true, false, false]),
    ("less_equals", "<=", [true, true, false]),
    ("greater", ">", [false, false, true]),
    ("greater_equals", ">=", [false, true, true]),
];

const TABLES: [&[Case]; 6] = [OPERATORS, CONVERSIONS, STRINGS, LISTS, TIMES, KUBERNETES];

#[test]
fn functions_return_what_the_specification_says() {
    for (_, expression, expected) in TABLES.into_iter().flatten() {
        check(expression, expected);
    }
}

#[test]
fn values_are_compared_by_their_order() {
    for (_, left, right) in ORDERED {
        for (_, operator, results) in COMPARISONS {
            let cases = [(left[0], right[1]), (left[0], right[0]), (left[1], right[0])];
            for ((left, right), expected) in cases.into_iter().zip(results) {
                check(&format!("{left} {operator} {right}"), &expected.to_string());
            }
        }
    }
}

#[test]
fn every_overload_has_a_case() {
    let mut tested: BTreeSet<String> = TABLES.into_iter().flatten().map(|(id, ..)| (*id).to_owned()).collect();
    let comparisons = COMPARISONS
        .iter()
        .flat_map(|(operator, ..)| ORDERED.iter().map(move |(types, ..)| format!("{operator}_{types}")));
    tested.extend(comparisons);
    // Calls of the authorizer are compiled and estimated only.
    let authorizer = |id: &str| id.starts_with("authorizer") || id.contains("check_") || id.starts_with("decision");
    let all: BTreeSet<String> = ids().filter(|id| !authorizer(id)).map(str::to_owned).collect();
    let untested: Vec<&String> = all.difference(&tested).collect();
    let unknown: Vec<&String> = tested.difference(&all).collect();
    assert!(
        untested.is_empty() && unknown.is_empty(),
        "without a case: {untested:?}; not functions: {unknown:?}"
    );
}
