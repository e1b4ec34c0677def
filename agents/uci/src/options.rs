//! The options of an engine as options of a bot.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::game::Game;

/// Option of the bot: maximum depth in plies; 0 for none.
pub(crate) const DEPTH: &str = "depth";

/// Options that Arena sets itself, or that would change what the engine answers.
const RESERVED: [&str; 6] = [
    "MultiPV",
    "Ponder",
    "UCI_AnalyseMode",
    "UCI_Chess960",
    "UCI_Opponent",
    "UCI_ShowWDL",
];
const CHESS960: &str = "UCI_Chess960";
/// How UCI writes a text without characters.
const EMPTY: &str = "<empty>";

/// An option as an engine describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoundOption {
    name: String,
    kind: String,
    default: String,
    min: String,
    max: String,
    choices: Vec<String>,
}

impl FoundOption {
    /// Reads `name NAME type TYPE [default VALUE] [min N] [max N] [var VALUE]…`. Names and values may
    /// have several words.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut option = Self::default();
        let mut field = "";
        for word in text.split_whitespace() {
            let place = match field {
                // The value of a text may be any of these words.
                "default" if option.kind == "string" => &mut option.default,
                _ if ["name", "type", "default", "min", "max", "var"].contains(&word) => {
                    field = word;
                    if word == "var" {
                        option.choices.push(String::new());
                    }
                    continue;
                }
                "name" => &mut option.name,
                "type" => &mut option.kind,
                "default" => &mut option.default,
                "min" => &mut option.min,
                "max" => &mut option.max,
                "var" => option.choices.last_mut()?,
                _ => return None,
            };
            if !place.is_empty() {
                place.push(' ');
            }
            place.push_str(word);
        }
        if option.default == EMPTY {
            option.default.clear();
        }
        let is_known = ["check", "spin", "combo", "button", "string"].contains(&&*option.kind);
        (is_known && !option.name.is_empty()).then_some(option)
    }

    /// Its name in specs and on command lines: `Skill Level` is `skill_level`.
    fn bot_name(&self) -> String {
        let letters = self.name.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
            _ => '_',
        });
        letters.collect()
    }

    fn of_bot(&self) -> BotOption {
        let kind = match &*self.kind {
            "check" => "bool",
            "spin" => "integer",
            "combo" => "choice",
            _ => "text",
        };
        BotOption {
            name: self.bot_name(),
            summary: format!("the engine's option \"{}\"", self.name),
            kind,
            default_value: self.default.clone(),
            min: self.min.clone(),
            max: self.max.clone(),
            choices: self.choices.clone(),
        }
    }
}

/// An option of a bot in the line protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BotOption {
    name: String,
    summary: String,
    #[serde(rename = "type")]
    kind: &'static str,
    default_value: String,
    min: String,
    max: String,
    choices: Vec<String>,
}

/// The options that users can set, and their values in the engine.
#[derive(Debug)]
pub(crate) struct EngineOptions {
    /// By the name in specs.
    by_name: BTreeMap<String, FoundOption>,
    /// What the engine has, by its own names.
    values: BTreeMap<String, String>,
}

impl EngineOptions {
    pub(crate) fn new(found: &[FoundOption]) -> Self {
        let mut names = BTreeSet::from([DEPTH.to_owned()]);
        let mut by_name = BTreeMap::new();
        for option in found {
            let is_usable = option.kind != "button" && !RESERVED.contains(&&*option.name);
            // Of two that differ in signs only, the first can be set.
            if is_usable && names.insert(option.bot_name()) {
                by_name.insert(option.bot_name(), option.clone());
            }
        }
        let values = found.iter();
        let values = values.map(|option| (option.name.clone(), option.default.clone()));
        Self {
            by_name,
            values: values.collect(),
        }
    }

