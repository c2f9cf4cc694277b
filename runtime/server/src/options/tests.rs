use planesmith_machinery::feature::Features;

use super::*;
use crate::features::{ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION, WATCH_LIST};

fn list(query: &str) -> Result<String, String> {
    let options = ListOptions::for_list(Query::new(query)).map_err(|error| error.message().to_owned())?;
    Ok(format!("{:?} {:?}", options.limit, options.version_match))
}

fn watch(query: &str) -> Result<(Start, bool), String> {
    watch_with(query, Features::defaults())
}

fn watch_with(query: &str, features: &Features) -> Result<(Start, bool), String> {
    let options = ListOptions::for_watch(Query::new(query), features).map_err(|error| error.message().to_owned())?;
    let version = parse_version_field(&options.resource_version)?;
    Ok((options.start(version), options.requests_state()))
}

#[test]
fn lists_take_sensible_combinations() {
    assert_eq!(list("limit=3"), Ok("Some(3) None".to_owned()));
    assert_eq!(list("limit=0"), Ok("None None".to_owned()));
    assert_eq!(list("limit=-1"), Ok("None None".to_owned()));
    let exact = "resourceVersion=5&resourceVersionMatch=Exact";
    assert_eq!(list(exact), Ok("None Some(Exact)".to_owned()));
    assert_eq!(
        list("limit=many"),
        Err(r#"strconv.ParseInt: parsing "many": invalid syntax"#.to_owned())
    );
}

#[test]
fn lists_refuse_what_contradicts_itself() {
    let invalid = r#"ListOptions.meta.k8s.io "" is invalid: "#;
    let cases = [
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            r#"resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0""#,
        ),
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersion=1&resourceVersionMatch=Newest",
            r#"resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", """#,
        ),
        (
            "sendInitialEvents=true",
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
    ];
    for (query, message) in cases {
        assert_eq!(list(query), Err(format!("{invalid}{message}")), "{query}");
    }
}

#[test]
fn selectors_are_parsed_before_options_are_checked() {
    for (selector, mark) in [("labelSelector=a%3D!b", "!"), ("fieldSelector=x>1", "x>1")] {
        let query = format!("{selector}&resourceVersionMatch=foo");
        let message = list(&query).expect_err("two mistakes");
        assert!(
            !message.contains("resourceVersionMatch") && message.contains(mark),
            "{message}"
        );
        assert!(
            watch(&format!("{query}&watch=1"))
                .expect_err("two mistakes")
                .contains(mark)
        );
    }
    // An unknown field is found later.
    let message = list("fieldSelector=x%3D1&resourceVersionMatch=Exact").expect_err("two mistakes");
    assert!(message.contains("resourceVersionMatch"), "{message}");
}

#[test]
fn watches_start_with_the_state_or_with_changes() {
    assert_eq!(watch("watch=1"), Ok((Start::State, true)));
    assert_eq!(watch("watch=1&resourceVersion=0"), Ok((Start::State, true)));
    assert_eq!(watch("watch=1&resourceVersion=7"), Ok((Start::Changes, false)));
    let streamed = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7";
    assert_eq!(watch(streamed), Ok((Start::State, true)));
    let unwanted = "watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    assert_eq!(watch(unwanted), Ok((Start::Changes, false)));
}

