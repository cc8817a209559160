//! The counter at the end of a sequential node's name.

/// Returns the number behind `prefix` in a sequential node's name, `config_change_0000000123` giving 123.
#[must_use]
pub fn sequence_number(name: &str, prefix: &str) -> Option<i64> {
    let digits = name.strip_prefix(prefix)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counter_and_refuses_other_names() {
        let cases = [
            ("config_change_0000000123", Some(123)),
            ("config_change_0000000000", Some(0)),
            ("config_change_", None),
            ("config_change_-1", None),
            ("config_change_12x", None),
            ("isr_change_0000000001", None),
        ];
        for (name, expected) in cases {
            assert_eq!(sequence_number(name, "config_change_"), expected, "{name}");
        }
    }
}
