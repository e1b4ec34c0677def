use super::*;
use crate::spec::Spec;

const LEAST: &str = "name = \"t\"\nruleset = \"kalah\"\nagents = [\"ada\", \"bob\", \"cy\"]\n";

fn settings(more: &str) -> Result<Option<Settings>, SpecError> {
    Spec::parse(&format!("{LEAST}{more}\n"))?.settings()
}

#[track_caller]
fn resolved(more: &str) -> Settings {
    settings(more).expect(more).expect("settings")
}

#[test]
fn format_defaults_are_documented() {
    assert_eq!(settings("").expect("a spec"), None);
    let Settings::Gauntlet(gauntlet) = resolved("format = \"gauntlet\"") else {
        panic!("not a gauntlet");
    };
    let names: Vec<&str> = gauntlet.challengers.iter().map(AgentName::as_str).collect();
    assert_eq!(names, ["ada"]);
    assert_eq!(
        resolved("format = \"sprt\""),
        Settings::Sprt(Sprt::default())
    );
    let swiss = Settings::Swiss(Swiss { rounds: Some(2) });
    assert_eq!(resolved("format = \"swiss\""), swiss);
    let ladder = Settings::Ladder(Ladder {
        blocks_total: Some(300),
        step: Some(6),
        open: false,
    });
    assert_eq!(resolved("format = \"ladder\""), ladder);
    let knockout = Settings::Knockout(Knockout {
        elimination: Elimination::Single,
        seeding: Seeding::Listed,
    });
    assert_eq!(resolved("format = \"knockout\""), knockout);
}

#[test]
fn explicit_default_keeps_the_id() {
    for (format, written) in [
        ("gauntlet", "challengers = [\"ada\"]"),
        (
            "sprt",
            "elo0 = 0\nelo1 = 5\nalpha = 0.05\nbeta = 0.05\nmodel = \"logistic\"",
        ),
        ("swiss", "rounds = 2"),
        ("knockout", "elimination = \"single\"\nseeding = \"listed\""),
        ("ladder", "blocks_total = 300\nstep = 6"),
    ] {
        let format = format!("format = \"{format}\"");
        let table = format.replace("format = \"", "[").replace('"', "]");
        assert_eq!(
            resolved(&format),
            resolved(&format!("{format}\n{table}\n{written}"))
        );
    }
}

#[test]
fn spec_with_settings_round_trips() {
    let text = format!(
        "{LEAST}format = \"sprt\"\n[sprt]\nelo0 = -3\nelo1 = 2.5\nmodel = \"normalized\"\n"
    );
    let spec = Spec::parse(&text).expect("a spec");
    assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
}

/// The reference that users read agrees with the parser of specs.
#[test]
fn reference_has_every_default() {
    const FIELD: &str = "name = \"t\"\nruleset = \"kalah\"\nagents = [\"mine\", \"random\", \
                         \"a\", \"b\", \"c\", \"d\"]\n";
    let formats: Vec<Format> = REFERENCE.iter().map(|it| it.format).collect();
    assert_eq!(formats, Format::ALL);
    for reference in &*REFERENCE {
        let name = reference.format.name();
        let spec = Spec::parse(&format!("{FIELD}{}", reference.example)).expect(name);
        assert_eq!(spec.format, reference.format);
        let settings = spec.settings().expect(name);
        let value = serde_json::to_value(&settings).expect(name);
        let fields = value.get(name).and_then(|fields| fields.as_object());
        let known: Vec<&str> = reference.settings.iter().map(|it| &*it.key).collect();
        for (key, _) in fields.into_iter().flatten() {
            assert!(known.contains(&key.as_str()), "{name}: {key} of {known:?}");
        }
        for setting in &reference.settings {
            let line = format!("[{name}]\n{} = {}", setting.key, setting.default);
            // A default that depends on the rest of the spec is described in words.
            if line.parse::<toml::Table>().is_ok() {
                let format = format!("format = \"{name}\"\n");
                assert_eq!(resolved(&format), resolved(&format!("{format}{line}")));
            }
        }
    }
}

#[test]
fn challenger_order_keeps_the_id() {
    let format = "format = \"gauntlet\"\n[gauntlet]\nchallengers";
    assert_eq!(
        resolved(&format!("{format} = [\"cy\", \"ada\"]")),
        resolved(&format!("{format} = [\"ada\", \"cy\"]"))
    );
}

