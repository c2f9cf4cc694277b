use super::{AllowedPaths, AlwaysDeny, Attributes, Authorizer, Decision, PrivilegedGroup, Target, Union};
use crate::user::UserInfo;

fn decide(group: &str, path: &str) -> Decision {
    let authorizers: Vec<Box<dyn Authorizer>> = vec![
        Box::new(PrivilegedGroup),
        Box::new(AllowedPaths::new(["/healthz", "/public/*"])),
        Box::new(AlwaysDeny),
    ];
    let user = UserInfo {
        name: "u".to_owned(),
        groups: vec![group.to_owned()],
        ..UserInfo::default()
    };
    Union::new(authorizers).authorize(&Attributes::new(&user, "get", Target::Path(path)))
}

#[test]
fn the_first_opinion_decides() {
    assert_eq!(decide("system:masters", "/metrics"), Decision::Allow);
    assert_eq!(decide("g", "/healthz"), Decision::Allow);
    assert_eq!(decide("g", "/public/a/b"), Decision::Allow);
}

#[test]
fn without_an_opinion_the_reasons_are_kept() {
    let nobody = Decision::NoOpinion("Everything is forbidden.".to_owned());
    assert_eq!(decide("g", "/healthz/ping"), nobody);
    assert_eq!(decide("g", "/publi"), nobody);
}

/// Fails to decide, with a reason.
#[derive(Debug)]
struct Lost(&'static str);

impl Authorizer for Lost {
    fn authorize(&self, _: &Attributes<'_>) -> Decision {
        Decision::Failed(self.0.to_owned())
    }
}

#[test]
fn what_cannot_be_found_out_is_no_refusal() {
    let user = UserInfo::default();
    let decide = |authorizers| {
        let action = Attributes::new(&user, "get", Target::Path("/healthz"));
        Union::new(authorizers).authorize(&action)
    };
    let failed = Decision::Failed("nobody answers".to_owned());
    let lost = || Box::new(Lost("nobody answers"));
    assert_eq!(decide(vec![lost(), Box::new(AlwaysDeny)]), failed);
    assert_eq!(decide(vec![lost(), lost()]), failed);
    let several = decide(vec![lost(), Box::new(Lost("nobody is there")), lost()]);
    assert_eq!(
        several,
        Decision::Failed("[nobody answers, nobody is there]".to_owned())
    );
    let allowed: Box<dyn Authorizer> = Box::new(AllowedPaths::new(["/healthz"]));
    assert_eq!(decide(vec![lost(), allowed]), Decision::Allow);
}
