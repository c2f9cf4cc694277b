//! Names of gRPC's status codes, as Go has them in metrics and messages.

/// The names by code.
const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// Returns the name of a status code; that of an unknown error for a code that gRPC does not define.
#[must_use]
pub fn code_name(code: i32) -> &'static str {
    let known = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
    known.unwrap_or(&"Unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_go() {
        for (code, name) in [
            (0, "OK"),
            (1, "Canceled"),
            (4, "DeadlineExceeded"),
            (14, "Unavailable"),
            (16, "Unauthenticated"),
            (17, "Unknown"),
            (-1, "Unknown"),
        ] {
            assert_eq!(code_name(code), name, "{code}");
        }
    }
}
