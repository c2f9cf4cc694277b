//! One server in process, on the store in memory: requests of clients and their answers.

mod expiry;
mod harness;
mod kinds;

mod creates;
mod custom_versions;
mod deletes;
mod grace;
mod hostile;
mod large;
mod lists;
mod reads;
mod several_servers;
mod stored_documents;
mod stored_versions;
mod streams;
mod tables;
mod updates;
mod watches;
