//! `arena agent new`

mod kits;

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use arena_engine::options::nearest;
use arena_model::AgentName;
use clap::Args;
use itertools::Itertools;

use crate::{
    failure::{Failure, Outcome},
    output,
};
use kits::{KITS, TEMPLATE_NAME};
pub(crate) use kits::{Kit, KitFile};

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Language: python, typescript, javascript, rust, cpp, c, go, java or bash
    #[arg(long)]
    lang: String,

    /// Name of the agent: lower-case letters, digits and dashes [default: the name of DIR]
    #[arg(long)]
    name: Option<AgentName>,
}

impl NewArgs {
    pub(crate) async fn run(self) -> Outcome {
        let kit = kit(&self.lang)?;
        let name = self.name.as_ref().map(ToString::to_string);
        let made = make_folder(&self.folder, kit, TEMPLATE_NAME, name)?;
        let (name, folder, shown) = (made.name, made.quoted, self.folder.display());
        let given = self.folder.file_name().unwrap_or_default();
        if self.name.is_none() && !given.is_empty() && given != OsStr::new(&name) {
            output::note(format!(
                "the agent is called {name}, because names have lower-case letters, digits and dashes; \
                 --name chooses another name"
            ));
        }
        let check = match &*folder {
            "." => "./check".to_owned(),
            folder => format!("(cd {folder} && ./check)"),
        };
        output::write(&format!(
            "made the agent {name} in {shown}: its policy is {}. Next:\n  \
             {check}\n  \
             arena agent register {name} --binary {folder}\n",
            kit.policy,
        ))
    }
}

/// A folder that was made.
pub(crate) struct Made {
    pub(crate) name: String,
    /// The path of the folder as a word of a shell.
    pub(crate) quoted: String,
}

/// Makes a folder with the files of a kit, and puts the name of the folder, or the given one, in the
/// place of `template`.
pub(crate) fn make_folder(
    folder: &Path,
    kit: &Kit,
    template: &str,
    name: Option<String>,
) -> Outcome<Made> {
    let shown = folder.display();
    let unusable =
        |problem: &str| Failure::usage(format!("cannot make an agent in {shown}: {problem}"));
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
    fs::create_dir_all(folder).map_err(|error| unusable(&error.to_string()))?;
    let name = match name {
        Some(name) => name,
        // A path such as `.` has no name.
        None => name_of(folder.canonicalize()?.file_name()),
    };
    let is_ruleset = arena_games::ruleset(&name).is_ok();
    if name == arena_model::PERSON || arena_agents::bot_info(&name).is_ok() || is_ruleset {
        return Err(unusable(&format!(
            "the name \"{name}\" is taken by Arena; choose another one with --name"
        )));
    }
    for file in kit.files {
        let path = folder.join(file.path);
        let text = file.text.replace(template, &name);
        write(&path, file.is_executable, &text).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    let quoted = quoted(&shown.to_string());
    Ok(Made { name, quoted })
}

/// The kit of a language.
fn kit(lang: &str) -> Outcome<&'static Kit> {
    let lower = lang.to_lowercase();
    let is_known = |kit: &&Kit| kit.lang == lower || kit.aliases.contains(&&*lower);
    KITS.iter().find(is_known).ok_or_else(|| {
        let known = KITS
            .iter()
            .flat_map(|kit| kit.aliases.iter().chain([&kit.lang]));
        let meant = nearest(&lower, known.copied());
        let meant = meant.map_or_else(
            || ".".to_owned(),
            |meant| format!(", did you mean \"{meant}\"?"),
        );
        let list = KITS.iter().map(|kit| kit.lang).join(", ");
        Failure::usage(format!(
            "unknown language \"{lang}\"{meant} Languages: {list}"
        ))
    })
}

/// The valid name of an agent that is most similar to the name of a folder.
fn name_of(folder: Option<&OsStr>) -> String {
    let text = folder.unwrap_or_default().to_string_lossy().to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let name = words.filter(|word| !word.is_empty()).join("-");
    let name = name[..name.len().min(63)].trim_end_matches('-');
    match name {
        "" => TEMPLATE_NAME.to_owned(),
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
    fn names_of_folders_become_valid() {
        for (folder, name) in [
            ("mine", "mine"),
            ("My Agent_2", "my-agent-2"),
            ("--x--", "x"),
            ("日本", "my-agent"),
            ("", "my-agent"),
            (&"ab".repeat(40), &"ab".repeat(40)[..63]),
        ] {
            assert_eq!(name_of(Some(folder.as_ref())), name);
            let _: AgentName = name.parse().expect("a valid name");
        }
    }

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
