//! A value over the last minute.

use std::collections::VecDeque;

use ottla_broker::types::Millis;

/// How many seconds a history reaches back.
pub const HISTORY_SECONDS: usize = 60;

/// A value over the last minute: one point per second, the highest seen in it; a second in which nothing was read is a
/// gap, not a zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    points: VecDeque<Option<f64>>,
    second: i64,
}

impl History {
    /// Adds a reading. A reading from the past is dropped.
    pub(super) fn push(&mut self, now: Millis, value: f64) {
        let second = now.0.div_euclid(1000);
        if self.points.is_empty() {
            self.second = second;
            self.points.push_back(Some(value));
            return;
        }
        let missed = second.saturating_sub(self.second);
        if missed < 0 {
            return;
        }
        if missed == 0 {
            if let Some(last) = self.points.back_mut() {
                *last = Some(last.map_or(value, |seen| seen.max(value)));
            }
            return;
        }
        let gap = usize::try_from(missed - 1).unwrap_or(usize::MAX).min(HISTORY_SECONDS);
        self.points.extend(std::iter::repeat_n(None, gap));
        self.points.push_back(Some(value));
        while self.points.len() > HISTORY_SECONDS {
            self.points.pop_front();
        }
        self.second = second;
    }

    /// Returns the points, oldest first, at most [`HISTORY_SECONDS`].
    pub fn points(&self) -> impl DoubleEndedIterator<Item = Option<f64>> + ExactSizeIterator + '_ {
        self.points.iter().copied()
    }

    /// Returns the highest point.
    pub fn max(&self) -> Option<f64> {
        self.points().flatten().reduce(f64::max)
    }

    /// Returns the newest point.
    pub fn last(&self) -> Option<f64> {
        self.points.back().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(history: &History) -> Vec<Option<f64>> {
        history.points().collect()
    }

    #[test]
    fn a_second_keeps_its_highest_reading_and_a_missed_one_is_a_gap() {
        let mut history = History::default();
        for (at, value) in [(1_000, 2.0), (1_900, 5.0), (1_950, 3.0), (4_000, 1.0)] {
            history.push(Millis(at), value);
        }
        assert_eq!(points(&history), [Some(5.0), None, None, Some(1.0)]);
        assert_eq!((history.max(), history.last()), (Some(5.0), Some(1.0)));
    }

    #[test]
    fn it_never_grows_and_never_goes_back() {
        let mut history = History::default();
        for second in 0..500 {
            history.push(Millis(second * 1000), second as f64);
        }
        assert_eq!(history.points().len(), HISTORY_SECONDS);
        history.push(Millis(0), 9_999.0);
        assert_eq!(history.max(), Some(499.0));
        history.push(Millis(i64::MAX), 1.0);
        assert_eq!(
            points(&history).iter().flatten().count(),
            1,
            "after a long silence only the new point is left"
        );
    }
}
