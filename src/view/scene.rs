//! What drawing reads.

use ottla_broker::types::Millis;
use ratatui::style::Style;

use crate::config::Theme;
use crate::model::{BrokerState, Model, PartitionHealth, Severity};
use crate::widget::{Glyphs, PopupStyle, TableStyle};

/// What drawing reads: the model, the moment, and what things look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    /// What is known.
    pub model: &'a Model,
    /// The moment.
    pub now: Millis,
    /// What things look like.
    pub theme: &'a Theme,
    /// What to draw with.
    pub glyphs: &'a Glyphs,
}

impl<'a> Scene<'a> {
    /// Returns how tables look.
    pub(super) fn table(&self) -> TableStyle {
        TableStyle { heading: self.theme.label, sorted: self.theme.strong, selection: self.theme.selection }
    }

    /// Returns how popups look.
    pub(super) fn popup(&self) -> PopupStyle {
        let theme = self.theme;
        let on = |style: Style| theme.popup.patch(style);
        PopupStyle {
            ground: theme.popup,
            border: on(theme.popup_border),
            danger: on(theme.popup_danger),
            title: on(theme.title),
            dim: on(theme.dim),
            strong: on(theme.strong),
            key: on(theme.key),
            button: on(theme.button),
            button_active: on(theme.button_active),
            input: on(theme.input),
            error: on(theme.crit),
            selection: theme.selection,
            shade: theme.shade,
        }
    }

    /// Returns glyph and style of a broker's state.
    pub(super) fn broker_state(&self, state: BrokerState) -> (&'static str, Style) {
        let (glyphs, theme) = (self.glyphs, self.theme);
        match state {
            BrokerState::Up => (glyphs.ok, theme.ok),
            BrokerState::Starting | BrokerState::Stopping => (glyphs.busy, theme.busy),
            BrokerState::Frozen => (glyphs.frozen, theme.info),
            BrokerState::Unregistered => (glyphs.warn, theme.warn),
            BrokerState::Down => (glyphs.gone, theme.crit),
        }
    }

    /// Returns glyph and style of how grave something is.
    pub(super) fn severity(&self, severity: Severity) -> (&'static str, Style) {
        let (glyphs, theme) = (self.glyphs, self.theme);
        match severity {
            Severity::Info => (glyphs.dot, theme.info),
            Severity::Good => (glyphs.ok, theme.ok),
            Severity::Warning => (glyphs.warn, theme.warn),
            Severity::Critical => (glyphs.gone, theme.crit),
        }
    }

    /// Returns glyph and style of a partition's health.
    pub(super) fn health(&self, health: PartitionHealth) -> (&'static str, Style) {
        let (glyphs, theme) = (self.glyphs, self.theme);
        if health.offline {
            (glyphs.gone, theme.crit)
        } else if health.under_replicated {
            (glyphs.warn, theme.warn)
        } else if health.not_preferred {
            (glyphs.dot, theme.leader_other)
        } else {
            (glyphs.ok, theme.ok)
        }
    }

    /// Returns a style for a figure that is zero when all is well.
    pub(super) fn if_any(&self, count: i64, style: Style) -> Style {
        if count > 0 { style } else { self.theme.dim }
    }
}
