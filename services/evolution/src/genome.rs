//! The options of a bot that evolve, and the conversion of genes to their values.

use std::collections::BTreeMap;

use crate::genetic::Gene;
use arena_model::engine::options::{Kind, Options, Value, nearest, of_ruleset};
use arena_wire::{convert::option_spec_from_wire, v1};
use serde::Deserialize;

use crate::error::{EvolutionError, Result};

/// The options that a spec chooses to evolve.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "evolve must be the name of an option, a list of names, or a table of names with \
     [minimum, maximum]"
)]
pub enum EvolveChoice {
    /// One option.
    One(String),
    /// Several options.
    Several(Vec<String>),
    /// Options, each with its minimum and maximum.
    Within(BTreeMap<String, (f64, f64)>),
}

impl EvolveChoice {
    /// Names of the chosen options.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
            Self::Within(bounds) => bounds.keys().map(String::as_str).collect(),
        }
    }

    fn bounds(&self, option: &str) -> Option<(f64, f64)> {
        match self {
            Self::Within(bounds) => bounds.get(option).copied(),
            Self::One(_) | Self::Several(_) => None,
        }
    }
}

/// How an option's value is made from its genes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionForm {
    Whole,
    Real,
    List,
}

/// An option that evolves.
#[derive(Clone, Debug)]
struct EvolvedOption {
    option: String,
    form: OptionForm,
    genes: Vec<Gene>,
}

/// The options that evolve, in order, with their genes.
#[derive(Clone, Debug)]
pub struct Genome(Vec<EvolvedOption>);

impl Genome {
    /// The genome of a bot on a ruleset. Without a choice, the bot's only list option evolves.
    ///
    /// # Errors
    /// [`EvolutionError::Usage`] if the bot cannot evolve so, or [`EvolutionError::Failed`] if
    /// its description is invalid.
    pub fn new(bot: &v1::Bot, ruleset: &str, wanted: Option<&EvolveChoice>) -> Result<Self> {
        let wrong = |problem: String| Err(EvolutionError::usage(format!("[player] {problem}")));
        let v1::Bot { name, rulesets, .. } = bot;
        if !rulesets.is_empty() && !rulesets.iter().any(|plays| plays == ruleset) {
            let plays = rulesets.join(", ");
            return wrong(format!(
                "bot {name} does not play {ruleset}; it plays {plays}"
            ));
        }
        let known = numeric_options(bot, ruleset)?;
        let options = || known.iter().map(|part| part.option.as_str());
        let listed = || options().collect::<Vec<_>>().join(", ");
        let Some(wanted) = wanted else {
            let mut lists = known.iter().filter(|part| part.form == OptionForm::List);
            return match (lists.next(), lists.next()) {
                (Some(only), None) => Ok(Self(vec![only.clone()])),
                _ if known.is_empty() => wrong(format!(
                    "bot {name} has no numeric option on {ruleset}, so there is nothing to evolve"
                )),
                _ => wrong(format!(
                    "lacks evolve: add evolve = \"…\" with one of {}",
                    listed()
                )),
            };
        };
        let names = wanted.names();
        if names.is_empty() {
            return wrong(format!("evolve names no option: use some of {}", listed()));
        }
        let mut parts = Vec::with_capacity(names.len());
        for (place, option) in names.iter().enumerate() {
            if names[..place].contains(option) {
                return wrong(format!("evolve names \"{option}\" twice"));
            }
            let Some(part) = known.iter().find(|part| part.option == *option) else {
                let hint = nearest(option, options()).map_or_else(
                    || format!("; it has {}", listed()),
                    |near| format!(", did you mean \"{near}\"?"),
                );
                return wrong(format!(
                    "evolve = \"{option}\": bot {name} has no such numeric option on \
                     {ruleset}{hint}"
                ));
            };
            parts.push(part.clone().within(wanted.bounds(option))?);
        }
        Ok(Self(parts))
    }

    /// All genes, in order.
    #[must_use]
    pub fn genes(&self) -> Vec<Gene> {
        let parts = self.0.iter();
        parts.flat_map(|part| part.genes.iter().copied()).collect()
    }

    /// Names of the options that evolve.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|part| part.option.as_str())
    }

    /// The options' values for the genes of a player.
    ///
    /// # Panics
    /// Panics if there are fewer genes than the options need.
    #[must_use]
    pub fn values(&self, genes: &[f64]) -> Options {
        let mut rest = genes;
        let values = self.0.iter().map(|part| {
            let (own, after) = rest.split_at(part.genes.len());
            rest = after;
            let value = match part.form {
                OptionForm::Whole => Value::Int(own[0].round() as i64),
                OptionForm::Real => Value::Real(own[0]),
                OptionForm::List => Value::Numbers(own.to_vec()),
            };
            (part.option.clone(), value)
        });
        values.collect()
    }
}

