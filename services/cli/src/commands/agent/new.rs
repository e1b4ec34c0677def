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
        let made = make_folder(&self.folder, kit, &AGENT, name)?;
        if self.name.is_none() && made.is_renamed {
            output::note(format!(
                "the agent is called {}, because names have lower-case letters, digits and dashes; \
                 --name chooses another name",
                made.name
            ));
        }
        let (name, folder, shown) = (made.name, made.quoted, self.folder.display());
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

/// What a folder is made for.
pub(crate) struct Named {
    /// With its article, for messages.
    pub(crate) what: &'static str,
    /// Its name in the files of the kit.
    pub(crate) template: &'static str,
    /// What a name gets that would begin with a digit and must not.
    pub(crate) before_digit: &'static str,
    /// Maximum bytes of a name.
    pub(crate) bytes_max: usize,
    /// True if Arena has this name itself.
    pub(crate) is_taken: fn(&str) -> bool,
    /// How to choose another name.
    pub(crate) advice: &'static str,
}

const AGENT: Named = Named {
    what: "an agent",
    template: TEMPLATE_NAME,
    before_digit: "",
    bytes_max: 63,
    is_taken: |name| {
        let is_ruleset = arena_games::ruleset(name).is_ok();
        name == arena_model::PERSON || arena_agents::bot_info(name).is_ok() || is_ruleset
    },
    advice: "choose another one with --name",
};

/// A folder that was made.
pub(crate) struct Made {
    pub(crate) name: String,
    /// True if the name is not that of the folder, which is no valid name.
    pub(crate) is_renamed: bool,
    /// The path of the folder as a word of a shell.
    pub(crate) quoted: String,
}

/// Makes a folder with the files of a kit, and puts the name of the folder, or the given one, in the
/// place of the template's.
///
/// # Errors
/// If the folder has files, or the name is taken. Then nothing is made.
pub(crate) fn make_folder(
    folder: &Path,
    kit: &Kit,
    named: &Named,
    name: Option<String>,
) -> Outcome<Made> {
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
            "unknown language \"{lang}\"{meant} Languages: {list}; for any other, agents/PROTOCOL.md \
             describes the protocol"
        ))
    })
}

/// The valid name that is most similar to the name of a folder.
fn name_of(folder: &OsStr, named: &Named) -> String {
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
    fn names_of_folders_become_valid() {
        for (folder, name) in [
            ("mine", "mine"),
            ("My Agent_2", "my-agent-2"),
            ("--x--", "x"),
            ("日本", "my-agent"),
            ("", "my-agent"),
            (&"ab".repeat(40), &"ab".repeat(40)[..63]),
        ] {
            assert_eq!(name_of(folder.as_ref(), &AGENT), name);
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
