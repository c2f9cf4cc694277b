//! The reasons for which requests fail, for programs.

use std::fmt;

/// The reason why a request failed; clients test for these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Credentials are missing or wrong.
    Unauthorized,
    /// Known, but not allowed.
    Forbidden,
    /// There is no such object or path.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// The object changed in between, or a precondition does not hold.
    Conflict,
    /// The address is gone for good.
    Gone,
    /// The object breaks rules.
    Invalid,
    /// A passing trouble kept the operation from finishing.
    ServerTimeout,
    /// The object in the store cannot be read.
    StoreReadError,
    /// The time allowed for the request is over.
    Timeout,
    /// Too much is asked at once.
    TooManyRequests,
    /// The request makes no sense.
    BadRequest,
    /// The path does not take this method.
    MethodNotAllowed,
    /// No acceptable media type can be produced.
    NotAcceptable,
    /// The body is too big.
    RequestEntityTooLarge,
    /// The body is of a media type that is not taken.
    UnsupportedMediaType,
    /// Something broke inside.
    InternalError,
    /// The revision or token is older than the history kept.
    Expired,
    /// The server cannot do this now.
    ServiceUnavailable,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 19] = [
        Reason::Unauthorized,
        Reason::Forbidden,
        Reason::NotFound,
        Reason::AlreadyExists,
        Reason::Conflict,
        Reason::Gone,
        Reason::Invalid,
        Reason::ServerTimeout,
        Reason::StoreReadError,
        Reason::Timeout,
        Reason::TooManyRequests,
        Reason::BadRequest,
        Reason::MethodNotAllowed,
        Reason::NotAcceptable,
        Reason::RequestEntityTooLarge,
        Reason::UnsupportedMediaType,
        Reason::InternalError,
        Reason::Expired,
        Reason::ServiceUnavailable,
    ];

    /// The HTTP status code that goes with the reason.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Reason::BadRequest => 400,
            Reason::Unauthorized => 401,
            Reason::Forbidden => 403,
            Reason::NotFound => 404,
            Reason::MethodNotAllowed => 405,
            Reason::NotAcceptable => 406,
            Reason::AlreadyExists | Reason::Conflict => 409,
            Reason::Gone | Reason::Expired => 410,
            Reason::RequestEntityTooLarge => 413,
            Reason::UnsupportedMediaType => 415,
            Reason::Invalid => 422,
            Reason::TooManyRequests => 429,
            Reason::InternalError | Reason::ServerTimeout | Reason::StoreReadError => 500,
            Reason::ServiceUnavailable => 503,
            Reason::Timeout => 504,
        }
    }

    /// The reason as it stands in a Status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Unauthorized => "Unauthorized",
            Reason::Forbidden => "Forbidden",
            Reason::NotFound => "NotFound",
            Reason::AlreadyExists => "AlreadyExists",
            Reason::Conflict => "Conflict",
            Reason::Gone => "Gone",
            Reason::Invalid => "Invalid",
            Reason::ServerTimeout => "ServerTimeout",
            Reason::StoreReadError => "StorageReadError",
            Reason::Timeout => "Timeout",
            Reason::TooManyRequests => "TooManyRequests",
            Reason::BadRequest => "BadRequest",
            Reason::MethodNotAllowed => "MethodNotAllowed",
            Reason::NotAcceptable => "NotAcceptable",
            Reason::RequestEntityTooLarge => "RequestEntityTooLarge",
            Reason::UnsupportedMediaType => "UnsupportedMediaType",
            Reason::InternalError => "InternalError",
            Reason::Expired => "Expired",
            Reason::ServiceUnavailable => "ServiceUnavailable",
        }
    }

    /// The reason of this text; `None` for one that is not known.
    #[must_use]
    pub fn parse(text: &str) -> Option<Reason> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