    /// The description of all options of the bot.
    pub(crate) fn of_bot(&self) -> Vec<BotOption> {
        let depth = BotOption {
            name: DEPTH.to_owned(),
            summary: "maximum depth of the search, in plies; 0: no limit".to_owned(),
            kind: "integer",
            default_value: "0".to_owned(),
            min: "0".to_owned(),
            max: "1000".to_owned(),
            choices: Vec::new(),
        };
        let of_engine = self.by_name.values().map(FoundOption::of_bot);
        std::iter::once(depth).chain(of_engine).collect()
    }

    /// The commands that set the options of these games, where they differ from what the engine has.
    pub(crate) fn commands(&mut self, game: &Game) -> Vec<String> {
        let mut wanted = Vec::new();
        if self.values.contains_key(CHESS960) {
            let variant = game.options.get("variant").map(String::as_str);
            let value = (variant == Some("chess960")).to_string();
            wanted.push((CHESS960.to_owned(), value));
        }
        for (name, option) in &self.by_name {
            if let Some(value) = game.bot_options.get(name) {
                wanted.push((option.name.clone(), value.clone()));
            }
        }
        wanted.retain(|(name, value)| self.values.get(name) != Some(value));
        let commands = wanted.iter().map(|(name, value)| {
            let shown = if value.is_empty() { EMPTY } else { value };
            format!("setoption name {name} value {shown}")
        });
        let commands = commands.collect();
        self.values.extend(wanted);
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Vec<FoundOption> {
        let parse = |line: &&str| FoundOption::parse(line).expect("an option");
        lines.iter().map(parse).collect()
    }

    fn options() -> EngineOptions {
        EngineOptions::new(&found(&[
            "name Skill Level type spin default 20 min 0 max 20",
            "name Style type combo default Solid var Solid var Very Wild",
            "name Book File type string default <empty>",
            "name Use NNUE type check default true",
            "name Clear Hash type button",
            "name MultiPV type spin default 1 min 1 max 500",
            "name UCI_Chess960 type check default false",
        ]))
    }

    #[test]
    fn options_of_an_engine_become_those_of_a_bot() {
        let found = options().of_bot();
        let shown = |it: &BotOption| {
            let (default, min, max) = (&it.default_value, &it.min, &it.max);
            let choices = it.choices.join("|");
            format!("{} {} {default}/{min}/{max}/{choices}", it.name, it.kind)
        };
        assert_eq!(
            found.iter().map(shown).collect::<Vec<_>>(),
            [
                "depth integer 0/0/1000/",
                "book_file text ///",
                "skill_level integer 20/0/20/",
                "style choice Solid///Solid|Very Wild",
                "use_nnue bool true///",
            ]
        );
    }

    #[test]
    fn text_may_contain_words_of_uci() {
        let [option] = &found(&["name Path type string default /min var"])[..] else {
            panic!("one option");
        };
        assert_eq!(option.default, "/min var");
    }

    #[test]
    fn lines_that_are_no_options_are_refused() {
        for line in [
            "",
            "type spin",
            "name X",
            "name X type colour",
            "X type spin",
        ] {
            assert_eq!(FoundOption::parse(line), None, "{line}");
        }
    }

    #[test]
    fn only_other_values_are_set() {
        let mut options = options();
        let game = |variant: &str, level: &str, book: &str| Game {
            context: 0,
            options: BTreeMap::from([("variant".to_owned(), variant.to_owned())]),
            bot_options: BTreeMap::from([
                ("skill_level".to_owned(), level.to_owned()),
                ("book_file".to_owned(), book.to_owned()),
            ]),
            nodes: "0".to_owned(),
        };
        assert!(options.commands(&game("standard", "20", "")).is_empty());
        assert_eq!(
            options.commands(&game("chess960", "3", "b.bin")),
            [
                "setoption name UCI_Chess960 value true",
                "setoption name Book File value b.bin",
                "setoption name Skill Level value 3",
            ]
        );
        assert_eq!(
            options.commands(&game("chess960", "3", "")),
            ["setoption name Book File value <empty>"]
        );
    }
}
