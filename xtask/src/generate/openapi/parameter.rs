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
pub(super) const NAMESPACE: Parameter = path(
    "namespace",
    "vgWSWtn3",
    "object name and auth scope, such as for teams and projects",
);
pub(super) const PRETTY: Parameter = query(
    "pretty",
    "string",
    "tJGM1-ng",
    "true indents the answer; the default depends on the user agent.",
);

const BOOKMARKS: Parameter = query(
    "allowWatchBookmarks",
    "boolean",
    "HC2hJt-J",
    "Lets a watch send bookmarks: events with nothing but a newer resourceVersion to resume from.",
);
const CONTINUE: Parameter = query(
    "continue",
    "string",
    "QfD61s0i",
    "Where the last page ended, from its metadata. Too old a value is answered with 410; start over then.",
);
const DRY_RUN: Parameter = query(
    "dryRun",
    "string",
    "",
    "All goes through every step but stores nothing.",
);
const FIELD_MANAGER: Parameter = query(
    "fieldManager",
    "string",
    "Qy4HdaTW",
    "Who is changing fields; up to 128 printable characters. The user agent when absent.",
);
const PATCH_MANAGER: Parameter = query(
    "fieldManager",
    "string",
    "7c6nTn1T",
    "Who is changing fields; up to 128 printable characters. Must be given to apply; else the user agent when absent.",
);
const FIELD_SELECTOR: Parameter = query(
    "fieldSelector",
    "string",
    "xIcQKXFG",
    "Takes only objects whose fields have these values, such as metadata.name=web.",
);
const FIELD_VALIDATION: Parameter = query(
    "fieldValidation",
    "string",
    "",
    "What to do about unknown and repeated fields: Strict refuses them, Warn warns, which is the default, Ignore drops \
     them.",
);
const FORCE: Parameter = query(
    "force",
    "boolean",
    "tOGGb0Yi",
    "Takes over fields that others own. For apply only.",
);
const GRACE_PERIOD: Parameter = query(
    "gracePeriodSeconds",
    "integer",
    "-K5HaBOS",
    "Seconds before the object is deleted; 0 deletes at once. The default depends on the kind.",
);
const IGNORE_BROKEN: Parameter = query(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "QbNkfIqj",
    "Deletes an object even when it cannot be read from the store, past its finalizers.",
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
    "The most objects in one answer; continue in its metadata leads to the next page of the same list.",
);
const ORPHAN_DEPENDENTS: Parameter = query(
    "orphanDependents",
    "boolean",
    "uRB25kX5",
    "Whether dependents are left behind. Use propagationPolicy instead.",
);
const PROPAGATION_POLICY: Parameter = query(
    "propagationPolicy",
    "string",
    "6jk3prlO",
    "What happens to dependents: Orphan leaves them, Background deletes them afterwards, Foreground before.",
);
const RESOURCE_VERSION: Parameter = query(
    "resourceVersion",
    "string",
    "5WAnf1kx",
    "How fresh the answer must be, or where a watch starts. Absent means the newest state, 0 any.",
);
const RESOURCE_VERSION_MATCH: Parameter = query(
    "resourceVersionMatch",
    "string",
    "t8XhRHeC",
    "What resourceVersion means for a list: Exact that state, NotOlderThan that one or a newer one.",
);
const INITIAL_EVENTS: Parameter = query(
    "sendInitialEvents",
    "boolean",
    "rLXlEK_k",
    "Lets a watch begin with all objects there are, closed by a bookmark with the annotation \
     k8s.io/initial-events-end. Needs resourceVersionMatch=NotOlderThan.",
);
const SHARD_SELECTOR: Parameter = query(
    "shardSelector",
    "string",
    "Kgyki_3_",
    "Restricts the answer to one shard of the collection. Alpha; needs the feature ShardedListAndWatch.",
);
const TIMEOUT: Parameter = query(
    "timeoutSeconds",
    "integer",
    "yvYezaOC",
    "Seconds after which a list or watch ends by itself.",
);
const WATCH: Parameter = query(
    "watch",
    "boolean",
    "XNNPZGbK",
    "Watch for changes to the described resources, sent as they happen, instead of a list.",
);

const PATH_BELOW: Parameter = path("path", "z6Ciiujn", "Path behind the proxy.");

/// Parameters of connections to the main process of a container.
pub(super) const ATTACH: &[Parameter] = &[
    query("container", "string", "_Q-EJ3nR", ONLY_CONTAINER),
    query("stderr", "boolean", "26jJhFUR", "Connects standard error."),
    query("stdin", "boolean", "sEFnN3IS", "Connects standard input."),
    query("stdout", "boolean", "005YMKE6", "Connects standard output."),
    query("tty", "boolean", "g7MlET_l", "The process has a terminal."),
];

const ONLY_CONTAINER: &str = "The container; may be left out when the pod has only one.";

/// Parameters of new processes in a container.
pub(super) const EXEC: &[Parameter] = &[
    query(
        "command",
        "string",
        "Py3eQybp",
        "The program and its arguments, one parameter each.",
    ),
    query("container", "string", "i5dOmRiM", ONLY_CONTAINER),
    query("stderr", "boolean", "W_1TNlWc", "Connects standard error."),
    query("stdin", "boolean", "PSzNhyUC", "Connects standard input."),
    query("stdout", "boolean", "-EZLRwV1", "Connects standard output."),
    query("tty", "boolean", "s0flW37O", "Gives the process a terminal."),
];

/// Parameters of connections to ports of a pod.
pub(super) const PORT_FORWARD: &[Parameter] = &[query(
    "ports",
    "integer",
    "91KROJmm",
    "The ports; needed with WebSockets only.",
)];

/// Parameters of node proxies, including the path of the target.
pub(super) const NODE_PROXY: &[Parameter] = &[query("path", "string", "rFDtV0x9", PROXIED_PATH), PATH_BELOW];

/// Parameters of pod proxies, including the path of the target.
pub(super) const POD_PROXY: &[Parameter] = &[query("path", "string", "oPbzgLUj", PROXIED_PATH), PATH_BELOW];

/// Parameters of service proxies, including the path of the target.
pub(super) const SERVICE_PROXY: &[Parameter] = &[query("path", "string", "QCf0eosM", PROXIED_PATH), PATH_BELOW];

const PROXIED_PATH: &str = "Path of the request that is passed on.";

/// Parameters of logs.
pub(super) const LOG: &[Parameter] = &[
    query("container", "string", "1GeXxFDC", ONLY_CONTAINER),
    query(
        "follow",
        "boolean",
        "9OIXh_2R",
        "Goes on with what is written from now on.",
    ),
    query(
        "insecureSkipTLSVerifyBackend",
        "boolean",
        "gM00jVbe",
        "Does not check who the kubelet is.",
    ),
    query("limitBytes", "integer", "zwd1RXuc", "No more than so many bytes."),
    query(
        "previous",
        "boolean",
        "1jxDPu3y",
        "The log of the container that ran before the present one.",
    ),
    query(
        "sinceSeconds",
        "integer",
        "vE2NLdnP",
        "Only what is at most so many seconds old.",
    ),
    query("stream", "string", "l-48cgXv", "Which stream: All, Stdout or Stderr."),
    query("tailLines", "integer", "9xQLWHMV", "Only so many lines from the end."),
    query(
        "timestamps",
        "boolean",
        "c17fW1w_",
        "Puts the time in front of each line.",
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