impl EvolvedOption {
    /// The same option with narrower bounds, within which its first genes are drawn.
    fn within(mut self, bounds: Option<(f64, f64)>) -> Result<Self> {
        let Some((least, greatest)) = bounds else {
            return Ok(self);
        };
        for gene in &mut self.genes {
            let may = gene.bounds;
            let fits = least <= greatest && may.0 <= least && greatest <= may.1;
            if !fits {
                return Err(EvolutionError::usage(format!(
                    "[player] evolve: {} = [{least}, {greatest}] must be within {} and {}",
                    self.option, may.0, may.1
                )));
            }
            gene.start = Some((least, greatest));
            gene.bounds = (least, greatest);
        }
        Ok(self)
    }
}

/// The numeric options of a bot on a ruleset.
fn numeric_options(bot: &v1::Bot, ruleset: &str) -> Result<Vec<EvolvedOption>> {
    let specs = bot.options.iter().map(option_spec_from_wire);
    let specs: Result<Vec<_>, _> = specs.collect();
    let specs = specs.map_err(EvolutionError::failed)?;
    let gene = |start, bounds| Gene { start, bounds };
    let single = |bounds| vec![gene(Some(bounds), bounds)];
    let parts = of_ruleset(&specs, ruleset).into_iter().filter_map(|spec| {
        let (form, genes) = match spec.kind {
            Kind::Int { min, max } => (OptionForm::Whole, single((min as f64, max as f64))),
            Kind::Real { min, max } => (OptionForm::Real, single((min, max))),
            Kind::Numbers {
                min, max, length, ..
            } => (OptionForm::List, vec![gene(None, (min, max)); length]),
            Kind::Bool | Kind::Choice(_) | Kind::Text => return None,
        };
        Some(EvolvedOption {
            option: spec.name,
            form,
            genes,
        })
    });
    Ok(parts.collect())
}

#[cfg(test)]
mod tests {
    use arena_model::engine::options::Spec;
    use arena_wire::convert::option_spec_to_wire;

    use super::*;

    impl Genome {
        /// A genome of one option, a list of `length` numbers.
        pub(crate) fn of_list(option: &str, length: usize) -> Self {
            let gene = Gene {
                start: None,
                bounds: (-5.0, 5.0),
            };
            Self(vec![EvolvedOption {
                option: option.to_owned(),
                form: OptionForm::List,
                genes: vec![gene; length],
            }])
        }
    }

    fn bot() -> v1::Bot {
        let option = |name: &str, kind, default| Spec {
            name: name.to_owned(),
            kind,
            default,
            summary: String::new(),
            rulesets: Vec::new(),
            uses_seed: false,
        };
        let options = [
            option("depth", Kind::Int { min: 1, max: 9 }, Value::Int(3)),
            option(
                "courage",
                Kind::Real { min: 0.0, max: 4.0 },
                Value::Real(1.0),
            ),
            option(
                "weights",
                Kind::Numbers {
                    min: -5.0,
                    max: 5.0,
                    length: 2,
                    names: Vec::new(),
                },
                Value::Numbers(vec![0.0, 0.0]),
            ),
            option("brave", Kind::Bool, Value::Bool(true)),
        ];
        v1::Bot {
            name: "bot".to_owned(),
            options: options.iter().map(option_spec_to_wire).collect(),
            ..Default::default()
        }
    }

    fn genome(evolve: &str) -> Result<Genome> {
        let table: toml::Table = format!("evolve = {evolve}").parse().expect("TOML");
        let wanted: EvolveChoice = table["evolve"].clone().try_into().expect("a choice");
        Genome::new(&bot(), "kalah", Some(&wanted))
    }

    #[test]
    fn genes_become_option_values() {
        let genome = genome("[\"weights\", \"depth\", \"courage\"]").expect("known");
        assert_eq!(genome.genes().len(), 4);
        let values = genome.values(&[0.5, -0.5, 2.6, 0.25]);
        assert_eq!(values["weights"], Value::Numbers(vec![0.5, -0.5]));
        assert_eq!(values["depth"], Value::Int(3));
        assert_eq!(values["courage"], Value::Real(0.25));
    }

    #[test]
    fn genes_start_within_bounds() {
        let wide = genome("\"depth\"").expect("known").genes();
        assert_eq!(wide[0].start, Some((1.0, 9.0)));
        let narrow = genome("{ depth = [2, 4], weights = [0, 1] }").expect("known");
        let genes = narrow.genes();
        assert_eq!(genes[0].bounds, (2.0, 4.0));
        assert_eq!(genes[2].start, Some((0.0, 1.0)));
    }

    #[test]
    fn only_list_option_evolves_by_default() {
        let genome = Genome::new(&bot(), "kalah", None).expect("one list");
        assert_eq!(genome.options().collect::<Vec<_>>(), ["weights"]);
    }

    #[test]
    fn invalid_choice_lists_valid_options() {
        for (evolve, reported) in [
            ("\"weight\"", "did you mean \"weights\"?"),
            ("\"brave\"", "no such numeric option"),
            ("[]", "names no option"),
            ("[\"depth\", \"depth\"]", "twice"),
            ("{ depth = [0, 4] }", "within 1 and 9"),
            ("{ depth = [4, 2] }", "within 1 and 9"),
        ] {
            let failure = genome(evolve).expect_err(evolve).to_string();
            assert!(failure.contains(reported), "{evolve}: {failure}");
        }
    }
}
