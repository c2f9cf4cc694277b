//! What a request wants to do.

use std::fmt;

use http::Method;

/// What a request wants to do: an action on a resource, or the method for any other path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object; also GET of a path that is no resource.
    Get,
    /// Read a collection.
    List,
    /// Follow changes.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object; also PATCH of a path that is no resource.
    Patch,
    /// Remove an object; also DELETE of a path that is no resource.
    Delete,
    /// Remove a collection.
    DeleteCollection,
    /// Reach through the object, by the old `/proxy/` path prefix.
    Proxy,
    /// POST of a path that is no resource.
    Post,
    /// PUT of a path that is no resource.
    Put,
    /// HEAD of a path that is no resource.
    Head,
    /// OPTIONS of a path that is no resource.
    Options,
    /// A method that has no meaning for a resource, or one that nobody knows.
    Unknown,
}

impl Verb {
    /// All the verbs of a stored kind, in the order in which discovery lists them.
    pub const STORED: &'static [Verb] = &[
        Verb::Create,
        Verb::Delete,
        Verb::DeleteCollection,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ];

    /// The verb as authorization rules, metrics and discovery write it; empty for [`Verb::Unknown`].
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

    /// What `method` means for a resource, before it is known whether one object or a collection is meant.
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

    /// What `method` means for any other path.
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

    /// Whether the verb leaves everything as it is.
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
