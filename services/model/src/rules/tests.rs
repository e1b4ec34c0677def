//! Descriptions of rules: what is read, resolved and refused.

use super::*;

fn description() -> serde_json::Value {
    serde_json::json!({
        "type": "description", "protocol": 1, "name": "pig", "version": 1, "seats": [2, 4],
        "options": [
            {"name": "target", "type": "integer", "min": 10, "max": 1000, "default": 100},
            {"name": "board", "type": "choice", "choices": ["small", "large"], "default": "small"},
        ],
        "presets": [{"name": "short", "options": {"target": 50}, "seats": 3}],
        "chance": true,
        "returns": [
            {"seats": 2, "min": -13, "max": 13},
            {"seats": 3, "min": -13, "max": 26},
            {"seats": 4, "min": -13, "max": 39, "parts": 2},
        ],
        "later": {"field": 1},
    })
}

fn parse(value: &serde_json::Value) -> Result<RulesDescription, String> {
    RulesDescription::parse(&value.to_string()).map_err(|error| error.to_string())
}

#[test]
fn options_and_seats_are_resolved() {
    let rules = parse(&description()).expect("a description");
    let given = Options::from([("preset".to_owned(), "short".into())]);
    let (options, seats) = rules.resolve("pig", &given, None).expect("resolved");
    assert_eq!(seats, 3);
    assert_eq!(options["target"], Value::Int(50));
    assert_eq!(options["board"], "small".into());
    let unknown = Options::from([("goal".to_owned(), Value::Int(1))]);
    let error = rules.resolve("pig", &unknown, None).expect_err("unknown");
    assert!(
        error.to_string().contains("unknown option \"goal\""),
        "{error}"
    );
    assert!(rules.resolve("pig", &Options::new(), Some(5)).is_err());
}

#[test]
fn written_description_reads_back() {
    let rules = parse(&description()).expect("a description");
    let bounds = [2, 3, 4, 5].map(|seats| rules.returns(seats).map(|it| (it.max, it.parts)));
    assert_eq!(bounds, [Some((13, 1)), Some((26, 1)), Some((39, 2)), None]);
    assert!(!rules.wide_ids);
    assert!(!rules.to_json().contains("wide_ids"), "as it was stored");
    assert_eq!(RulesDescription::parse(&rules.to_json()), Ok(rules));
    let mut wide = description();
    wide["wide_ids"] = true.into();
    let rules = parse(&wide).expect("a description");
    assert!(rules.wide_ids);
    assert_eq!(RulesDescription::parse(&rules.to_json()), Ok(rules));
}

#[test]
fn wrong_descriptions_are_named() {
    for (pointer, value, problem) in [
        ("/protocol", 2.into(), "protocol 2 is unknown"),
        ("/name", "Pig!".into(), "is no name"),
        ("/seats", serde_json::json!([1, 2]), "seats are 1 to 2"),
        ("/seats", serde_json::json!([2, 11]), "seats are 2 to 11"),
        ("/returns/0/min", 14.into(), "min has to be below max"),
        (
            "/returns/0/min",
            0.5.into(),
            "returns: min is 0.5, but has to be a whole number",
        ),
        ("/returns/0/min", "x".into(), "returns: min is \"x\""),
        ("/returns/0", 5.into(), "returns: 5 is no object"),
        (
            "/returns/0",
            serde_json::json!({"min": 0, "max": 1, "part": 2}),
            "unknown key \"part\", did you mean \"parts\"?",
        ),
        (
            "/returns/0/seats",
            3.into(),
            "0 entries are for games of 2 seats",
        ),
        ("/version", "one".into(), "invalid type"),
        ("/options/0/default", 5.into(), "from 10 to 1000"),
        ("/options/0/name", "preset".into(), "options[0]"),
        ("/options/1/name", "target".into(), "options[1]"),
        ("/presets/0/options/target", 5.into(), "preset \"short\""),
    ] {
        let mut changed = description();
        *changed.pointer_mut(pointer).expect("a field") = value;
        let error = parse(&changed).expect_err(pointer);
        assert!(error.contains(problem), "{pointer}: {error}");
    }
    for (field, value) in [("events_max", 20_001), ("state_bytes_max", 65_537)] {
        let mut changed = description();
        changed[field] = value.into();
        let error = parse(&changed).expect_err(field);
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn summaries_may_have_emojis_but_no_blank_letters() {
    let with = |summary: &str| {
        let mut changed = description();
        changed["summary"] = summary.into();
        parse(&changed).map(|rules| rules.summary)
    };
    let hearts = "\u{2764}\u{fe0f}";
    assert_eq!(with(hearts), Ok(hearts.to_owned()));
    for hidden in ["\u{3164}", "\u{2800}", "\u{34f}", "\u{202e}"] {
        assert!(with(hidden).is_err(), "{}", hidden.escape_unicode());
    }
}

#[test]
fn notations_need_no_escape() {
    for (text, fits) in [
        ("a3xb4", true),
        ("", false),
        ("a b", false),
        ("a\"b", false),
        ("a\\b", false),
        ("é", false),
        (&"x".repeat(33), false),
    ] {
        assert_eq!(is_notation(text), fits, "{text}");
    }
}
