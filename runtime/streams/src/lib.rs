//! Streams into containers, on behalf of the clients of a server: commands and port forwarding.
//!
//! Kubelets speak SPDY/3.1, clients that or WebSocket. SPDY of both sides needs none of this: `planesmith_server::proxy::tunnel`
//! relays the bytes of any upgraded connection. Reading order: [`spdy`] (the protocol, as a client), `channels` (WebSocket in both
//! directions), [`remote_command`] (commands over WebSocket, translated), [`spdy_tunnel`] (SPDY inside of WebSocket), [`features`].

mod channels;
pub mod features;
pub mod remote_command;
pub mod spdy;
pub mod spdy_tunnel;
