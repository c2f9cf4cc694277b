//! Functions of times, and Kubernetes' libraries.

use super::Case;

pub(super) const TIMES: &[Case] = &[
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
        "1234",
    ),
];

pub(super) const KUBERNETES: &[Case] = &[
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
    (
        "url_get_query",
        "url('https://h/?a=%zz&b=1;c=2&%4=1&d').getQuery()",
        "{d: []}",
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
    (
        "string_to_cidr",
        "cidr('10.0.0.0/33')",
        "error: network address parse error during conversion from string: network address parse error during \
         conversion from string: netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of range",
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
        "sign(quantity('-1')) * 10 + sign(quantity('0'))",
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
    (
        "format.byte",
        "!format.byte().validate('YQ==').hasValue() && format.byte().validate('%').hasValue()",
        "true",
    ),
    (
        "format.date",
        "!format.date().validate('2020-01-31').hasValue() && format.date().validate('2020-02-31').hasValue()",
        "true",
    ),
    (
        "format.datetime",
        "!format.datetime().validate('2020-01-31T00:00:00Z').hasValue() && format.datetime().validate('2020-01-31').hasValue()",
        "true",
    ),
    (
        "format.dns1035Label",
        "!format.dns1035Label().validate('a-b').hasValue() && format.dns1035Label().validate('1a').hasValue()",
        "true",
    ),
    (
        "format.dns1035LabelPrefix",
        "!format.dns1035LabelPrefix().validate('a-').hasValue() && format.dns1035LabelPrefix().validate('1a').hasValue()",
        "true",
    ),
    (
        "format.dns1123Label",
        "!format.dns1123Label().validate('1-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
        "true",
    ),
    (
        "format.dns1123LabelPrefix",
        "!format.dns1123LabelPrefix().validate('1-').hasValue() && format.dns1123LabelPrefix().validate('A').hasValue()",
        "true",
    ),
    (
        "format.dns1123Subdomain",
        "!format.dns1123Subdomain().validate('a.b').hasValue() && format.dns1123Subdomain().validate('a_b').hasValue()",
        "true",
    ),
    (
        "format.dns1123SubdomainPrefix",
        "!format.dns1123SubdomainPrefix().validate('a.b-').hasValue() && format.dns1123SubdomainPrefix().validate('a_b').hasValue()",
        "true",
    ),
    (
        "format.labelValue",
        "!format.labelValue().validate('a_b').hasValue() && format.labelValue().validate('a b').hasValue()",
        "true",
    ),
    (
        "format.qualifiedName",
        "!format.qualifiedName().validate('a.b/c').hasValue() && format.qualifiedName().validate('a/b/c').hasValue()",
        "true",
    ),
    (
        "format.uri",
        "!format.uri().validate('https://h/p').hasValue() && format.uri().validate('://').hasValue()",
        "true",
    ),
    (
        "format.uuid",
        "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue() && format.uuid().validate('123').hasValue()",
        "true",
    ),
];
