use arena_engine::options::{Kind, Preset, Value};

use super::*;

#[test]
fn names_of_rulesets_are_checked() {
    let check = |names: &[&'static str]| check_names(names.iter().copied());
    assert_eq!(check(&["pig", "pig-2", "hex"]), Ok(()));
    assert_eq!(check(&["pig", "pig"]), Err(AddError::Taken("pig")));
    assert_eq!(check(&["kalah"]), Err(AddError::Taken("kalah")));
    let long = "a-name-that-is-longer-than-forty-characters";
    for name in ["", "Pig", "2pig", "pig/3", "pig@3", "-pig", long] {
        assert_eq!(check(&[name]), Err(AddError::Name(name)));
    }
}

#[test]
fn numbers_of_seats_are_checked() {
    let mut info = crate::ruleset("kalah").expect("a ruleset").clone();
    for (seats, is_valid) in [
        ((2, 4), true),
        ((2, 10), true),
        ((2, 11), false),
        ((1, 2), false),
        ((4, 3), false),
    ] {
        info.seats = seats;
        assert_eq!(check_seats(&info).is_ok(), is_valid, "{seats:?}");
    }
}

#[test]
fn defaults_and_presets_are_checked() {
    for info in crate::rulesets() {
        assert_eq!(check_values(info), Ok(()));
    }
    let mut info = crate::ruleset("kalah").expect("a ruleset").clone();
    info.options[0].kind = Kind::Int { min: 6, max: 30 };
    info.options[0].default = Value::Int(99);
    let error = check_values(&info).expect_err("the default is too large");
    assert!(
        error
            .to_string()
            .contains("99 is not a whole number from 6 to 30"),
        "{error}"
    );
    info.options.clear();
    info.presets = vec![Preset::new("odd", &[("seeds", Value::Int(3))], "")];
    let error = check_values(&info).expect_err("there is no such option");
    assert!(
        error
            .to_string()
            .contains("\"odd\" has no option \"seeds\""),
        "{error}"
    );
}

#[test]
fn visitors_with_code_for_a_type_get_it() {
    struct TypeOf;
    impl Visitor for TypeOf {
        type Out = &'static str;

        fn visit<G: Game>(self, _: G) -> Self::Out {
            std::any::type_name::<G>()
        }

        fn visit_added(
            self,
            typed: &Typed,
            options: &Options,
            seats: usize,
        ) -> Result<Result<Self::Out, OptionError>, Self> {
            typed.visit(self, options, seats)
        }
    }
    let (options, seats) =
        crate::resolve(crate::Kalah::NAME, &Options::new(), None).expect("defaults");
    let added = AddedRuleset::of::<crate::Kalah>();
    let seen = added.visit(&options, seats, TypeOf).expect("options");
    assert!(seen.ends_with("AddedGame"), "{seen}");
    let added = added.visited_by::<crate::Kalah, TypeOf>();
    let seen = added.visit(&options, seats, TypeOf).expect("options");
    assert!(seen.ends_with("Kalah"), "{seen}");
}

#[test]
fn rulesets_are_added_before_their_first_use() {
    assert!(!crate::rulesets().is_empty());
    assert_eq!(add_rulesets(Vec::new()), Err(AddError::Late));
}
