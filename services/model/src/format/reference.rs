//! The reference of formats for users: description, settings, and an example.

use super::Format;

/// A setting of a format's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// Its default as a spec writes it, or words if it follows from other settings.
    pub default: &'static str,
    /// Its valid values.
    pub values: &'static str,
    /// Its effect.
    pub summary: &'static str,
}

/// A format in `arena formats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The format.
    pub format: Format,
    /// Who plays whom, and how it ends.
    pub summary: &'static str,
    /// Meaning of `blocks`.
    pub blocks: &'static str,
    /// Settings of its table.
    pub settings: &'static [Setting],
    /// Lines of a spec that choose it.
    pub example: &'static str,
}

const fn setting(
    key: &'static str,
    default: &'static str,
    values: &'static str,
    summary: &'static str,
) -> Setting {
    Setting {
        key,
        default,
        values,
        summary,
    }
}

/// All formats, in the order of [`Format::ALL`].
pub const REFERENCE: [Reference; 7] = [
    Reference {
        format: Format::RoundRobin,
        summary: "every group of agents plays every other",
        blocks: "blocks of each group",
        settings: &[],
        example: "format = \"round-robin\"\nblocks = 50\n",
    },
    Reference {
        format: Format::Gauntlet,
        summary: "challengers play the field, and nobody else meets",
        blocks: "blocks of each challenger with each group of the field",
        settings: &[setting(
            "challengers",
            "the first agent",
            "list of agents",
            "who plays the field",
        )],
        example: "format = \"gauntlet\"\nblocks = 50\n[gauntlet]\nchallengers = [\"mine\"]\n",
    },
    Reference {
        format: Format::Sprt,
        summary: "two agents, until it is clear which of two hypotheses holds",
        blocks: "at most so many; the test is inconclusive then",
        settings: &[
            setting(
                "elo0",
                "0.0",
                "Elo, -2000 to 2000",
                "first agent over the second under H0 (rejected)",
            ),
            setting(
                "elo1",
                "5.0",
                "Elo, above elo0",
                "first agent over the second under H1 (accepted)",
            ),
            setting(
                "alpha",
                "0.05",
                "0.000001 to below 0.5",
                "probability of accepting where elo0 is true",
            ),
            setting(
                "beta",
                "0.05",
                "0.000001 to below 0.5",
                "probability of rejecting where elo1 is true",
            ),
            setting(
                "model",
                "\"logistic\"",
                "\"logistic\", \"normalized\"",
                "what Elo means: by the score, or in standard deviations of a game",
            ),
            setting(
                "step",
                "grows with the test",
                "1 or more",
                "blocks between two looks",
            ),
        ],
        example: "format = \"sprt\"\nblocks = 2000\n[sprt]\nelo0 = 0\nelo1 = 10\n",
    },
    Reference {
        format: Format::Swiss,
        summary: "rounds in which agents with like scores meet",
        blocks: "blocks of each table in a round",
        settings: &[setting(
            "rounds",
            "log2 of the agents, rounded up",
            "1 or more",
            "how many rounds",
        )],
        example: "format = \"swiss\"\nblocks = 10\n[swiss]\nrounds = 5\n",
    },
    Reference {
        format: Format::Knockout,
        summary: "the loser of a table is out",
        blocks: "blocks of each table",
        settings: &[
            setting(
                "elimination",
                "\"single\"",
                "\"single\", \"double\"",
                "how many losses put an agent out",
            ),
            setting(
                "seeding",
                "\"listed\"",
                "\"listed\", \"drawn\"",
                "seed places by the order of agents, or drawn from the seed",
            ),
        ],
        example: "format = \"knockout\"\nblocks = 10\n[knockout]\nelimination = \"double\"\n",
    },
    Reference {
        format: Format::Ladder,
        summary: "neighbours in the ratings meet where the next block tells most",
        blocks: "blocks of each agent, if blocks_total is not set",
        settings: &[
            setting(
                "blocks_total",
                "blocks × agents",
                "1 or more",
                "blocks after which it ends",
            ),
            setting(
                "step",
                "about a fiftieth of blocks_total",
                "1 or more",
                "blocks chosen at a time",
            ),
        ],
        example: "format = \"ladder\"\nblocks = 100\n[ladder]\nblocks_total = 2000\n",
    },
    Reference {
        format: Format::Fixed,
        summary: "a list of games, played as it is written",
        blocks: "times that the list is played",
        settings: &[setting(
            "games",
            "none; it is needed",
            "list of lists of agents",
            "who plays, in the order of the seats",
        )],
        example: "format = \"fixed\"\nblocks = 1\n[fixed]\ngames = [[\"mine\", \"random\"], [\"random\", \"mine\"]]\n",
    },
];
