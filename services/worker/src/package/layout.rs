//! What a package may contain.

use std::collections::BTreeMap;

use super::PackageError;

/// Maximum number of files and links in a package.
pub const ENTRIES_MAX: usize = 50_000;
/// Maximum bytes of an unpacked package.
pub const BYTES_MAX: u64 = 512 << 20;
/// Maximum length of a path and of a name, in bytes.
const PATH_BYTES_MAX: usize = 1024;
const NAME_BYTES_MAX: usize = 255;
/// Maximum length of a chain of links.
const HOPS_MAX: usize = 40;

/// A file or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    File { executable: bool, size: u64 },
    Link { target: String },
}

/// Files and links by path.
#[derive(Debug, Default)]
pub(super) struct Layout {
    nodes: BTreeMap<String, Node>,
    bytes: u64,
}

/// Normalises a path, if it is allowed in a package.
pub(super) fn clean(path: &str) -> Result<String, PackageError> {
    let refused = |why: &str| {
        let shown: String = path.chars().take(200).collect();
        Err(PackageError::content(format!("path {shown:?} {why}")))
    };
    if path.starts_with('/') {
        return refused("is absolute: paths of a package start in its folder");
    }
    let parts: Vec<&str> = names(path).collect();
    if parts.contains(&"..") {
        return refused("contains \"..\": paths of a package stay in its folder");
    }
    if parts.is_empty() {
        return refused("names no file");
    }
    if path.contains('\0') {
        return refused("contains a zero byte");
    }
    let clean = parts.join("/");
    if clean.len() > PATH_BYTES_MAX || parts.iter().any(|part| part.len() > NAME_BYTES_MAX) {
        return refused("is too long");
    }
    Ok(clean)
}

/// The names in a path, without those that change nothing.
fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    let parts = path.split('/');
    parts.filter(|part| !part.is_empty() && *part != ".")
}

pub(super) fn too_large() -> PackageError {
    PackageError::content(format!(
        "it exceeds {} MiB unpacked: remove files that the agent does not need, or run the agent \
         as an endpoint",
        BYTES_MAX >> 20
    ))
}

impl Layout {
    pub(super) fn bytes_left(&self) -> u64 {
        BYTES_MAX - self.bytes
    }

    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// All paths in ascending order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// Adds a file or link. Returns its path.
    pub(super) fn add(&mut self, path: &str, node: Node) -> Result<String, PackageError> {
        let path = clean(path)?;
        if self.nodes.len() >= ENTRIES_MAX {
            return Err(PackageError::content(format!(
                "it has more than {ENTRIES_MAX} files: remove files that the agent does not need, \
                 or run the agent as an endpoint"
            )));
        }
        if let Node::File { size, .. } = node {
            if size > self.bytes_left() {
                return Err(too_large());
            }
            self.bytes += size;
        }
        if self.nodes.insert(path.clone(), node).is_some() {
            return Err(PackageError::content(format!("{path} is in it twice")));
        }
        Ok(path)
    }

    /// Removes a prefix from all paths.
    pub(super) fn strip(&mut self, prefix: &str) {
        self.nodes = std::mem::take(&mut self.nodes)
            .into_iter()
            .filter_map(|(path, node)| Some((path.strip_prefix(prefix)?.to_owned(), node)))
            .collect();
    }

    /// Checks that the parents of a path are folders, and that links stay inside.
    pub(super) fn check(&self) -> Result<(), PackageError> {
        for (path, node) in &self.nodes {
            for (end, _) in path.match_indices('/') {
                if self.nodes.contains_key(&path[..end]) {
                    let above = &path[..end];
                    return Err(PackageError::content(format!(
                        "{path} is below {above}, which is not a folder"
                    )));
                }
            }
            if let Node::Link { target } = node {
                self.follow(path, target)?;
            }
        }
        Ok(())
    }

    /// Resolves a link like the system, to a file or folder of the package.
    fn follow(&self, path: &str, target: &str) -> Result<(), PackageError> {
        let refused = |why: &str| {
            let problem = format!("{path} is a link to {target:?}, {why}");
            Err(PackageError::content(problem))
        };
        let parts = |text: &str| names(text).map(str::to_owned).rev().collect::<Vec<_>>();
        // Parts still to be walked, in reverse, from the folder of the link.
        let mut todo = parts(target);
        let mut at: Vec<String> = parts(path).into_iter().rev().collect();
        at.pop();
        if target.starts_with('/') {
            return refused("which is absolute: links of a package stay in its folder");
        }
        let mut hops = 0;
        while let Some(part) = todo.pop() {
            if part == ".." {
                if at.pop().is_none() {
                    return refused("which leaves the folder of the package");
                }
                continue;
            }
            at.push(part);
            if let Some(Node::Link { target }) = self.nodes.get(&at.join("/")) {
                hops += 1;
                if hops > HOPS_MAX {
                    return refused("which leads to too many links");
                }
                if target.starts_with('/') {
                    return refused("which leads to an absolute path");
                }
                at.pop();
                todo.extend(parts(target));
            }
        }
        let end = at.join("/");
        let below = format!("{end}/");
        let exists = end.is_empty() || self.nodes.contains_key(&end) || {
            self.nodes.range(below.clone()..).next()
        }
        .is_some_and(|(path, _)| path.starts_with(&below));
        match exists {
            true => Ok(()),
            false => refused("which is not in the package"),
        }
    }
}
