use super::*;

fn agents() -> Vec<AgentName> {
    ["candidate", "base", "no"]
        .map(|name| name.parse().expect("a name"))
        .to_vec()
}

fn claim(text: &str) -> Claim {
    let read = read(text, text, &agents());
    read.unwrap_or_else(|error| panic!("{error}")).claim
}

fn beats(elo: f64, confidence: f64) -> Claim {
    Claim::Beats {
        agent: "candidate".to_owned(),
        opponent: "base".to_owned(),
        elo,
        confidence,
    }
}

fn scores(opponent: Option<&str>, bound: Bound, share: f64, confidence: Option<f64>) -> Claim {
    Claim::Scores {
        agent: "candidate".to_owned(),
        opponent: opponent.map(str::to_owned),
        bound,
        share,
        confidence,
    }
}

#[test]
fn sentences_parse_as_they_read() {
    let ranks = |agent: &str, place| Claim::Ranks {
        agent: agent.to_owned(),
        place,
    };
    let faults = |agent: Option<&str>, most| Claim::Faults {
        agent: agent.map(str::to_owned),
        most,
    };
    let cases = [
        ("candidate beats base", beats(0.0, 0.95)),
        ("candidate beats base by 5 elo", beats(5.0, 0.95)),
        ("candidate beats base by 5 elo at 95 %", beats(5.0, 0.95)),
        ("candidate beats base at 99%", beats(0.0, 0.99)),
        (
            "candidate loses to base by at most 7.5 elo at 90 %",
            beats(-7.5, 0.9),
        ),
        (
            "candidate is rated above base by 5 elo at 90 %",
            Claim::Rated {
                agent: "candidate".to_owned(),
                opponent: "base".to_owned(),
                elo: 5.0,
                confidence: 0.9,
            },
        ),
        (
            "candidate scores at least 0.45",
            scores(None, Bound::AtLeast, 0.45, None),
        ),
        (
            "candidate scores at least 45 % at 95 %",
            scores(None, Bound::AtLeast, 0.45, Some(0.95)),
        ),
        (
            "candidate scores at most 1 against base",
            scores(Some("base"), Bound::AtMost, 1.0, None),
        ),
        (
            "candidate ranks first",
            ranks("candidate", Place::Exactly(1)),
        ),
        ("no ranks last", ranks("no", Place::Last)),
        (
            "candidate ranks 2nd or better",
            ranks("candidate", Place::OrBetter(2)),
        ),
        ("candidate ranks 3", ranks("candidate", Place::Exactly(3))),
        (
            "candidate passes",
            Claim::Passes {
                agent: "candidate".to_owned(),
            },
        ),
        ("no faults", faults(None, 0)),
        ("at most 3 faults", faults(None, 3)),
        ("candidate makes no faults", faults(Some("candidate"), 0)),
        ("no makes at most 2 faults", faults(Some("no"), 2)),
        ("no voids", Claim::Voids { most: 0 }),
        ("at most 1 voids", Claim::Voids { most: 1 }),
    ];
    for (text, expected) in cases {
        assert_eq!(claim(text), expected, "{text}");
    }
}

#[test]
fn invalid_expectation_names_the_fix() {
    let cases = [
        ("", "it is empty"),
        (
            "candidat beats base",
            "agents has no \"candidat\", did you mean \"candidate\"?",
        ),
        (
            "candidate beats bse",
            "agents has no \"bse\", did you mean \"base\"?",
        ),
        ("zzz beats base", "it has candidate, base, no"),
        ("candidate beets base", "did you mean \"beats\"?"),
        ("candidate beats", "an agent is missing at its end"),
        ("candidate beats candidate", "cannot play against itself"),
        ("candidate", "is missing at its end"),
        (
            "candidate beats base by five elo",
            "\"five\" is not a number",
        ),
        ("candidate beats base by inf elo", "\"inf\" is not a number"),
        ("candidate beats base by 5", "\"elo\" is missing"),
        ("candidate beats base by 5 eol", "did you mean \"elo\"?"),
        (
            "candidate beats base by 9000 elo",
            "must be from -2000 to 2000",
        ),
        ("candidate beats base at 195 %", "from 50 % to 99.99 %"),
        ("candidate beats base at 0.95 %", "from 50 % to 99.99 %"),
        ("candidate beats base at 95", "\"%\" is missing"),
        ("candidate beats base today", "unexpected \"today\""),
        ("candidate is rated abve base", "did you mean \"above\"?"),
        (
            "candidate scores at least 45",
            "a score of 45: must be from 0 to 1",
        ),
        ("candidate scores at least 145 %", "a score of 145 %"),
        ("candidate scores at lest 0.5", "did you mean \"least\"?"),
        ("candidate ranks fist", "\"fist\" is not a place"),
        ("candidate ranks 4", "must be from 1 to 3"),
        ("candidate ranks 0", "must be from 1 to 3"),
        ("candidate passes base", "unexpected \"base\""),
        ("no fauts", "did you mean \"faults\"?"),
        ("at most -1 faults", "\"-1\" is not a whole number"),
        ("candidate makes no voids", "unknown word \"voids\""),
    ];
    for (text, expected) in cases {
        let error = read(text, text, &agents()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(
            error.starts_with(&format!("expect \"{text}\": ")),
            "{error}"
        );
    }
}
