//! Parameters of requests.

/// A parameter of a path or a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameter {
    /// The name.
    pub(super) name: &'static str,
    /// `query` or `path`.
    pub(super) place: &'static str,
    /// `string`, `integer` or `boolean`.
    pub(super) ty: &'static str,
    /// The name suffix under which operations of version 2 share it; empty if it is not shared.
    pub(super) shared: &'static str,
    /// The description.
    pub(super) doc: &'static str,
}

const fn query(name: &'static str, ty: &'static str, shared: &'static str, doc: &'static str) -> Parameter {
    Parameter {
        name,
        place: "query",
        ty,
        shared,
        doc,
    }
}

const fn path(name: &'static str, shared: &'static str, doc: &'static str) -> Parameter {
    Parameter {
        name,
        place: "path",
        ty: "string",
        shared,
        doc,
    }
}

pub(super) const NAME: Parameter = path("name", "", "Name of the object.");
pub(super) const NAMESPACE: Parameter = path("namespace", "vgWSWtn3", "Namespace of the objects.");
pub(super) const PRETTY: Parameter = query(
    "pretty",
    "string",
    "tJGM1-ng",
    "true indents the response. The default depends on the user agent.",
);

const BOOKMARKS: Parameter = query(
    "allowWatchBookmarks",
    "boolean",
    "HC2hJt-J",
    "Enables bookmarks in a watch: events that carry only a newer resourceVersion to resume from.",
);
const CONTINUE: Parameter = query(
    "continue",
    "string",
    "QfD61s0i",
    "Continue token from the metadata of the previous page. An expired token fails with 410; the list must then be \
     restarted.",
);
const DRY_RUN: Parameter = query(
    "dryRun",
    "string",
    "",
    "All processes the request without persisting changes.",
);
const FIELD_MANAGER: Parameter = query(
    "fieldManager",
    "string",
    "Qy4HdaTW",
    "Name of the field manager, up to 128 printable characters. Defaults to the user agent.",
);
const PATCH_MANAGER: Parameter = query(
    "fieldManager",
    "string",
    "7c6nTn1T",
    "Name of the field manager, up to 128 printable characters. Required for apply; otherwise defaults to the user agent.",
);
const FIELD_SELECTOR: Parameter = query(
    "fieldSelector",
    "string",
    "xIcQKXFG",
    "Restricts the result to objects with these field values, such as metadata.name=web.",
);
const FIELD_VALIDATION: Parameter = query(
    "fieldValidation",
    "string",
    "",
    "Handling of unknown and duplicate fields: Strict rejects the request, Warn (the default) returns warnings, Ignore \
     drops the fields.",
);
const FORCE: Parameter = query(
    "force",
    "boolean",
    "tOGGb0Yi",
    "true takes ownership of fields of other managers. Only for apply.",
);
const GRACE_PERIOD: Parameter = query(
    "gracePeriodSeconds",
    "integer",
    "-K5HaBOS",
    "Seconds before the object is deleted; 0 deletes immediately. The default depends on the kind.",
);
const IGNORE_BROKEN: Parameter = query(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "QbNkfIqj",
    "Deletes an object even if it cannot be read from the store; bypasses its finalizers.",
);
const LABEL_SELECTOR: Parameter = query(
    "labelSelector",
    "string",
    "5Zw57w4C",
    "Restricts the list of returned objects to those with these labels, such as app=web,tier!=cache.",
);
const LIMIT: Parameter = query(
    "limit",
    "integer",
    "1NfNmdNH",
    "Maximum number of objects in one response. The continue token in its metadata requests the next page.",
);
const ORPHAN_DEPENDENTS: Parameter = query(
    "orphanDependents",
    "boolean",
    "uRB25kX5",
    "true orphans dependents. Deprecated: use propagationPolicy.",
);
const PROPAGATION_POLICY: Parameter = query(
    "propagationPolicy",
    "string",
    "6jk3prlO",
    "Propagation to dependents: Orphan keeps them, Background deletes them after the object, Foreground before it.",
);
const RESOURCE_VERSION: Parameter = query(
    "resourceVersion",
    "string",
    "5WAnf1kx",
    "Minimum resource version of the result, or start of a watch. Absent means the newest version, 0 means any.",
);
const RESOURCE_VERSION_MATCH: Parameter = query(
    "resourceVersionMatch",
    "string",
    "t8XhRHeC",
    "Interpretation of resourceVersion in a list: Exact means that version, NotOlderThan that version or a newer one.",
);
const INITIAL_EVENTS: Parameter = query(
    "sendInitialEvents",
    "boolean",
    "rLXlEK_k",
    "true starts a watch with all existing objects, followed by a bookmark with the annotation \
     k8s.io/initial-events-end. Requires resourceVersionMatch=NotOlderThan.",
);
const SHARD_SELECTOR: Parameter = query(
    "shardSelector",
    "string",
    "Kgyki_3_",
    "Restricts the result to one shard of the collection. Alpha; requires the feature ShardedListAndWatch.",
);
const TIMEOUT: Parameter = query(
    "timeoutSeconds",
    "integer",
    "yvYezaOC",
    "Timeout of a list or watch in seconds.",
);
const WATCH: Parameter = query(
    "watch",
    "boolean",
    "XNNPZGbK",
    "Watch for changes to the described resources, sent as they happen, instead of a list.",
);

