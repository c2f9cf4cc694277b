//! What the generator wrote: registration, routes and the server.
