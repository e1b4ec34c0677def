//! Agents with their bots and options.

use arena_model::printable_line;
use arena_wire::v1::{self, agent::Source};
use itertools::Itertools;
use serde_json::{Value, json};

use crate::{listing::Listing, units};

/// Maximum length in bytes of an option's value in a list.
const VALUE_SHOWN: usize = 24;

/// A list of agents.
pub fn listing<'a>(agents: impl IntoIterator<Item = &'a v1::Agent>) -> Listing<Value> {
    Listing {
        header: vec!["agent", "version", "reached", "rulesets", "bots", "options"],
        rows: agents.into_iter().map(row).collect(),
        empty: "no agents",
    }
}

fn row(agent: &v1::Agent) -> (Vec<String>, Value) {
    let bots = shown_bots(agent);
    let any = bots.is_empty() || bots.iter().any(|bot| bot.rulesets.is_empty());
    let rulesets = bots.iter().flat_map(|bot| &bot.rulesets);
    let option = |option: &v1::OptionValue| match option.value.as_str() {
        // A list of weights would make the table too wide; `agent show` prints it.
        long if long.len() > VALUE_SHOWN => format!("{}=…", option.name),
        value => format!("{}={value}", option.name),
    };
    let cells = vec![
        agent.name.clone(),
        agent.version.clone(),
        reached(agent),
        match any {
            true if matches!(agent.source, Some(Source::Native(_))) => "all rulesets".to_owned(),
            true => "all, as it names none".to_owned(),
            false => rulesets.sorted_unstable().dedup().join(" "),
        },
        bots.iter().map(|bot| &bot.name).join(" "),
        agent.options.iter().map(option).join(" "),
    ];
    (cells, describe(agent))
}

/// A native agent's own bot; otherwise all bots of the process.
fn shown_bots(agent: &v1::Agent) -> Vec<&v1::Bot> {
    let native = matches!(agent.source, Some(Source::Native(_)));
    let bots = agent.description.iter().flat_map(|known| &known.bots);
    bots.filter(|bot| !native || bot.name == agent.bot)
        .collect()
}

fn reached(agent: &v1::Agent) -> String {
    match &agent.source {
        Some(Source::Native(_)) if agent.name == agent.bot => "built in".to_owned(),
        Some(Source::Native(_)) => format!("built in ({})", agent.bot),
        Some(Source::Binary(binary)) => {
            let content = units::digest(&agent.content);
            format!("{} (content {content})", binary.file_name)
        }
        Some(Source::Endpoint(endpoint)) if agent.registered_unix_us > 0 => {
            let at = units::utc(agent.registered_unix_us);
            format!("{} (registered {at})", endpoint.url)
        }
        Some(Source::Endpoint(endpoint)) => endpoint.url.clone(),
        None => "–".to_owned(),
    }
}

/// An agent, for programs.
#[must_use]
pub fn describe(agent: &v1::Agent) -> Value {
    let source = match &agent.source {
        Some(Source::Native(_)) => json!({"kind": "native"}),
        Some(Source::Binary(binary)) => json!({
            "kind": "binary",
            "sha256": binary.sha256,
            "file_name": binary.file_name,
            "args": binary.args,
        }),
        Some(Source::Endpoint(endpoint)) => json!({"kind": "endpoint", "url": endpoint.url}),
        None => Value::Null,
    };
    json!({
        "agent": agent.name,
        "version": agent.version,
        "content": Some(&agent.content).filter(|content| !content.is_empty()),
        "bot": agent.bot,
        "options": given(agent),
        "source": source,
        "replicas": Some(agent.replicas).filter(|&replicas| replicas > 0),
        "cpus": agent.cpus.max(1),
        "memory_mib": memory_mib(agent),
        "described": agent.description.is_some(),
        "bots": shown_bots(agent).into_iter().map(describe_bot).collect_vec(),
        "registered_unix_us": agent.registered_unix_us,
    })
}

/// The memory limit of each of its processes, if it has one.
fn memory_mib(agent: &v1::Agent) -> Option<u64> {
    let Some(Source::Binary(binary)) = &agent.source else {
        return None;
    };
    let bytes = binary.limits.as_ref().map(|limits| limits.memory_bytes);
    bytes.filter(|&bytes| bytes > 0).map(|bytes| bytes >> 20)
}

/// What each process of an agent gets, if a worker starts it.
fn resources(agent: &v1::Agent) -> Option<String> {
    let Some(Source::Binary(_)) = agent.source else {
        return None;
    };
    let replicas = match agent.replicas {
        0 => "as many processes as help".to_owned(),
        1 => "1 process".to_owned(),
        replicas => format!("at most {replicas} processes"),
    };
    let cores = match agent.cpus {
        0 | 1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    };
    let memory = memory_mib(agent).map_or(String::new(), |mib| format!(" and {mib} MiB"));
    Some(format!("{replicas} on a worker, each with {cores}{memory}"))
}

/// The options that were given at registration, by name.
fn given(agent: &v1::Agent) -> Value {
    let bot = chosen(agent);
    let pair = |option: &v1::OptionValue| {
        let known = bot.and_then(|bot| bot.options.iter().find(|spec| spec.name == option.name));
        let value = known.map(|spec| typed(spec, &option.value));
        let value = value.unwrap_or_else(|| option.value.as_str().into());
        (option.name.clone(), value)
    };
    agent.options.iter().map(pair).collect()
}

/// The bot that plays if a spec names the agent.
#[must_use]
pub fn chosen(agent: &v1::Agent) -> Option<&v1::Bot> {
    let mut bots = agent.description.iter().flat_map(|known| &known.bots);
    bots.find(|bot| agent.bot.is_empty() || bot.name == agent.bot)
}