#[test]
fn a_watch_by_path_takes_the_parameters_of_a_list() {
    assert_eq!(watch(""), Ok((Start::State, false)));
    assert_eq!(watch("resourceVersion=7"), Ok((Start::Changes, false)));
    assert_eq!(
        watch("resourceVersion=7&resourceVersionMatch=Exact"),
        Ok((Start::Changes, false))
    );
    assert!(watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan").is_err());
}

#[test]
fn watches_refuse_what_contradicts_itself() {
    let invalid = r#"ListOptions.meta.k8s.io "" is invalid: "#;
    let demand =
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let unsupported = r#"resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan""#;
    let cases = [
        ("sendInitialEvents=perhaps", demand.to_owned()),
        (
            "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=4",
            format!("[{demand}, {unsupported}]"),
        ),
        (
            "resourceVersionMatch=NotOlderThan",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
                .to_owned(),
        ),
        (
            "continue=abc",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided".to_owned(),
        ),
    ];
    for (query, message) in cases {
        let query = format!("watch=1&{query}");
        assert_eq!(watch(&query), Err(format!("{invalid}{message}")), "{query}");
    }
}

#[test]
fn writes_know_their_parameters() {
    let write = |query| {
        let options = WriteOptions::for_create(Query::new(query)).map_err(|error| error.message().to_owned())?;
        Ok::<_, String>((options.dry_run, options.field_validation))
    };
    assert_eq!(write(""), Ok((false, FieldValidation::Warn)));
    assert_eq!(
        write("dryRun=All&dryRun=All&fieldValidation=Ignore"),
        Ok((true, FieldValidation::Ignore))
    );
    let invalid = r#"CreateOptions.meta.k8s.io "" is invalid: "#;
    let two = r#"dryRun: Unsupported value: ["All","Some"]: supported values: "All""#;
    assert_eq!(write("dryRun=All&dryRun=Some"), Err(format!("{invalid}{two}")));
    let validation = r#"fieldValidation: Unsupported value: "Very": supported values: "", "Ignore", "Strict", "Warn""#;
    assert_eq!(write("fieldValidation=Very"), Err(format!("{invalid}{validation}")));
    let long = format!("fieldManager={}", "x".repeat(129));
    let message = "fieldManager: Too long: may not be more than 128 bytes";
    assert_eq!(write(&long), Err(format!("{invalid}{message}")));
    assert!(WriteOptions::for_patch(Query::new("force=false")).is_err());
}

#[test]
fn watches_begin_with_the_state_only_where_that_is_a_feature() {
    let without = Features::default().with(&WATCH_LIST, false);
    let initial = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    assert_eq!(watch(initial), Ok((Start::State, true)));
    let refused = watch_with(initial, &without).expect_err("switched off");
    assert!(
        refused.ends_with("unless the WatchList feature gate is enabled"),
        "{refused}"
    );
    assert_eq!(watch("watch=1"), Ok((Start::State, true)));
    assert_eq!(watch_with("watch=1", &without), Ok((Start::State, false)));
}

#[test]
fn deletes_know_their_parameters() {
    let read = |query, features: &Features| {
        DeleteOptions::from_query(Query::new(query), features).map_err(|error| error.message().to_owned())
    };
    let delete = |query| read(query, Features::defaults());
    let options = delete("propagationPolicy=Foreground&gracePeriodSeconds=-5").expect("legal");
    assert_eq!(options.propagation, Some(Propagation::Foreground));
    let message = r#"DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "foreground": supported values: "Foreground", "Background", "Orphan", "nil""#;
    assert_eq!(
        delete("propagationPolicy=foreground").expect_err("case counts"),
        message
    );
    assert!(delete("gracePeriodSeconds=soon").is_err());
    let unread = delete("ignoreStoreReadErrorWithClusterBreakingPotential=true&gracePeriodSeconds=1").expect("unknown");
    let sent = &unread.sent.ignore_store_read_error_with_cluster_breaking_potential;
    assert_eq!((unread.only_unreadable, sent), (false, &None), "the feature is off");
    let features = Features::default().with(&ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION, true);
    let unread = read("ignoreStoreReadErrorWithClusterBreakingPotential=true", &features).expect("legal");
    assert!(unread.only_unreadable);
    let options = delete("uid=u&uid=v&resourceVersion=7").expect("legal");
    assert_eq!(
        (options.uid.as_deref(), options.resource_version.as_deref()),
        (Some("u"), Some("7"))
    );
    assert_eq!(delete("uid=&resourceVersion=").expect("legal").sent.preconditions, None);
}

#[test]
fn versions_are_read_as_go_reads_them() {
    assert_eq!(parse_version("12"), Ok(12));
    assert_eq!(
        parse_version_field("abc"),
        Err(r#"resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax"#.to_owned())
    );
    assert_eq!(
        parse_version("99999999999999999999"),
        Err(r#"strconv.ParseUint: parsing "99999999999999999999": value out of range"#.to_owned())
    );
    assert!(parse_version("+5").is_err());
    assert!(parse_version("-5").is_err());
}
