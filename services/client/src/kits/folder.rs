//! Folders that are made from kits.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use itertools::Itertools;

use crate::failure::{Failure, Outcome};

/// A file of a kit.
pub struct KitFile {
    /// Path in the folder.
    pub path: &'static str,
    /// True if it is executable.
    pub is_executable: bool,
    /// Its content, with the name of the template.
    pub text: &'static str,
}

/// The files of an agent, or of rules, in one language.
pub struct Kit {
    /// The language.
    pub lang: &'static str,
    /// Other names of the language.
    pub aliases: &'static [&'static str],
    /// The file that users edit.
    pub policy: &'static str,
    /// All files.
    pub files: &'static [KitFile],
}

/// What a folder is made for.
pub struct Named {
    /// With its article, for messages.
    pub what: &'static str,
    /// Its name in the files of the kit.
    pub template: &'static str,
    /// What a name gets that would begin with a digit and must not.
    pub before_digit: &'static str,
    /// Maximum bytes of a name.
    pub bytes_max: usize,
    /// True if Arena has this name itself.
    pub is_taken: fn(&str) -> bool,
    /// How to choose another name.
    pub advice: &'static str,
}

/// A folder that was made.
pub struct Made {
    /// The name of what is in it.
    pub name: String,
    /// True if the name is not that of the folder, which is no valid name.
    pub is_renamed: bool,
    /// The path of the folder as a word of a shell.
    pub quoted: String,
}

/// Makes a folder with the files of a kit, and puts the name of the folder, or the given one, in the
/// place of the template's.
///
/// # Errors
/// If the folder has files, or the name is taken. Then nothing is made.
pub fn make_folder(folder: &Path, kit: &Kit, named: &Named, name: Option<String>) -> Outcome<Made> {
    let shown = folder.display();
    let unusable = |problem: &str| {
        let what = named.what;
        Failure::usage(format!("cannot make {what} in {shown}: {problem}"))
    };
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => {
            let what = "the folder is not empty; name a new folder, or empty this one";
            return Err(unusable(what));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(unusable("it is not a folder; name a new folder"));
        }
        Err(error) => return Err(unusable(&error.to_string())),
    }
    // A path such as `.` has no name. A new folder has the last part of its path.
    let given = match folder.canonicalize() {
        Ok(whole) => whole.file_name().map(OsStr::to_owned),
        Err(_) => folder.file_name().map(OsStr::to_owned),
    };
    let given = given.unwrap_or_default();
    let name = name.unwrap_or_else(|| name_of(&given, named));
    if (named.is_taken)(&name) {
        return Err(unusable(&format!(
            "the name \"{name}\" is taken by Arena; {}",
            named.advice
        )));
    }
    fs::create_dir_all(folder).map_err(|error| unusable(&error.to_string()))?;
    let template = named.template;
    for file in kit.files {
        let path = folder.join(file.path);
        let text = file.text.replace(template, &name);
        write(&path, file.is_executable, &text).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    Ok(Made {
        is_renamed: !given.is_empty() && given != OsStr::new(&name),
        quoted: quoted(&shown.to_string()),
        name,
    })
}

/// The valid name that is most similar to the name of a folder.
pub(super) fn name_of(folder: &OsStr, named: &Named) -> String {
    let text = folder.to_string_lossy().to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut name = words.filter(|word| !word.is_empty()).join("-");
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, named.before_digit);
    }
    let name = name[..name.len().min(named.bytes_max)].trim_end_matches('-');
    match name {
        "" => named.template.to_owned(),
        name => name.to_owned(),
    }
}

/// Writes a new file.
fn write(path: &Path, is_executable: bool, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = if is_executable { 0o777 } else { 0o666 };
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// A path as a word of a shell.
fn quoted(path: &str) -> String {
    // A word that begins with a dash would be an option.
    let path = match path.starts_with('-') {
        true => format!("./{path}"),
        false => path.to_owned(),
    };
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    match !path.is_empty() && path.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_words() {
        for (path, word) in [
            ("a/b", "a/b"),
            ("a b", "'a b'"),
            ("a'b", r"'a'\''b'"),
            ("--x", "./--x"),
        ] {
            assert_eq!(quoted(path), word);
        }
    }
}
