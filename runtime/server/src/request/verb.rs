//! The verb of a request.

use std::fmt;

use http::Method;

/// The verb of a request: an action on a resource, or the method for any other path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object; also GET of a path that is not a resource.
    Get,
    /// Read a collection.
    List,
    /// Follow the changes of objects.
    Watch,
    /// Create an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object; also PATCH of a path that is not a resource.
    Patch,
    /// Delete an object; also DELETE of a path that is not a resource.
    Delete,
    /// Delete a collection.
    DeleteCollection,
    /// Send a request through the object, by the old `/proxy/` path prefix.
    Proxy,
    /// POST of a path that is not a resource.
    Post,
    /// PUT of a path that is not a resource.
    Put,
    /// HEAD of a path that is not a resource.
    Head,
    /// OPTIONS of a path that is not a resource.
    Options,
    /// A method that has no meaning for a resource, or an unknown one.
    Unknown,
}

impl Verb {
    /// All the verbs of a stored kind, in the order in which discovery lists them.
    pub const STORED: [Verb; 8] = [
        Verb::Create,
        Verb::Delete,
        Verb::DeleteCollection,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ];

    /// The verb in authorization rules, metrics and discovery; empty for [`Verb::Unknown`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Proxy => "proxy",
            Verb::Post => "post",
            Verb::Put => "put",
            Verb::Head => "head",
            Verb::Options => "options",
            Verb::Unknown => "",
        }
    }

    /// The verb for `method` on a resource, before the path decides between one object and a collection.
    pub(super) fn of_resource(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Verb::Get,
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::DELETE => Verb::Delete,
            _ => Verb::Unknown,
        }
    }

    /// The verb for `method` on any other path.
    pub(super) fn of_path(method: &Method) -> Self {
        match *method {
            Method::GET => Verb::Get,
            Method::POST => Verb::Post,
            Method::PUT => Verb::Put,
            Method::PATCH => Verb::Patch,
            Method::DELETE => Verb::Delete,
            Method::HEAD => Verb::Head,
            Method::OPTIONS => Verb::Options,
            _ => Verb::Unknown,
        }
    }

    /// True if the verb changes nothing.
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        matches!(self, Verb::Get | Verb::List | Verb::Watch | Verb::Head | Verb::Options)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
