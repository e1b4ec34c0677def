//! Agents of seats on the command line.

/// An agent that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SeatError(String);

/// Splits at commas outside of brackets.
fn split_options(list: &str) -> Vec<&str> {
    let mut inside = false;
    let pieces = list.split(move |c| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        c == ',' && !inside
    });
    pieces.filter(|piece| !piece.trim().is_empty()).collect()
}

/// A list of numbers in TOML, or the text itself.
fn option_value(seat: &str, text: &str) -> Result<toml::Value, SeatError> {
    if !text.starts_with('[') {
        return Ok(text.into());
    }
    text.parse()
        .map_err(|_| SeatError(format!("seat {seat}: {text} is not a list of numbers")))
}

/// Parses `name`, `name=bot` or `name=bot(key=value,…)`; a list of numbers is `[1, -2.5]`.
/// Returns the name, and an `[[agent]]` table unless only a name is given.
///
/// # Errors
/// [`SeatError`] with the seat and its problem.
pub fn parse(seat: &str) -> Result<(String, Option<toml::Table>), SeatError> {
    let Some((name, bot)) = seat.split_once('=').filter(|(name, _)| !name.contains('(')) else {
        if seat.contains('(') {
            return Err(SeatError(format!(
                "seat {seat}: a variant needs a name, such as NAME={seat}"
            )));
        }
        return Ok((seat.to_owned(), None));
    };
    let (bot, list) = match bot.strip_suffix(')').and_then(|bot| bot.split_once('(')) {
        Some((bot, list)) => (bot, list),
        None => (bot, ""),
    };
    let mut options = toml::Table::new();
    for pair in split_options(list) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(SeatError(format!("seat {seat}: {pair} is not KEY=VALUE")));
        };
        let value = option_value(seat, value.trim())?;
        if options.insert(key.trim().to_owned(), value).is_some() {
            return Err(SeatError(format!(
                "seat {seat} names \"{}\" twice",
                key.trim()
            )));
        }
    }
    let mut table = toml::Table::new();
    table.insert("name".into(), name.into());
    table.insert("bot".into(), bot.into());
    table.insert("options".into(), options.into());
    Ok((name.to_owned(), Some(table)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variant_is_a_name_a_bot_and_options() {
        let (name, table) = parse("d8=kalah-alphabeta(depth=8, h_flag=2)").expect("a variant");
        let table = table.expect("a table");
        assert_eq!(name, "d8");
        assert_eq!(table["bot"].as_str(), Some("kalah-alphabeta"));
        assert_eq!(table["options"]["depth"].as_str(), Some("8"));
        assert_eq!(table["options"]["h_flag"].as_str(), Some("2"));
        assert!(parse("kalah-alphabeta(depth=8)").is_err());
        let (_, table) = parse("w=oware-minimax(weights=[1, -2.5,0],depth=2)").expect("a variant");
        let options = &table.expect("a table")["options"];
        let weights = options["weights"].as_array().expect("a list");
        assert_eq!((weights.len(), weights[1].as_float()), (3, Some(-2.5)));
        assert_eq!(options["depth"].as_str(), Some("2"));
        assert!(parse("w=oware-minimax(weights=[1,x])").is_err());
        let twice = parse("w=oware-minimax(depth=2, depth=3)").expect_err("not resolved which");
        assert!(twice.to_string().contains("\"depth\" twice"), "{twice}");
        assert!(parse("random").is_ok_and(|(name, table)| name == "random" && table.is_none()));
    }
}
