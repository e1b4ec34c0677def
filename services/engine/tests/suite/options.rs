//! Options: types, refused values, and their errors.

use arena_engine::options::{
    Kind, OptionError, Options, Preset, Spec, Value, coerce, nearest, of_ruleset, resolve,
};

fn specs() -> Vec<Spec> {
    vec![
        Spec::new("depth", Kind::Int { min: 1, max: 8 }, 4i64, "plies"),
        Spec::new("fast", Kind::Bool, false, "hurry"),
        Spec::new("style", Kind::choice(&["plain", "as-is"]), "plain", "how"),
    ]
}

fn presets() -> Vec<Preset> {
    vec![Preset {
        name: "deep".to_owned(),
        summary: String::new(),
        options: [("depth".to_owned(), Value::Int(8))].into(),
        seats: None,
    }]
}

fn given(pairs: &[(&str, Value)]) -> Options {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

#[test]
fn text_is_read_as_the_options_type() {
    let cases: [(Kind, Value, Option<Value>); 14] = [
        (Kind::Bool, "true".into(), Some(true.into())),
        (Kind::Bool, "yes".into(), None),
        (Kind::Bool, Value::Int(1), None),
        (
            Kind::Int { min: 1, max: 8 },
            "8".into(),
            Some(Value::Int(8)),
        ),
        (Kind::Int { min: 1, max: 8 }, "9".into(), None),
        (Kind::Int { min: 1, max: 8 }, Value::Int(0), None),
        (Kind::Int { min: 1, max: 8 }, Value::Real(2.0), None),
        (
            Kind::Real { min: 0.0, max: 1.0 },
            Value::Int(1),
            Some(Value::Real(1.0)),
        ),
        (
            Kind::Real { min: 0.0, max: 1.0 },
            "0.5".into(),
            Some(Value::Real(0.5)),
        ),
        (Kind::Real { min: 0.0, max: 1.0 }, "nan".into(), None),
        (
            Kind::choice(&["as-is"]),
            "as-is".into(),
            Some("as-is".into()),
        ),
        (
            Kind::choice(&["as-is"]),
            "as_is".into(),
            Some("as-is".into()),
        ),
        (Kind::choice(&["5", "7"]), Value::Int(7), Some("7".into())),
        (Kind::Text, Value::Int(7), Some("7".into())),
    ];
    for (kind, value, expected) in cases {
        let spec = Spec::new("x", kind.clone(), true, "");
        assert_eq!(coerce(&spec, &value).ok(), expected, "{kind} from {value}");
    }
}

fn weights() -> Spec {
    let kind = Kind::Numbers {
        min: -2.0,
        max: 2.0,
        length: 3,
        names: vec!["plain-sum".to_owned()],
    };
    Spec::new("weights", kind, "plain-sum", "what counts").only_for("here")
}

#[test]
fn number_lists_parse_from_lists_and_text() {
    let numbers = Some(Value::Numbers(vec![0.5, -1.0, 2.0]));
    let cases: [(Value, Option<Value>); 10] = [
        (Value::Numbers(vec![0.5, -1.0, 2.0]), numbers.clone()),
        ("[0.5, -1.0, 2.0]".into(), numbers.clone()),
        ("0.5 -1 2".into(), numbers.clone()),
        ("0.5;-1;2".into(), numbers),
        ("plain-sum".into(), Some("plain-sum".into())),
        ("plain_sum".into(), Some("plain-sum".into())),
        ("plain".into(), None),
        ("[0.5, -1.0, 2.5]".into(), None),
        (Value::Numbers(vec![0.5, f64::NAN, 2.0]), None),
        (Value::Real(0.5), None),
    ];
    for (value, expected) in cases {
        assert_eq!(coerce(&weights(), &value).ok(), expected, "{value}");
    }
    let written = Value::Numbers(vec![0.1 + 0.2, -1e-7, 2.0]);
    let read = coerce(&weights(), &Value::Text(written.to_string()));
    assert_eq!(read, Ok(written), "what is written is read to the last bit");
}

#[test]
fn wrong_list_length_names_both_lengths() {
    let error = coerce(&weights(), &"1 2".into()).expect_err("too few");
    assert_eq!(
        error.to_string(),
        "option \"weights\": a list of 2 numbers is not a list of 3 numbers from -2 to 2 \
         or one of plain-sum, as required for here"
    );
    let error = coerce(&weights(), &"plane-sum".into()).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "option \"weights\": \"plane-sum\" is not a list of 3 numbers from -2 to 2 \
         or one of plain-sum; did you mean \"plain-sum\"?"
    );
}

#[test]
fn option_exists_for_its_rulesets_only() {
    let specs = [weights(), specs().remove(0)];
    let names = |ruleset: &str| -> Vec<String> {
        let found = of_ruleset(&specs, ruleset).into_iter();
        found.map(|spec| spec.name).collect()
    };
    assert_eq!(names("here"), ["weights", "depth"]);
    assert_eq!(names("there"), ["depth"]);
}

#[test]
fn options_override_presets_and_defaults() {
    let resolved = |pairs: &[(&str, Value)]| resolve(&specs(), &presets(), &given(pairs));
    let expected = |depth, fast: bool| {
        let pairs = [
            ("depth", Value::Int(depth)),
            ("fast", fast.into()),
            ("style", "plain".into()),
        ];
        Ok(given(&pairs))
    };
    assert_eq!(resolved(&[]), expected(4, false));
    assert_eq!(resolved(&[("preset", "deep".into())]), expected(8, false));
    let both = [
        ("preset", "deep".into()),
        ("depth", "2".into()),
        ("fast", true.into()),
    ];
    assert_eq!(resolved(&both), expected(2, true));
}

#[test]
fn invalid_option_names_valid_ones() {
    let message = |pairs: &[(&str, Value)]| {
        let error = resolve(&specs(), &presets(), &given(pairs)).expect_err("does not fit");
        error.to_string()
    };
    assert_eq!(
        message(&[("dpeth", Value::Int(2))]),
        "unknown option \"dpeth\", did you mean \"depth\"?"
    );
    assert_eq!(
        message(&[("zzz", Value::Int(2))]),
        "unknown option \"zzz\": there are depth, fast, style"
    );
    assert_eq!(
        message(&[("preset", "depe".into())]),
        "unknown preset \"depe\", did you mean \"deep\"?"
    );
    assert_eq!(
        message(&[("depth", Value::Int(9))]),
        "option \"depth\": 9 is not a whole number from 1 to 8"
    );
    assert_eq!(
        message(&[("style", "plane".into())]),
        "option \"style\": \"plane\" is not one of plain, as-is; did you mean \"plain\"?"
    );
    let none = resolve(&specs(), &[], &given(&[("preset", "deep".into())]));
    assert!(
        matches!(none, Err(OptionError::Unknown { .. })),
        "no presets, no option"
    );
}

#[test]
fn only_near_names_are_suggested() {
    assert_eq!(
        nearest("cowyr", ["cowry", "kalah"]).as_deref(),
        Some("cowry")
    );
    assert_eq!(nearest("chess", ["cowry", "kalah"]), None);
    assert_eq!(nearest("x", []), None);
    // Otherwise, this would never end.
    let long = "x".repeat(1 << 24);
    assert_eq!(nearest(&long, [&*long]), None);
    assert_eq!(nearest("x", [&*long]), None);
}