fn describe_bot(bot: &v1::Bot) -> Value {
    let describe = |option: &v1::BotOption| {
        let bound = |text: &str| (!text.is_empty()).then(|| typed(option, text));
        json!({
            "name": option.name,
            "summary": option.summary,
            "type": option_type(option),
            "default": typed(option, &option.default_value),
            "min": bound(&option.min),
            "max": bound(&option.max),
            "choices": option.choices,
            "length": Some(option.length).filter(|&length| length > 0),
            "rulesets": option.rulesets,
        })
    };
    let required = { bot.required_options.iter() }.map(
        |option| json!({"ruleset": option.ruleset, "name": option.name, "value": option.value}),
    );
    let required = required.collect_vec();
    json!({
        "bot": bot.name,
        "summary": bot.summary,
        "rulesets": bot.rulesets,
        "deterministic": bot.deterministic,
        "required_options": required,
        "perfect_information": bot.perfect_information,
        "options": bot.options.iter().map(describe).collect_vec(),
    })
}

/// A value with its type; as text if it does not have that type.
fn typed(option: &v1::BotOption, text: &str) -> Value {
    use v1::OptionType::{Choice, Text, Unspecified};
    match option.r#type() {
        Choice | Text | Unspecified => text.into(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

fn option_type(option: &v1::BotOption) -> &'static str {
    match option.r#type() {
        v1::OptionType::Bool => "bool",
        v1::OptionType::Integer => "integer",
        v1::OptionType::Real => "real",
        v1::OptionType::Choice => "choice",
        v1::OptionType::Text | v1::OptionType::Unspecified => "text",
        v1::OptionType::Numbers => "numbers",
    }
}

/// The options of all bots of an agent.
#[must_use]
pub fn options(agent: &v1::Agent) -> Listing<Value> {
    /// Name of a column, and the text of a row in it.
    type Column = (&'static str, fn(&v1::Bot, &v1::BotOption) -> String);
    const COLUMNS: [Column; 10] = [
        ("bot", |bot, _| bot.name.clone()),
        ("option", |_, it| it.name.clone()),
        ("type", |_, it| option_type(it).to_owned()),
        ("default", |_, it| it.default_value.clone()),
        ("min", |_, it| it.min.clone()),
        ("max", |_, it| it.max.clone()),
        ("choices", |_, it| it.choices.join(" ")),
        ("length", |_, it| match it.length {
            0 => String::new(),
            length => length.to_string(),
        }),
        ("rulesets", |_, it| it.rulesets.join(" ")),
        ("what", |_, it| it.summary.clone()),
    ];
    let rows = shown_bots(agent).into_iter().flat_map(|bot| {
        let cells = |option| COLUMNS.map(|(_, cell)| cell(bot, option)).to_vec();
        bot.options
            .iter()
            .map(move |option| (cells(option), Value::Null))
    });
    Listing {
        header: COLUMNS.map(|(head, _)| head).to_vec(),
        rows: rows.collect(),
        empty: "it has no options",
    }
}

/// An agent for a reader. Each text of it stays within its line.
#[must_use]
pub fn text(agent: &v1::Agent) -> String {
    let mut text = String::new();
    let mut add = |line: String| {
        text += &printable_line(&line);
        text.push('\n');
    };
    let version = match agent.version.as_str() {
        "" => String::new(),
        version => format!(" version {version}"),
    };
    add(format!("{}{version}, {}", agent.name, reached(agent)));
    if agent.description.is_none() {
        add("it did not start when it was registered, so its bots are unknown".to_owned());
    }
    resources(agent).into_iter().for_each(&mut add);
    if !agent.options.is_empty() {
        let bot = chosen(agent).map_or("", |bot| bot.name.as_str());
        add(format!("plays as {bot} with"));
        for option in &agent.options {
            add(format!("  {} = {}", option.name, option.value));
        }
    }
    for bot in shown_bots(agent) {
        let rulesets = match bot.rulesets.as_slice() {
            [] => "any ruleset".to_owned(),
            some => some.join(", "),
        };
        let v1::Bot { name, summary, .. } = bot;
        let random = if bot.deterministic {
            ""
        } else {
            ", not deterministic"
        };
        let colon = if summary.is_empty() { "" } else { ": " };
        add(String::new());
        add(format!("bot {name}{colon}{summary}"));
        let information = if bot.perfect_information {
            ", without hidden information"
        } else {
            ""
        };
        add(format!("  plays {rulesets}{information}{random}"));
        for options in bot.required_options.chunk_by(|a, b| a.ruleset == b.ruleset) {
            let values = options
                .iter()
                .map(|it| format!("{} = {}", it.name, it.value));
            let values = values.format(", ");
            add(format!("  on {}, needs {values}", options[0].ruleset));
        }
        for option in &bot.options {
            let only = match option.rulesets.as_slice() {
                [] => String::new(),
                some => format!(", on {}", some.join(", ")),
            };
            let (kind, bounds) = (option_type(option), bounds(option));
            let v1::BotOption { name, summary, .. } = option;
            let value = &option.default_value;
            add(format!(
                "  {name} = {value} ({kind}{bounds}{only}): {summary}"
            ));
        }
    }
    text
}

/// The bounds of an option's value, beyond its type.
fn bounds(option: &v1::BotOption) -> String {
    let count = match option.length {
        0 => String::new(),
        length => format!(", {length} of them"),
    };
    let range = match (option.min.as_str(), option.max.as_str()) {
        ("", "") => String::new(),
        (min, max) => format!(", {min} to {max}"),
    };
    let words = match option.choices.as_slice() {
        [] => String::new(),
        words if option.length > 0 => format!(", or one of {}", words.join(", ")),
        words => format!(", one of {}", words.join(", ")),
    };
    count + &range + &words
}

#[cfg(test)]
mod tests;
