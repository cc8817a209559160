//! The numbers of `org.apache.zookeeper.ZooDefs.OpCode`.

/// The operation numbers of request headers.
pub mod op {
    /// Creates a node and answers with its path.
    pub const CREATE: i32 = 1;
    /// Deletes a node.
    pub const DELETE: i32 = 2;
    /// Asks whether a node is there.
    pub const EXISTS: i32 = 3;
    /// Reads data and stat.
    pub const GET_DATA: i32 = 4;
    /// Writes data.
    pub const SET_DATA: i32 = 5;
    /// Reads the ACL.
    pub const GET_ACL: i32 = 6;
    /// Writes the ACL.
    pub const SET_ACL: i32 = 7;
    /// Lists the children.
    pub const GET_CHILDREN: i32 = 8;
    /// Waits until everything before is visible.
    pub const SYNC: i32 = 9;
    /// Keeps the session alive.
    pub const PING: i32 = 11;
    /// Lists the children and reads the stat.
    pub const GET_CHILDREN2: i32 = 12;
    /// Compares a version, inside a multi.
    pub const CHECK: i32 = 13;
    /// Several writes as one.
    pub const MULTI: i32 = 14;
    /// Creates a node and answers with path and stat.
    pub const CREATE2: i32 = 15;
    /// Changes the members of an ensemble.
    pub const RECONFIG: i32 = 16;
    /// Asks whether a watch is there.
    pub const CHECK_WATCHES: i32 = 17;
    /// Removes a watch.
    pub const REMOVE_WATCHES: i32 = 18;
    /// Creates a container.
    pub const CREATE_CONTAINER: i32 = 19;
    /// Deletes an empty container; for servers among themselves.
    pub const DELETE_CONTAINER: i32 = 20;
    /// Creates a node with a time to live.
    pub const CREATE_TTL: i32 = 21;
    /// Several reads at once.
    pub const MULTI_READ: i32 = 22;
    /// Presents credentials.
    pub const AUTH: i32 = 100;
    /// Brings one-shot watches back after a reconnect.
    pub const SET_WATCHES: i32 = 101;
    /// Lists the ephemeral nodes of the session.
    pub const GET_EPHEMERALS: i32 = 103;
    /// Counts all descendants.
    pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
    /// Brings watches of every kind back after a reconnect.
    pub const SET_WATCHES2: i32 = 105;
    /// Adds a persistent watch.
    pub const ADD_WATCH: i32 = 106;
    /// Lists the identities of the connection.
    pub const WHO_AM_I: i32 = 107;
    /// Closes the session.
    pub const CLOSE_SESSION: i32 = -11;
    /// Marks a failed item, and the end, of a multi.
    pub const ERROR: i32 = -1;
}
