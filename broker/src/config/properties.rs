//! The text of a Java properties file, as settings with their lines.

/// One setting of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its key, unescaped.
    pub key: String,
    /// Its value, unescaped.
    pub value: String,
}

/// Reads a properties file: comments with `#` or `!`, `=`, `:` or a blank between key and value, a backslash at the end
/// of a line to continue it, and Java's escapes.
///
/// # Errors
/// The line and a fragment saying what is wrong with it.
pub fn parse_properties(text: &str) -> Result<Vec<Property>, (usize, String)> {
    let mut properties = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let mut logical = first.trim_start().to_owned();
        if logical.is_empty() || logical.starts_with(['#', '!']) {
            continue;
        }
        while ends_in_continuation(&logical) {
            logical.pop();
            let Some((_, next)) = lines.next() else { break };
            logical.push_str(next.trim_start());
        }
        let (key, value) = split(&logical);
        let unescape = |text: &str| unescape(text).map_err(|problem| (index + 1, problem));
        properties.push(Property { line: index + 1, key: unescape(key)?, value: unescape(value)? });
    }
    Ok(properties)
}

/// An odd number of backslashes at the end continues the line.
fn ends_in_continuation(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Splits at the first separator that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.char_indices().find(|(_, c)| {
        let separates = !escaped && (matches!(c, '=' | ':') || c.is_whitespace());
        escaped = *c == '\\' && !escaped;
        separates
    });
    let Some((end, _)) = end else { return (line, "") };
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (key, rest.trim())
}

fn unescape(text: &str) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match characters.next() {
            Some('t') => result.push('\t'),
            Some('n') => result.push('\n'),
            Some('r') => result.push('\r'),
            Some('f') => result.push('\u{c}'),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                let c = code.and_then(char::from_u32);
                result.push(c.ok_or_else(|| format!("\\u{digits} is not a character"))?);
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, String, String)> {
        parse_properties(text).unwrap().into_iter().map(|p| (p.line, p.key, p.value)).collect()
    }

    #[test]
    fn lines_are_read_as_java_reads_them() {
        let text = "# a comment\n\n! another\nbroker.id=1\n log.dirs : /a,\\\n    /b\nempty\nspaced value here\n\
                    path=C\\:\\\\data\nlatin=caf\\u00e9\n";
        let read = pairs(text);
        let expected = [
            (4, "broker.id", "1"),
            (5, "log.dirs", "/a,/b"),
            (7, "empty", ""),
            (8, "spaced", "value here"),
            (9, "path", "C:\\data"),
            (10, "latin", "café"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, key, value)| (*line, (*key).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn a_bad_escape_names_its_line() {
        assert_eq!(parse_properties("a=1\nb=\\u12").unwrap_err().0, 2);
    }
}
