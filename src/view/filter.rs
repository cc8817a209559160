//! What a list is narrowed to.

use tui_input::Input;

/// What a list is narrowed to: rows that contain a text, or with a `!` before it, that do not.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// What is typed.
    pub input: Input,
}

impl Filter {
    /// Returns whether anything is typed.
    pub(super) fn is_set(&self) -> bool {
        !self.input.value().is_empty()
    }

    /// Returns whether a row with these words stays.
    pub(super) fn keeps(&self, words: &[&str]) -> bool {
        let text = self.input.value();
        let (inverse, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if text.is_empty() {
            return true;
        }
        let text = text.to_lowercase();
        words.iter().any(|word| word.to_lowercase().contains(&text)) != inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_before_it_turns_it_round() {
        let filter = |text: &str| Filter { input: Input::new(text.to_owned()) };
        assert!(filter("ORD").keeps(&["orders-1"]));
        assert!(!filter("!ord").keeps(&["orders-1"]));
        assert!(filter("!ord").keeps(&["payments-1"]));
        assert!(filter("!").keeps(&["x"]) && filter("").keeps(&["x"]));
    }
}
