//! Machine-readable reasons of failures.

use std::fmt;

/// The reason of a failure; clients compare these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Credentials are missing or wrong.
    Unauthorized,
    /// The user is authenticated but not allowed to do this.
    Forbidden,
    /// The object or path does not exist.
    NotFound,
    /// An object with this name exists.
    AlreadyExists,
    /// The object was modified concurrently, or a precondition failed.
    Conflict,
    /// The address is permanently unavailable.
    Gone,
    /// The object is invalid.
    Invalid,
    /// A temporary condition made the operation fail.
    ServerTimeout,
    /// The stored object cannot be decoded.
    StoreReadError,
    /// The request exceeded its deadline.
    Timeout,
    /// The client sends too many requests.
    TooManyRequests,
    /// The request is malformed.
    BadRequest,
    /// The path does not support this method.
    MethodNotAllowed,
    /// No acceptable media type can be produced.
    NotAcceptable,
    /// The body is too large.
    RequestEntityTooLarge,
    /// The media type of the body is not supported.
    UnsupportedMediaType,
    /// An internal failure.
    InternalError,
    /// The revision or token is older than the retained history.
    Expired,
    /// The server is temporarily unable to serve the request.
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

    /// Returns the HTTP status code of the reason.
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

    /// Returns the reason as text, as in a Status.
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

    /// Returns the reason with this text; `None` if it is unknown.
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
