//! Paths: what a legal one is, and its parts. The rules are those of `PathUtils.validatePath`.

/// The root of the tree.
pub const ROOT: &str = "/";
/// The subtree that belongs to the server.
pub const SYSTEM: &str = "/zookeeper";
/// The configuration of the ensemble, empty on a standalone server.
pub const CONFIG: &str = "/zookeeper/config";
/// The limits and statistics of subtrees.
pub const QUOTA: &str = "/zookeeper/quota";

/// Tells whether `path` is a legal path of a node.
#[must_use]
pub fn is_valid(path: &str) -> bool {
    if path == ROOT {
        return true;
    }
    match path.strip_prefix('/') {
        Some(names) => names.split('/').all(is_valid_name),
        None => false,
    }
}

fn is_valid_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && name.chars().all(is_valid_char)
}

/// Control characters, what Java sees as surrogates (everything beyond the basic plane), the private use area, and the
/// specials U+FFF0 to U+FFFF are refused.
fn is_valid_char(c: char) -> bool {
    !matches!(u32::from(c), 0..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..)
}

/// Returns the path of the parent: empty for the root and its children, which [`super::Tree::get`] takes for the root.
/// `None` when there is no slash or a NUL, which the real server refuses before it looks at anything else.
#[must_use]
pub fn parent(path: &str) -> Option<&str> {
    if path.contains('\0') {
        return None;
    }
    path.rfind('/').and_then(|slash| path.get(..slash))
}

/// Returns the last name of a path.
#[must_use]
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the form in which a path is shown: the root has a slash.
#[must_use]
pub fn shown(path: &str) -> &str {
    if path.is_empty() { ROOT } else { path }
}

/// Tells whether a node may not be deleted.
#[must_use]
pub fn is_reserved(path: &str) -> bool {
    matches!(path, ROOT | SYSTEM | CONFIG | QUOTA)
}

/// Returns `path` and then every ancestor up to the root.
pub fn with_ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(
        Some(path),
        |current| {
            if *current == ROOT { None } else { parent(current).map(shown) }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_and_illegal_paths() {
        for path in [
            "/",
            "/a",
            "/a/b",
            "/.a",
            "/..a",
            "/a./b",
            "/...",
            "/a\u{d7ff}",
            "/a\u{f900}",
            "/a\u{ffef}",
            "/ü x",
        ] {
            assert!(is_valid(path), "{path:?}");
        }
        let illegal = [
            "",
            "a",
            "/a/",
            "//",
            "//a",
            "/a//b",
            "/a/.",
            "/a/..",
            "/./a",
            "/../a",
            "/a\0",
            "/a\u{1}",
            "/a\u{1f}",
            "/a\u{7f}",
            "/a\u{9f}",
            "/a\u{e000}",
            "/a\u{f8ff}",
            "/a\u{fff0}",
            "/a\u{fffd}",
            "/\u{1f600}",
        ];
        for path in illegal {
            assert!(!is_valid(path), "{path:?}");
        }
    }

    #[test]
    fn parents_and_names() {
        assert_eq!((parent("/a/b"), name("/a/b")), (Some("/a"), "b"));
        assert_eq!(
            (parent("/a"), parent("/"), parent(""), parent("a"), parent("/a\0")),
            (Some(""), Some(""), None, None, None)
        );
        assert_eq!(with_ancestors("/a/b/c").collect::<Vec<_>>(), ["/a/b/c", "/a/b", "/a", "/"]);
        assert_eq!(with_ancestors("/").collect::<Vec<_>>(), ["/"]);
        assert_eq!(with_ancestors("a").collect::<Vec<_>>(), ["a"]);
    }
}
