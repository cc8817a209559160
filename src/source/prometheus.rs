//! Reading a page of metrics in Prometheus' text format.

use std::collections::BTreeMap;

/// One line of the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// Reads a page; comments and lines that are no samples are passed over.
pub(super) fn parse(page: &str) -> Vec<Sample> {
    page.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Sample> {
    let line = line.trim();
    let (name, rest) = match line.find(['{', ' ']) {
        Some(end) => line.split_at(end),
        None => return None,
    };
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => parse_labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Reads `a="b",c="d"}` and returns what follows. Quotes, backslashes and line ends are escaped by a backslash.
fn parse_labels(mut text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = rest.char_indices();
        let end = loop {
            match characters.next()? {
                (end, '"') => break end,
                (_, '\\') => match characters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.insert(name.to_owned(), value);
        text = rest.get(end + 1..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_and_the_rest_is_passed_over() {
        let page = "# HELP a Counted.\n# TYPE a counter\na{x=\"1\",y=\"q\\\"\\\\\\n,}\"} 3\nb 0.5 1700000000\nnot a sample\n\nc{} NaN\n";
        let samples = parse(page);
        assert_eq!(samples.len(), 3);
        assert_eq!(samples[0].labels["y"], "q\"\\\n,}");
        assert_eq!((samples[0].value, samples[1].value), (3.0, 0.5));
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        for line in ["a{x=\"1", "a{x=\"1\\", "a{x}", "a", "{", "a{x=\"1\"}"] {
            assert_eq!(parse(line), [], "{line}");
        }
    }
}