#[test]
fn invalid_format_is_named() {
    let cases = [
        ("[swiss]\nrounds = 2", "[swiss] belongs to another format"),
        (
            "format = \"sprt\"\n[sprt]\nelo = 3",
            "unknown key \"elo\" in [sprt], did you mean \"elo0\"?",
        ),
        (
            "format = \"sprt\"\n[sprt]\nelo0 = 5\nelo1 = 0",
            "elo0 = 5 and elo1 = 0: elo0 must be below elo1",
        ),
        (
            "format = \"sprt\"\n[sprt]\nelo1 = inf",
            "[sprt] elo1 = inf: must be",
        ),
        (
            "format = \"sprt\"\n[sprt]\nalpha = 0.5",
            "[sprt] alpha = 0.5",
        ),
        (
            "format = \"sprt\"\n[sprt]\nalpha = 1e-320",
            "[sprt] alpha = 1e-320: must be at least 1e-6 and below 0.5",
        ),
        (
            "format = \"sprt\"\n[sprt]\nelo0 = 4.995",
            "elo0 = 4.995 and elo1 = 5: must be at least 0.01 Elo apart",
        ),
        (
            "format = \"sprt\"\n[sprt]\nelo0 = 1e-300\nelo1 = 5",
            "[sprt] elo0 = 1e-300: must be 0, or at least 0.01",
        ),
        ("format = \"sprt\"\n[sprt]\nbeta = nan", "[sprt] beta = NaN"),
        ("format = \"sprt\"\n[sprt]\nstep = 0", "[sprt] step = 0"),
        ("format = \"sprt\"\n[sprt]\nelo0 = \"x\"", "elo0"),
        (
            "format = \"gauntlet\"\n[gauntlet]\nchallengers = [\"adda\"]",
            "no agent \"adda\", did you mean \"ada\"?",
        ),
        (
            "format = \"gauntlet\"\n[gauntlet]\nchallengers = [\"ada\", \"ada\"]",
            "\"ada\" is listed twice",
        ),
        (
            "format = \"swiss\"\n[swiss]\nrounds = 3",
            "only 2 opponents",
        ),
        ("format = \"swiss\"\n[swiss]\nrounds = 0", "at least 1"),
        (
            "format = \"ladder\"\n[ladder]\nstep = 0",
            "[ladder] step = 0",
        ),
        ("format = \"fixed\"", "needs a list of games"),
        (
            "format = \"fixed\"\n[fixed]\ngames = [[\"ada\", \"bob\"], []]",
            "number 2: empty name",
        ),
        (
            "format = \"fixed\"\n[fixed]\ngames = [[\"ada\", \"bobb\"]]",
            "number 1: no agent \"bobb\", did you mean \"bob\"?",
        ),
        (
            "format = \"fixed\"\n[fixed]\ngames = [[\"ada\", \"ada\"]]",
            "cannot play against itself",
        ),
        (
            "[knokout]\n",
            "unknown key \"knokout\", did you mean \"knockout\"?",
        ),
        (
            "format = \"knockout\"\n[knockout]\nseeding = \"drwn\"",
            "drwn",
        ),
    ];
    for (more, expected) in cases {
        let error = settings(more).expect_err(more);
        assert!(error.to_string().contains(expected), "{more}: {error}");
    }
}

#[test]
fn fixed_list_is_balanced_if_pairs_are() {
    let even = |games: &[&[&str]]| {
        let game = |game: &&[&str]| {
            let names = game.iter().map(|name| name.parse().expect("a name"));
            names.collect()
        };
        let games = games.iter().map(game).collect();
        Fixed { games }.is_even()
    };
    assert!(even(&[]));
    assert!(even(&[&["a", "b"], &["b", "a"]]));
    assert!(even(&[&["a", "b"], &["c", "a"], &["b", "c"]]));
    assert!(even(&[&["a", "b", "c"], &["a", "c", "b"]]));
    assert!(!even(&[&["a", "b"], &["a", "c"]]));
    assert!(!even(&[&["a", "b"], &["c", "a"], &["b", "c"], &["b", "c"]]));
    assert!(!even(&[&["a", "b"], &["c", "d"]]));
}
