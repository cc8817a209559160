//! What a key can mean.

/// A view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ViewId {
    /// Everything at a glance.
    #[default]
    Overview,
    /// The brokers and their processes.
    Brokers,
    /// The partitions and who leads them.
    Partitions,
    /// The consumer groups and their lag.
    Groups,
    /// Queues, threads and requests.
    Network,
    /// What happened.
    Events,
}

impl ViewId {
    /// All views in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Overview, Self::Brokers, Self::Partitions, Self::Groups, Self::Network, Self::Events];

    /// Returns what it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Brokers => "brokers",
            Self::Partitions => "partitions",
            Self::Groups => "groups",
            Self::Network => "network",
            Self::Events => "events",
        }
    }

    /// Returns the view with this number, from 0, wrapping around.
    pub fn at(number: usize) -> Self {
        Self::ALL.get(number % Self::ALL.len()).copied().unwrap_or_default()
    }

    /// Returns its number, from 0.
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|view| *view == self).unwrap_or(0)
    }
}

/// What a key can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Show the keys that work here.
    Help,
    /// Leave the console.
    Quit,
    /// Leave the console, from anywhere.
    Interrupt,
    /// Stop the console until the shell continues it.
    Suspend,
    /// Go back: clear the filter, close the detail, return to the overview.
    Back,
    /// Go to a view.
    Go(ViewId),
    /// Go to the next view.
    NextView,
    /// Go to the view before.
    PreviousView,
    /// Hold the screen still, or let it go on.
    Pause,
    /// Choose another theme.
    Theme,
    /// Type a filter.
    Filter,
    /// Sort by the next column.
    Sort,
    /// Sort the other way round.
    ReverseSort,
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
    /// Open what is under the cursor.
    Open,
    /// Show or hide the internal topics.
    Internal,
    /// Show the table or the matrix.
    Matrix,
    /// Show only what is wrong.
    OnlyTrouble,
    /// Stop the broker.
    StopBroker,
    /// Kill the broker.
    KillBroker,
    /// Freeze or thaw the broker.
    FreezeBroker,
    /// Restart the broker, or start it.
    RestartBroker,
    /// Move the leadership of the partition.
    MoveLeadership,
    /// Elect the preferred leader of the partition.
    ElectPreferred,
    /// Elect all preferred leaders.
    ElectAll,
    /// Create a topic.
    CreateTopic,
    /// Delete the topic.
    DeleteTopic,
    /// Turn the demo load on or off.
    ToggleLoad,
    /// Add a member to a group of the demo load.
    AddMember,
    /// Take a member out of a group of the demo load.
    RemoveMember,
    /// Write twice as fast.
    Faster,
    /// Write half as fast.
    Slower,
    /// Take what is chosen.
    Accept,
    /// Close without an answer.
    Cancel,
    /// Say yes.
    Yes,
    /// Go to the next button, item or field.
    Next,
    /// Go to the one before.
    Previous,
    /// Keep the filter and go back to the list.
    KeepFilter,
    /// Drop the filter.
    DropFilter,
}
