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
        summary: "every group of agents plays equally many games",
        blocks: "blocks of each group",
        settings: &[],
        example: "format = \"round-robin\"\nblocks = 50\n",
    },
    Reference {
        format: Format::Gauntlet,
        summary: "challengers play the field; the field does not play among itself",
        blocks: "blocks of each challenger with each group of the field",
        settings: &[setting(
            "challengers",
            "the first agent",
            "list of agents",
            "agents that play the field",
        )],
        example: "format = \"gauntlet\"\nblocks = 50\n[gauntlet]\nchallengers = [\"mine\"]\n",
    },
    Reference {
        format: Format::Sprt,
        summary: "sequential test of two agents (SPRT)",
        blocks: "maximum; if it is reached, the test is inconclusive",
        settings: &[
            setting(
                "elo0",
                "0.0",
                "Elo, -2000 to 2000",
                "advantage of the first agent under H0",
            ),
            setting(
                "elo1",
                "5.0",
                "Elo, above elo0",
                "advantage of the first agent under H1",
            ),
            setting(
                "alpha",
                "0.05",
                "0.000001 to below 0.5",
                "probability of accepting H1 if elo0 is true",
            ),
            setting(
                "beta",
                "0.05",
                "0.000001 to below 0.5",
                "probability of accepting H0 if elo1 is true",
            ),
            setting(
                "model",
                "\"logistic\"",
                "\"logistic\", \"normalized\"",
                "scale of Elo: logistic, from scores, or normalised by the standard deviation of \
                 a game",
            ),
            setting(
                "step",
                "grows with the number of blocks",
                "1 or more",
                "blocks between two checks of the ratio",
            ),
        ],
        example: "format = \"sprt\"\nblocks = 2000\n[sprt]\nelo0 = 0\nelo1 = 10\n",
    },
    Reference {
        format: Format::Swiss,
        summary: "rounds that pair agents with similar scores",
        blocks: "blocks of each pairing in a round",
        settings: &[setting(
            "rounds",
            "log2 of the number of agents, rounded up",
            "1 or more",
            "number of rounds",
        )],
        example: "format = \"swiss\"\nblocks = 10\n[swiss]\nrounds = 5\n",
    },
    Reference {
        format: Format::Knockout,
        summary: "the loser of each match is eliminated",
        blocks: "blocks of each match",
        settings: &[
            setting(
                "elimination",
                "\"single\"",
                "\"single\", \"double\"",
                "number of losses that eliminate an agent",
            ),
            setting(
                "seeding",
                "\"listed\"",
                "\"listed\", \"drawn\"",
                "seeds by the order of agents, or drawn",
            ),
        ],
        example: "format = \"knockout\"\nblocks = 10\n[knockout]\nelimination = \"double\"\n",
    },
    Reference {
        format: Format::Ladder,
        summary: "pairs agents with similar ratings, where a block is most informative",
        blocks: "blocks of each agent, if blocks_total is not set",
        settings: &[
            setting(
                "blocks_total",
                "blocks × agents",
                "1 or more",
                "total number of blocks",
            ),
            setting(
                "step",
                "about 1/50 of blocks_total",
                "1 or more",
                "blocks scheduled at a time",
            ),
        ],
        example: "format = \"ladder\"\nblocks = 100\n[ladder]\nblocks_total = 2000\n",
    },
    Reference {
        format: Format::Fixed,
        summary: "a list of games, in the given order",
        blocks: "how often the list is played",
        settings: &[setting(
            "games",
            "none; required",
            "list of lists of agents",
            "agents of each game, in the order of the seats",
        )],
        example: "format = \"fixed\"\nblocks = 1\n[fixed]\ngames = [[\"mine\", \"random\"], [\"random\", \"mine\"]]\n",
    },
];
