//! Opening a cluster's data directory: making it, recognising it, or refusing it in words.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::layout::Layout;
use super::records;
use super::spec::{ClusterSpec, WishError, Wishes};

/// A data directory and the cluster in it.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Where things lie.
    pub layout: Layout,
    /// What the cluster is made of.
    pub spec: ClusterSpec,
    /// Whether it was made just now.
    pub is_new: bool,
}

/// Why a data directory cannot be used.
#[derive(Debug, Error)]
pub enum Error {
    /// Nobody ever started a cluster there.
    #[error("no cluster in {0}; `ottla up` starts one")]
    Absent(PathBuf),
    /// There is something else.
    #[error("{0} is not empty and holds no cluster of ottla; give an empty or new --data-dir")]
    Foreign(PathBuf),
    /// There is a cluster, but not the one that was asked for.
    #[error("{path}: {source}")]
    Wish {
        /// The data directory.
        path: PathBuf,
        /// What does not fit.
        source: WishError,
    },
    /// The cluster's description cannot be read.
    #[error("{path} is damaged ({source}); restore it, or move the data directory away and start anew")]
    Damaged {
        /// The description.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// The operating system refuses.
    #[error("{action} {path}: {source}; choose another place with --data-dir")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// No home directory to put anything in.
    #[error("no home directory is known; say with --data-dir where the cluster should live")]
    Homeless,
}

/// Returns where the cluster `dev` lives unless `--data-dir` says otherwise.
///
/// # Errors
/// When the user has no home directory.
pub fn default_data_dir() -> Result<PathBuf, Error> {
    let dirs = directories::ProjectDirs::from("", "", "ottla").ok_or(Error::Homeless)?;
    Ok(dirs.data_local_dir().join("dev"))
}

/// Opens the cluster in `root`, changed as wished, or makes a new one.
///
/// # Errors
/// When the place belongs to something else, the wishes contradict what is there, or nothing can be written.
pub fn open(root: &Path, wishes: &Wishes) -> Result<Opened, Error> {
    let failed = |action, source| Error::Io { action, path: root.to_owned(), source };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root)
        .map_err(|source| failed("create", source))?;
    // Later messages and pid files must mean the same place whatever directory the reader is in.
    let root = fs::canonicalize(root).map_err(|source| failed("open", source))?;
    let layout = Layout::new(&root);
    let wish_failed = |source| Error::Wish { path: root.clone(), source };
    let (spec, is_new) = match read_spec(&layout)? {
        Some(mut spec) => {
            let before = spec.clone();
            spec.adopt(wishes).map_err(wish_failed)?;
            if spec == before {
                return Ok(Opened { layout, spec, is_new: false });
            }
            (spec, false)
        }
        None if !is_vacant(&root).map_err(|source| failed("read", source))? => {
            return Err(Error::Foreign(root));
        }
        None => (ClusterSpec::new(wishes).map_err(wish_failed)?, true),
    };
    save(&layout, &spec)?;
    Ok(Opened { layout, spec, is_new })
}

/// Finds the cluster in `root` and changes nothing.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn find(root: &Path) -> Result<Opened, Error> {
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let layout = Layout::new(&root);
    let spec = read_spec(&layout)?.ok_or(Error::Absent(root))?;
    Ok(Opened { layout, spec, is_new: false })
}

/// Writes the cluster's description, and makes sure that nobody else can look into the directory.
pub(super) fn save(layout: &Layout, spec: &ClusterSpec) -> Result<(), Error> {
    let failed = |source| Error::Io { action: "write", path: layout.spec(), source };
    fs::set_permissions(layout.root(), fs::Permissions::from_mode(0o700)).map_err(failed)?;
    records::write(&layout.spec(), spec).map_err(failed)
}

fn read_spec(layout: &Layout) -> Result<Option<ClusterSpec>, Error> {
    let path = layout.spec();
    match records::read(&path) {
        Ok(spec) => Ok(Some(spec)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(None),
            io::ErrorKind::PermissionDenied => Err(Error::Io { action: "read", path, source: error }),
            _ => Err(Error::Damaged { path, source: error }),
        },
    }
}

/// A directory that only holds what a first start leaves when it is cut short counts as empty.
fn is_vacant(root: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name != "supervisor.lock" && !name.starts_with("cluster.tmp") {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_found_again_as_it_was_made() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("deep/er");
        assert!(matches!(find(&root), Err(Error::Absent(_))));
        let made = open(&root, &Wishes { brokers: Some(2), ..Wishes::default() }).unwrap();
        assert!(made.is_new);
        let found = open(&root, &Wishes::default()).unwrap();
        assert!(!found.is_new);
        assert_eq!(found.spec, made.spec);
        assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_with_something_else_in_it_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.txt"), "years of work").unwrap();
        let refusal = open(dir.path(), &Wishes::default()).unwrap_err();
        assert!(refusal.to_string().contains("not empty"), "{refusal}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_description_is_said_and_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cluster.json"), "{\"format\":").unwrap();
        assert!(matches!(open(dir.path(), &Wishes::default()), Err(Error::Damaged { .. })));
        assert_eq!(fs::read_to_string(dir.path().join("cluster.json")).unwrap(), "{\"format\":");
    }

    #[test]
    fn another_name_is_another_cluster() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path(), &Wishes::default()).unwrap();
        let wishes = Wishes { name: Some("blue".into()), ..Wishes::default() };
        let refusal = open(dir.path(), &wishes).unwrap_err().to_string();
        assert!(refusal.contains("'dev', not to 'blue'"), "{refusal}");
    }
}
