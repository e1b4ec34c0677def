//! Tokens with their roles, states and limits.

use arena_wire::{
    limits,
    v1::{Role, TokenInfo},
};
use serde_json::{Value, json};

use crate::{listing::Listing, units};

/// A list of tokens.
#[must_use]
pub fn listing(tokens: &[TokenInfo]) -> Listing<Value> {
    let rows = tokens.iter().map(|token| (cells(token), describe(token)));
    Listing {
        header: vec![
            "token", "role", "state", "created", "expires", "uses", "from", "limits", "label",
        ],
        rows: rows.collect(),
        empty: "no tokens",
    }
}

fn role_name(token: &TokenInfo) -> &'static str {
    match token.role() {
        Role::Unspecified => "none",
        Role::Viewer => "viewer",
        Role::Submitter => "submitter",
        Role::Worker => "worker",
        Role::Admin => "admin",
    }
}

/// Role, end and limits, for people.
#[must_use]
pub fn summary(token: &TokenInfo) -> String {
    let mut text = role_name(token).to_owned();
    if token.expires_unix_us > 0 {
        text += &format!(", until {}", units::utc(token.expires_unix_us));
    }
    if token.uses > 0 {
        text += &format!(", at most {} uses", token.uses);
    }
    if !token.from.is_empty() {
        text += &format!(", from {}", token.from.join(" "));
    }
    if let Some(limits) = token.limits.filter(|it| it.entries().next().is_some()) {
        text += &format!(", with {limits}");
    }
    text
}

fn state(token: &TokenInfo) -> &'static str {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_micros() as u64;
    if token.revoked {
        "revoked"
    } else if token.expires_unix_us > 0 && token.expires_unix_us <= now {
        "expired"
    } else if token.uses > 0 && token.used >= token.uses {
        "used up"
    } else {
        "valid"
    }
}

fn cells(token: &TokenInfo) -> Vec<String> {
    let time = |unix_us: u64| match unix_us {
        0 => String::new(),
        unix_us => units::utc(unix_us),
    };
    vec![
        token.id.clone(),
        role_name(token).to_owned(),
        state(token).to_owned(),
        time(token.created_unix_us),
        time(token.expires_unix_us),
        match token.uses {
            0 => String::new(),
            uses => format!("{}/{uses}", token.used),
        },
        token.from.join(" "),
        token.limits.unwrap_or_default().to_string(),
        token.label.clone(),
    ]
}

/// A token, for programs.
#[must_use]
pub fn describe(token: &TokenInfo) -> Value {
    let own = token.limits.unwrap_or_default();
    let limits = own.entries().map(|(limit, value)| {
        // JSON numbers are not exact up to there.
        let value = match value {
            limits::UNLIMITED => json!(limits::format(value)),
            value => json!(value),
        };
        (limit.name.to_owned(), value)
    });
    let limits: serde_json::Map<_, _> = limits.collect();
    json!({
        "id": token.id,
        "role": role_name(token),
        "state": state(token),
        "created_unix_us": token.created_unix_us,
        "expires_unix_us": (token.expires_unix_us > 0).then_some(token.expires_unix_us),
        "uses": (token.uses > 0).then_some(token.uses),
        "used": (token.uses > 0).then_some(token.used),
        "from": token.from,
        "limits": limits,
        "label": token.label,
    })
}
