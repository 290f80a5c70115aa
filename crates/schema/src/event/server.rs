//! Events of the server and its instances.

use std::borrow::Cow;

object! {
    /// `server.connected`: the first event of a stream.
    pub struct ServerConnected {}
}

object! {
    /// `server.heartbeat`: the stream is alive; every 10 s (reference-storage 3.5).
    pub struct ServerHeartbeat {}
}

object! {
    /// `server.instance.disposed`: what was held for a folder is let go; the folder's stream ends.
    pub struct ServerInstanceDisposed {
        /// The folder.
        required "directory" directory / set_directory: Cow<'_, str>,
    }
}

object! {
    /// `global.disposed`: everything held is let go.
    pub struct GlobalDisposed {}
}
