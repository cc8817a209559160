//! The words, which of them are answered, and by whom.

use super::figures::{Answer, Figures, Reset};
use super::{connections, environment, monitor, status, watches};

/// The words that this server knows.
const WORDS: [&str; 17] = [
    "ruok", "isro", "srvr", "stat", "mntr", "conf", "cons", "dump", "envi", "wchs", "wchc", "wchp", "dirs",
    "crst", "srst", "gtmk", "stmk",
];

/// Returns the word that a connection begins with. The letters of a word are a length that no frame has, so a word is
/// never taken for a frame.
pub(crate) fn word_at_start(bytes: &[u8]) -> Option<[u8; 4]> {
    let word = *bytes.first_chunk::<4>()?;
    WORDS.iter().any(|known| known.as_bytes() == word).then_some(word)
}

/// Answers a word, or says that it is not on the list of those allowed.
pub(crate) fn answer(word: [u8; 4], figures: &Figures<'_>) -> Answer {
    let word = String::from_utf8_lossy(&word).into_owned();
    let allowed = |entry: &String| entry == "*" || *entry == word;
    if !figures.config.four_letter_words.iter().any(allowed) {
        let text = format!("{word} is not executed because it is not in the whitelist.\n");
        return Answer { text, reset: None };
    }
    let (text, reset) = match word.as_str() {
        "crst" => ("Connection stats reset.\n".to_owned(), Some(Reset::Connections)),
        "srst" => ("Server stats reset.\n".to_owned(), Some(Reset::Server)),
        word => (report(word, figures), None),
    };
    Answer { text, reset }
}

fn report(word: &str, figures: &Figures<'_>) -> String {
    match word {
        "ruok" => "imok".to_owned(),
        "isro" => "rw".to_owned(),
        "srvr" => status::server(figures),
        "stat" => status::server_and_clients(figures),
        "mntr" => monitor::metrics(figures),
        "conf" => environment::configuration(figures),
        "cons" => connections::connections(figures),
        "dump" => connections::sessions(figures),
        "envi" => environment::environment(),
        "wchs" => watches::summary(figures),
        "wchc" => watches::by_session(figures),
        "wchp" => watches::by_path(figures),
        "dirs" => environment::directories(figures),
        // The trace mask of a server without trace: what the real one has when nobody changed it.
        "gtmk" | "stmk" => "306".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::word_at_start;

    #[test]
    fn a_handshake_is_not_taken_for_a_word() {
        assert_eq!(word_at_start(b"ruok\n"), Some(*b"ruok"));
        assert_eq!(word_at_start(&[0, 0, 0, 45, 0]), None);
        assert_eq!(word_at_start(b"ruo"), None);
        assert_eq!(word_at_start(b"GET / HTTP/1.1"), None);
    }
}
