use super::*;

fn agent(options: Vec<v1::BotOption>) -> v1::Agent {
    v1::Agent {
        description: Some(v1::DescribeResponse {
            bots: vec![v1::Bot {
                name: "deep".to_owned(),
                options,
                ..v1::Bot::default()
            }],
            ..v1::DescribeResponse::default()
        }),
        ..v1::Agent::default()
    }
}

fn option(kind: v1::OptionType, default: &str, min: &str, max: &str) -> v1::BotOption {
    v1::BotOption {
        name: "depth".to_owned(),
        r#type: kind.into(),
        default_value: default.to_owned(),
        min: min.to_owned(),
        max: max.to_owned(),
        ..v1::BotOption::default()
    }
}

#[test]
fn rulesets_of_an_agent_are_shown_in_words() {
    let names_none = agent(Vec::new());
    let native = v1::Agent {
        source: Some(Source::Native(v1::NativeSource {})),
        bot: "deep".to_owned(),
        ..agent(Vec::new())
    };
    let mut named = native.clone();
    for bot in named.description.iter_mut().flat_map(|it| &mut it.bots) {
        bot.rulesets = vec!["kalah".to_owned(), "cowry".to_owned()];
    }
    for (agent, expected) in [
        (native, "all rulesets"),
        (names_none, "all, as it names none"),
        (named, "cowry kalah"),
    ] {
        assert_eq!(row(&agent).0[3], expected);
    }
}

#[test]
fn option_ranges_have_their_type() {
    use v1::OptionType::{Bool, Choice, Integer, Numbers, Real, Text};
    let none = Value::Null;
    for (given, default, min, max) in [
        (
            option(Integer, "3", "1", "15"),
            json!(3),
            json!(1),
            json!(15),
        ),
        (
            option(Real, "0.5", "-1.0", "1.0"),
            json!(0.5),
            json!(-1.0),
            json!(1.0),
        ),
        (
            option(Bool, "true", "", ""),
            json!(true),
            none.clone(),
            none.clone(),
        ),
        (
            option(Numbers, "[0.2, 1.0]", "0.0", "9.0"),
            json!([0.2, 1.0]),
            json!(0.0),
            json!(9.0),
        ),
        // Exact to the last bit.
        (
            option(Real, "-1.2435865769793337", "-9.0", "9.0"),
            json!(-1.2435865769793337),
            json!(-9.0),
            json!(9.0),
        ),
        (
            option(Numbers, "score", "0.0", "9.0"),
            json!("score"),
            json!(0.0),
            json!(9.0),
        ),
        (
            option(Choice, "1", "", ""),
            json!("1"),
            none.clone(),
            none.clone(),
        ),
        (
            option(Text, "true", "", ""),
            json!("true"),
            none.clone(),
            none.clone(),
        ),
        (
            option(Integer, "many", "", ""),
            json!("many"),
            none.clone(),
            none.clone(),
        ),
    ] {
        let shown = &describe(&agent(vec![given]))["bots"][0]["options"][0];
        assert_eq!(
            (&shown["default"], &shown["min"], &shown["max"]),
            (&default, &min, &max)
        );
    }
}

#[test]
fn json_lines_show_agent_options() {
    let listing = options(&agent(vec![option(
        v1::OptionType::Integer,
        "3",
        "1",
        "15",
    )]));
    let (cells, _) = &listing.rows[0];
    assert_eq!(cells[..6], ["deep", "depth", "integer", "3", "1", "15"]);
    assert_eq!(cells.len(), listing.header.len());
}

#[test]
fn texts_of_agents_stay_within_their_lines() {
    let forged = "1\nforged line\u{1b}[2J";
    let mut agent = agent(vec![v1::BotOption {
        summary: forged.to_owned(),
        choices: vec![forged.to_owned()],
        rulesets: vec![forged.to_owned()],
        ..option(v1::OptionType::Text, forged, forged, forged)
    }]);
    let bot = &mut agent.description.as_mut().expect("a description").bots[0];
    bot.summary = forged.to_owned();
    bot.rulesets = vec![forged.to_owned()];
    bot.required_options = vec![v1::RequiredOption {
        ruleset: forged.to_owned(),
        name: forged.to_owned(),
        value: forged.to_owned(),
    }];
    agent.version = forged.to_owned();
    agent.options = vec![v1::OptionValue {
        name: forged.to_owned(),
        value: forged.to_owned(),
    }];
    agent.source = Some(Source::Binary(v1::BinarySource {
        file_name: forged.to_owned(),
        ..v1::BinarySource::default()
    }));
    let shown = text(&agent);
    for line in shown.lines() {
        assert!(!line.starts_with("forged"), "{shown}");
    }
    assert!(shown.contains("1\\x0aforged line\\x1b[2J"), "{shown}");
}
