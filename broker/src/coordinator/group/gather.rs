//! Many answers that make one.

use std::sync::{Arc, Mutex};

use super::partition::lock;

/// Called once with all answers, in the order of the questions.
type Complete<T> = Box<dyn FnOnce(Vec<T>) + Send>;

/// Collects the answers to a number of questions and completes with the last of them, on its thread.
pub struct Gather<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    answers: Vec<Option<T>>,
    missing: usize,
    complete: Option<Complete<T>>,
}

impl<T: Send + 'static> Gather<T> {
    /// Waits for `count` answers; with none to wait for, completes at once. If an answer never comes, `complete` is
    /// dropped with the last question.
    #[must_use]
    pub fn new(count: usize, complete: impl FnOnce(Vec<T>) + Send + 'static) -> Arc<Self> {
        let answers = std::iter::repeat_with(|| None).take(count).collect();
        let gather =
            Self { state: Mutex::new(State { answers, missing: count, complete: Some(Box::new(complete)) }) };
        gather.complete_if_all_are_here();
        Arc::new(gather)
    }

    /// Takes the answer to question `index`; the first one counts.
    pub fn answer(&self, index: usize, answer: T) {
        {
            let mut state = lock(&self.state);
            let Some(slot) = state.answers.get_mut(index).filter(|slot| slot.is_none()) else { return };
            *slot = Some(answer);
            state.missing -= 1;
        }
        self.complete_if_all_are_here();
    }

    fn complete_if_all_are_here(&self) {
        let (complete, answers) = {
            let mut state = lock(&self.state);
            if state.missing > 0 {
                return;
            }
            (state.complete.take(), std::mem::take(&mut state.answers))
        };
        if let Some(complete) = complete {
            complete(answers.into_iter().flatten().collect());
        }
    }
}

impl<T> std::fmt::Debug for Gather<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gather").field("missing", &lock(&self.state).missing).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_questions_and_once() {
        let (told, heard) = channel();
        let gather = Gather::new(3, move |answers| told.send(answers).unwrap());
        gather.answer(2, 'c');
        gather.answer(0, 'a');
        gather.answer(0, 'x');
        gather.answer(7, 'y');
        assert!(heard.try_recv().is_err());
        gather.answer(1, 'b');
        assert_eq!(heard.try_recv(), Ok(vec!['a', 'b', 'c']));
        gather.answer(1, 'z');
        assert!(heard.recv().is_err(), "completed once");

        let (told, heard) = channel();
        drop(Gather::<()>::new(0, move |answers| told.send(answers).unwrap()));
        assert_eq!(heard.try_recv(), Ok(vec![]));
    }
}
