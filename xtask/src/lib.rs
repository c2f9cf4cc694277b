//! Tasks of the workspace.
