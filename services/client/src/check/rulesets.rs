//! The rulesets that an agent declares.

use arena_engine::options::nearest;
use arena_model::AgentName;
use arena_wire::{convert::required_options, v1};
use itertools::Itertools;

/// The names in a description that are no names of bots, rulesets or their options, each as an error
/// message. `added` are rulesets that are not built in.
pub fn wrong_names(description: &v1::DescribeResponse, added: &[String]) -> Vec<String> {
    let wrong = |(place, bot): (usize, &v1::Bot)| {
        let error = bot.name.parse::<AgentName>().err()?;
        Some(format!("bots[{place}].name: {error}"))
    };
    let mut problems: Vec<String> = description
        .bots
        .iter()
        .enumerate()
        .filter_map(wrong)
        .collect();
    problems.extend(unknown_rulesets(description, added));
    problems.extend(wrong_options(description));
    problems
}

/// The rulesets of a description that are neither built in nor resemble one: they may be of one's own.
pub fn own_rulesets(description: &v1::DescribeResponse) -> Vec<String> {
    let names = description.bots.iter().flat_map(|bot| &bot.rulesets);
    let own = names.filter(|name| {
        let known = arena_games::rulesets().iter().map(|info| info.name);
        name.parse::<AgentName>().is_ok()
            && arena_games::ruleset(name).is_err()
            && nearest(name, known).is_none()
    });
    own.unique().cloned().collect()
}

fn unknown_rulesets(description: &v1::DescribeResponse, added: &[String]) -> Vec<String> {
    let known = || arena_games::rulesets().iter().map(|info| info.name);
    let of_bot = |bot: &v1::Bot| {
        let of_options = bot.options.iter().flat_map(|option| &option.rulesets);
        let names = bot.rulesets.iter().chain(of_options);
        let unknown =
            names.filter(|name| arena_games::ruleset(name).is_err() && !added.contains(name));
        let problem = |name: &String| {
            let meant = nearest(name, known()).map_or_else(
                || "; the".to_owned(),
                |near| format!(", did you mean \"{near}\"? The"),
            );
            format!(
                "bot \"{}\" claims to play \"{name}\", which is not a ruleset{meant} rulesets are \
                 {}",
                bot.name,
                known().format(", ")
            )
        };
        unknown.map(problem).collect_vec()
    };
    description.bots.iter().flat_map(of_bot).unique().collect()
}

/// Required options that do not exist or have no such value.
fn wrong_options(description: &v1::DescribeResponse) -> Vec<String> {
    let of_bot = |bot: &v1::Bot| {
        let rulesets = bot.required_options.iter().map(|option| &option.ruleset);
        let wrong = |ruleset: &String| {
            let required = required_options(bot, ruleset);
            let error = arena_games::resolve(ruleset, &required, None).err()?;
            Some(format!(
                "bot \"{}\" has required_options: {error}",
                bot.name
            ))
        };
        rulesets.unique().filter_map(wrong).collect_vec()
    };
    description.bots.iter().flat_map(of_bot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plays(names: &[&str]) -> v1::DescribeResponse {
        v1::DescribeResponse {
            bots: vec![v1::Bot {
                name: "mine".into(),
                rulesets: names.iter().map(|&name| name.into()).collect(),
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    #[test]
    fn unknown_names_list_known_ones() {
        assert_eq!(unknown_rulesets(&plays(&["kalah", "cowry"]), &[]), [""; 0]);
        let mistaken = plays(&["kahla", "kalah", "kahla", "snap"]);
        assert_eq!(own_rulesets(&mistaken), ["snap"]);
        let added = unknown_rulesets(&mistaken, &["snap".to_owned()]);
        assert_eq!(added.len(), 1);
        let problems = unknown_rulesets(&mistaken, &[]);
        assert_eq!(problems.len(), 2);
        for word in ["\"kahla\"", "did you mean \"kalah\"?", "oware-abapa"] {
            assert!(problems[0].contains(word), "{}", problems[0]);
        }
        assert!(!problems[1].contains("mean"), "{}", problems[1]);
    }

    #[test]
    fn wrong_required_options_are_named() {
        let mut description = plays(&["kalah"]);
        let mut require = |name: &str, value: &str| {
            description.bots[0].required_options = vec![v1::RequiredOption {
                ruleset: "kalah".into(),
                name: name.into(),
                value: value.into(),
            }];
            wrong_names(&description, &[]).join("\n")
        };
        assert_eq!(require("pits", "4"), "");
        for (name, value) in [("pits", "9"), ("pots", "4")] {
            let problem = require(name, value);
            for word in ["bot \"mine\"", "required_options", "kalah", name] {
                assert!(problem.contains(word), "{problem}");
            }
        }
    }
}