const PATH_BELOW: Parameter = path("path", "z6Ciiujn", "Path of the proxied request.");

/// Parameters of connections to the main process of a container.
pub(super) const ATTACH: &[Parameter] = &[
    query("container", "string", "_Q-EJ3nR", ONLY_CONTAINER),
    query("stderr", "boolean", "26jJhFUR", "true connects standard error."),
    query("stdin", "boolean", "sEFnN3IS", "true connects standard input."),
    query("stdout", "boolean", "005YMKE6", "true connects standard output."),
    query("tty", "boolean", "g7MlET_l", "true if the process has a terminal."),
];

const ONLY_CONTAINER: &str = "Name of the container; optional if the pod has only one.";

/// Parameters of new processes in a container.
pub(super) const EXEC: &[Parameter] = &[
    query(
        "command",
        "string",
        "Py3eQybp",
        "Program and arguments, one parameter each.",
    ),
    query("container", "string", "i5dOmRiM", ONLY_CONTAINER),
    query("stderr", "boolean", "W_1TNlWc", "true connects standard error."),
    query("stdin", "boolean", "PSzNhyUC", "true connects standard input."),
    query("stdout", "boolean", "-EZLRwV1", "true connects standard output."),
    query(
        "tty",
        "boolean",
        "s0flW37O",
        "true allocates a terminal for the process.",
    ),
];

/// Parameters of connections to ports of a pod.
pub(super) const PORT_FORWARD: &[Parameter] = &[query(
    "ports",
    "integer",
    "91KROJmm",
    "Ports to forward; required with WebSockets only.",
)];

/// Parameters of node proxies, including the path of the target.
pub(super) const NODE_PROXY: &[Parameter] = &[query("path", "string", "rFDtV0x9", PROXIED_PATH), PATH_BELOW];

/// Parameters of pod proxies, including the path of the target.
pub(super) const POD_PROXY: &[Parameter] = &[query("path", "string", "oPbzgLUj", PROXIED_PATH), PATH_BELOW];

/// Parameters of service proxies, including the path of the target.
pub(super) const SERVICE_PROXY: &[Parameter] = &[query("path", "string", "QCf0eosM", PROXIED_PATH), PATH_BELOW];

const PROXIED_PATH: &str = "Path of the proxied request.";

/// Parameters of logs.
pub(super) const LOG: &[Parameter] = &[
    query("container", "string", "1GeXxFDC", ONLY_CONTAINER),
    query(
        "follow",
        "boolean",
        "9OIXh_2R",
        "true streams the log as it is written.",
    ),
    query(
        "insecureSkipTLSVerifyBackend",
        "boolean",
        "gM00jVbe",
        "true skips the verification of the serving certificate of the kubelet.",
    ),
    query(
        "limitBytes",
        "integer",
        "zwd1RXuc",
        "Maximum number of bytes of the log.",
    ),
    query(
        "previous",
        "boolean",
        "1jxDPu3y",
        "true returns the log of the previous instance of the container.",
    ),
    query(
        "sinceSeconds",
        "integer",
        "vE2NLdnP",
        "Maximum age of log lines in seconds.",
    ),
    query(
        "stream",
        "string",
        "l-48cgXv",
        "Stream of the log: All, Stdout or Stderr.",
    ),
    query(
        "tailLines",
        "integer",
        "9xQLWHMV",
        "Maximum number of lines from the end of the log.",
    ),
    query(
        "timestamps",
        "boolean",
        "c17fW1w_",
        "true prefixes each line with its time.",
    ),
];

/// Parameters of lists and watches.
pub(super) const LIST: &[Parameter] = &[
    BOOKMARKS,
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    INITIAL_EVENTS,
    SHARD_SELECTOR,
    TIMEOUT,
    WATCH,
];

/// Parameters of creates and updates.
pub(super) const WRITE: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

/// Parameters of patches.
pub(super) const PATCH: &[Parameter] = &[DRY_RUN, PATCH_MANAGER, FIELD_VALIDATION, FORCE];

/// Parameters of deletes.
pub(super) const DELETE: &[Parameter] = &[
    DRY_RUN,
    GRACE_PERIOD,
    IGNORE_BROKEN,
    ORPHAN_DEPENDENTS,
    PROPAGATION_POLICY,
];

/// Parameters of collection deletes.
pub(super) const DELETE_COLLECTION: &[Parameter] = &[
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD,
    IGNORE_BROKEN,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN_DEPENDENTS,
    PROPAGATION_POLICY,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    INITIAL_EVENTS,
    SHARD_SELECTOR,
    TIMEOUT,
];
