//! The words, which of them are answered, and by whom.

use super::{connections, environment, monitor, status, watches};
use crate::server::Driver;

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
pub(crate) fn answer(word: [u8; 4], driver: &mut Driver) -> String {
    let word = String::from_utf8_lossy(&word).into_owned();
    let allowed = |entry: &String| entry == "*" || *entry == word;
    if !driver.config.four_letter_words.iter().any(allowed) {
        return format!("{word} is not executed because it is not in the whitelist.\n");
    }
    match word.as_str() {
        "ruok" => "imok".to_owned(),
        "isro" => "rw".to_owned(),
        "srvr" => status::server(driver),
        "stat" => status::server_and_clients(driver),
        "mntr" => monitor::metrics(driver),
        "conf" => environment::configuration(driver),
        "cons" => connections::connections(driver),
        "dump" => connections::sessions(driver),
        "envi" => environment::environment(),
        "wchs" => watches::summary(driver),
        "wchc" => watches::by_session(driver),
        "wchp" => watches::by_path(driver),
        "dirs" => environment::directories(driver),
        // The trace mask of a server without trace: what the real one has when nobody changed it.
        "gtmk" | "stmk" => "306".to_owned(),
        "crst" => {
            driver.reset_connection_statistics();
            "Connection stats reset.\n".to_owned()
        }
        "srst" => {
            driver.reset_statistics();
            "Server stats reset.\n".to_owned()
        }
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
