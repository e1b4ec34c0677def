//! The variants of a ruleset that a check plays.

use arena_engine::options::Options;

use crate::rules::Rules;

/// One variant of a ruleset.
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) options: Options,
    pub(super) seats: usize,
}

/// Each preset of a ruleset with each number of seats, unless it has other values of the required
/// options; each set of options once.
pub(super) fn variants(rules: &Rules, required: &Options) -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    let presets = rules.presets().iter().map(|preset| preset.name.as_str());
    for preset in std::iter::once(None).chain(presets.map(Some)) {
        let given = match preset {
            None => required.clone(),
            Some(preset) => [("preset".to_owned(), preset.into())].into(),
        };
        let shown = preset.map_or_else(String::new, |name| format!(", preset {name}"));
        for seats in rules.seats().0..=rules.seats().1 {
            // A preset may support only one number of seats.
            let (Ok((options, seats)), Ok((needed, _))) =
                (rules.resolve(&given, seats), rules.resolve(required, seats))
            else {
                continue;
            };
            let mut names = required.keys();
            if !names.all(|name| options.get(name) == needed.get(name)) {
                continue;
            }
            let same = |known: &Variant| known.seats == seats && known.options == options;
            if !all.iter().any(same) {
                let name = format!("{}{shown}, {seats} seats", rules.name());
                all.push(Variant {
                    name,
                    options,
                    seats,
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use arena_engine::options::Value;

    use super::*;

    #[test]
    fn variants_are_all_presets_and_seat_counts_once() {
        for info in arena_games::rulesets() {
            let variants = variants(&Rules::Listed(info), &Options::new());
            for seats in info.seats.0..=info.seats.1 {
                assert!(variants.iter().any(|it| it.seats == seats), "{}", info.name);
            }
            for preset in &info.presets {
                let given = [("preset".to_owned(), Value::Text(preset.name.clone()))];
                let (options, seats) =
                    arena_games::resolve(info.name, &given.into(), preset.seats).expect("a preset");
                let same = |it: &&Variant| it.options == options && it.seats == seats;
                assert_eq!(variants.iter().filter(same).count(), 1, "{}", preset.name);
            }
        }
    }

    #[test]
    fn variants_have_the_required_options() {
        let names = |ruleset: &str, option: (&str, Value)| {
            let info = arena_games::ruleset(ruleset).expect("a ruleset");
            let required = [(option.0.to_owned(), option.1)].into();
            let variants = variants(&Rules::Listed(info), &required).into_iter();
            variants.map(|variant| variant.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names("oware-abapa", ("repetition", "first".into())),
            [
                "oware-abapa, 2 seats",
                "oware-abapa, preset paper002, 2 seats"
            ]
        );
        assert_eq!(names("kalah", ("pits", "4".into())), ["kalah, 2 seats"]);
    }
}
