//! Which names a topic may have.

/// The longest name a topic may have: the directory of a partition adds its number to it.
const NAME_MAX: usize = 249;

/// Says what is wrong with a topic's name, by the rules of Kafka's `Topic.validate`.
///
/// # Errors
/// When a broker would refuse the name.
pub fn check_topic_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a topic needs a name".to_owned());
    }
    if name == "." || name == ".." {
        return Err(format!("a topic cannot be called \"{name}\""));
    }
    if name.len() > NAME_MAX {
        return Err(format!("the name is longer than {NAME_MAX} characters"));
    }
    match name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        Some(c) => Err(format!("{c:?} is not allowed: letters, digits, '.', '_' and '-' are")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_kafkas_rules() {
        for good in ["orders", "a.b_c-D9", "__consumer_offsets", "..."] {
            assert_eq!(check_topic_name(good), Ok(()), "{good}");
        }
        let long = "x".repeat(250);
        for bad in ["", ".", "..", "a b", "a/b", "ü", "a\n", long.as_str()] {
            assert!(check_topic_name(bad).is_err(), "{bad:?}");
        }
    }
}
