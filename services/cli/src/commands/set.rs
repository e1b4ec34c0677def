//! `--set KEY=VALUE`: keys of a spec on the command line.

use clap::Args;

use crate::failure::{Failure, Outcome};

/// Keys that replace those of a spec.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SetArgs {
    /// Set a key of the spec, such as blocks=200, play.opening_plies=4 or
    /// 'agents=["random", "mine"]'; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    keys: Vec<String>,
}

impl SetArgs {
    /// The spec with these keys; unchanged if there are none.
    pub(crate) fn apply(&self, spec: String) -> Outcome<String> {
        if self.keys.is_empty() {
            return Ok(spec);
        }
        let mut table: toml::Table = spec
            .parse()
            .map_err(|error| Failure::usage(format!("not TOML: {error}")))?;
        for key in &self.keys {
            set(&mut table, key)
                .map_err(|problem| Failure::usage(format!("--set {key}: {problem}")))?;
        }
        toml::to_string(&table).map_err(Failure::failed)
    }
}

fn set(table: &mut toml::Table, text: &str) -> Result<(), String> {
    let (path, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, such as blocks=200")?;
    let (path, value) = (path.trim(), value.trim());
    if path.split('.').any(str::is_empty) {
        return Err("a key is missing".to_owned());
    }
    // Text needs no quotes, unless it could be parsed as another type. Seeds begin with 0x
    // and are text.
    let parsed = format!("value = {value}").parse::<toml::Table>().ok();
    let parsed = parsed.filter(|_| !value.starts_with("0x"));
    let value = parsed
        .and_then(|mut table| table.remove("value"))
        .unwrap_or(value.into());
    let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = table;
    for name in tables.split('.').filter(|name| !name.is_empty()) {
        let inner = place.entry(name).or_insert(toml::Table::new().into());
        let no_table = || format!("{name} is not a table of the spec");
        place = inner.as_table_mut().ok_or_else(no_table)?;
    }
    place.insert(key.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(spec: &str, keys: &[&str]) -> Outcome<toml::Table> {
        let set = SetArgs {
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
        };
        let text = set.apply(spec.to_owned())?;
        Ok(text.parse().expect("TOML"))
    }

    #[test]
    fn set_replaces_keys_and_makes_tables() {
        let spec = "name = \"a\"\nblocks = 10\nseed = \"0x1\"\n[play]\nrotate = true\n";
        let keys = [
            "blocks=20",
            "play.opening_plies = 4",
            "sprt.elo1=7.5",
            "name=other",
            "agents=[\"x\", \"y\"]",
            "seed=0x5eed",
        ];
        let table = applied(spec, &keys).expect("a spec");
        assert_eq!(table["blocks"].as_integer(), Some(20));
        assert_eq!(table["play"]["opening_plies"].as_integer(), Some(4));
        assert_eq!(table["play"]["rotate"].as_bool(), Some(true));
        assert_eq!(table["sprt"]["elo1"].as_float(), Some(7.5));
        assert_eq!(table["name"].as_str(), Some("other"));
        assert_eq!(table["agents"].as_array().map(Vec::len), Some(2));
        assert_eq!(table["seed"].as_str(), Some("0x5eed"));
    }

    #[test]
    fn unsettable_keys_are_named() {
        for (key, problem) in [
            ("blocks", "expected KEY=VALUE"),
            (".x=1", "a key is missing"),
            ("blocks.x=1", "blocks is not a table"),
        ] {
            let failure = applied("blocks = 10\n", &[key]).expect_err(key).to_string();
            assert!(failure.contains(problem), "{failure}");
        }
    }
}
