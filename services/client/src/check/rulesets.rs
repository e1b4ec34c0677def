//! The rulesets that an agent declares.

use arena_engine::options::nearest;
use arena_wire::v1;

/// The names in a description that are not rulesets, each as an error message.
pub fn unknown_rulesets(description: &v1::DescribeResponse) -> Vec<String> {
    let known: Vec<&str> = arena_games::rulesets()
        .iter()
        .map(|info| info.name)
        .collect();
    let mut problems = Vec::new();
    for bot in &description.bots {
        let of_options = bot.options.iter().flat_map(|option| &option.rulesets);
        for name in bot.rulesets.iter().chain(of_options) {
            if arena_games::ruleset(name).is_ok() {
                continue;
            }
            let meant = nearest(name, known.iter().copied()).map_or_else(
                || "; the".to_owned(),
                |near| format!(", did you mean \"{near}\"? The"),
            );
            let problem = format!(
                "bot \"{}\" claims to play \"{name}\", which is not a ruleset{meant} rulesets are \
                 {}",
                bot.name,
                known.join(", ")
            );
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
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
        assert_eq!(unknown_rulesets(&plays(&["kalah", "cowry"])), [""; 0]);
        let problems = unknown_rulesets(&plays(&["kahla", "kalah", "kahla", "chess"]));
        assert_eq!(problems.len(), 2);
        for word in ["\"kahla\"", "did you mean \"kalah\"?", "oware-abapa"] {
            assert!(problems[0].contains(word), "{}", problems[0]);
        }
        assert!(!problems[1].contains("mean"), "{}", problems[1]);
    }
}
