"""Statements for the policy of each kit, which print, and return values that the agent has read."""

# A text with all kinds of escapes, as source code of most languages.
TEXT = r'"\u00c4\"\\/\n\ud83d\ude00"'
UTF8 = r'"\xc3\x84\"\\/\n\xf0\x9f\x98\x80"'
NOISE = r'"noise {\"type\":\"answer\",\"batch\":1,\"moves\":[99]}"'

# By language: the file, the line before the statements, and the statements. The number of the
# decision selects what they do:
#   1 the time left on the clock          4 whether the notation is TEXT
#   2 two numbers of the position         5 whether the seed is 2^64 - 1
#   3 a random number                     6 the number of seats, and an option of the ruleset
#   7 fail
PROBES = {
    "python": (
        "agent.py",
        "def choose(decision):",
        f"""
    import os
    print({NOISE})
    os.system("echo more noise")
    if decision.number == 1: return decision.clock["left_us"]
    if decision.number == 2: return decision.position["board"][1] * 10 + decision.position["to_move"]
    if decision.number == 3: return decision.rng.below(1000000)
    if decision.number == 4: return int(decision.notations[0] == "\\u00c4\\"\\\\/\\n\\U0001f600")
    if decision.number == 5: return int(decision.seed == 2**64 - 1)
    if decision.number == 6: return decision.seats * 10 + int(decision.options["pits"])
    if decision.number == 7: raise ValueError("it \\"broke\\"")
""",
    ),
    "javascript": (
        "agent.js",
        "function choose(decision) {",
        f"""
  console.log({NOISE});
  process.stdout.write("more noise\\n");
  if (decision.number === 1) return decision.clock.left_us;
  if (decision.number === 2) return decision.position.board[1] * 10 + decision.position.to_move;
  if (decision.number === 3) return decision.rng.below(1000000);
  if (decision.number === 4) return Number(decision.notations[0] === {TEXT});
  if (decision.number === 5) return Number(decision.seed === 2n ** 64n - 1n);
  if (decision.number === 6) return decision.seats * 10 + Number(decision.options.pits);
  if (decision.number === 7) throw new Error("it \\"broke\\"");
""",
    ),
    "rust": (
        "src/main.rs",
        "fn choose(decision: &mut Decision) -> u32 {",
        f"""
    println!("{{}}", {NOISE});
    let _ = std::process::Command::new("echo").arg("more noise").status();
    match decision.number {{
        1 => return decision.clock.get("left_us").number() as u32,
        2 => {{
            let position = decision.position;
            let first = position.get("board").at(1).number();
            return (first * 10.0 + position.get("to_move").number()) as u32;
        }}
        3 => return decision.rng.below(1_000_000),
        4 => return u32::from(decision.notations[0] == "\\u{{c4}}\\"\\\\/\\n\\u{{1f600}}"),
        5 => return u32::from(decision.seed == u64::MAX),
        6 => return decision.seats * 10 + decision.options.get("pits").number() as u32,
        7 => panic!("it \\"broke\\""),
        _ => {{}}
    }}
""",
    ),
    "cpp": (
        "agent.cpp",
        "static long choose(arena::Decision& decision) {",
        f"""
    std::cout << {NOISE} << std::endl;
    std::printf("more noise\\n");
    switch (decision.number) {{
    case 1: return static_cast<long>(decision.clock["left_us"].number());
    case 2: return static_cast<long>(decision.position["board"].at(1).number() * 10 +
                                     decision.position["to_move"].number());
    case 3: return decision.rng.below(1000000);
    case 4: return decision.notations[0] == {UTF8};
    case 5: return decision.seed == UINT64_MAX;
    case 6: return decision.seats * 10 + static_cast<long>(decision.options["pits"].number());
    case 7: throw std::runtime_error("it \\"broke\\"");
    }}
""",
    ),
    "c": (
        "agent.c",
        "static long choose(arena_decision *decision) {",
        f"""
    puts({NOISE});
    if (system("echo more noise")) return -1;
    const arena_value *position = decision->position;
    switch (decision->number) {{
    case 1: return (long)arena_number(decision->clock, "left_us");
    case 2: return (long)(arena_value_number(arena_at(arena_get(position, "board"), 1)) * 10 +
                          arena_number(position, "to_move"));
    case 3: return arena_below(decision, 1000000);
    case 4: return !strcmp(decision->notations[0], {UTF8});
    case 5: return decision->seed == UINT64_MAX;
    case 6: return decision->seats * 10 + (long)arena_number(decision->options, "pits");
    case 7: arena_fail("it %s", "\\"broke\\"");
    }}
""",
    ),
    "go": (
        "agent.go",
        "func choose(decision *Decision) int {",
        f"""
	fmt.Println({NOISE})
	fmt.Println("more noise")
	position := decision.Position
	switch decision.Number {{
	case 1:
		return int(decision.Clock.LeftUs)
	case 2:
		return int(position.Get("board").At(1).Number()*10 + position.Get("to_move").Number())
	case 3:
		return decision.Rng.Below(1000000)
	case 4:
		if decision.Notations[0] == "\\u00c4\\"\\\\/\\n\\U0001f600" {{
			return 1
		}}
		return 0
	case 5:
		if decision.Seed == 1<<64-1 {{
			return 1
		}}
		return 0
	case 6:
		return decision.Seats*10 + int(Value{{decision.Options["pits"]}}.Number())
	case 7:
		panic("it \\"broke\\"")
	}}
""",
    ),
    "java": (
        "Agent.java",
        "    static int choose(Arena.Decision decision) {",
        f"""
        System.out.println({NOISE});
        System.out.println("more noise");
        switch (decision.number) {{
            case 1: return (int) decision.clock.get("left_us").number();
            case 2: return decision.position.get("board").numbers()[1] * 10
                    + (int) decision.position.get("to_move").number();
            case 3: return decision.rng.below(1000000);
            case 4: return decision.notations.at(0).text().equals({TEXT}) ? 1 : 0;
            case 5: return decision.seed == -1 ? 1 : 0;
            case 6: return decision.seats * 10 + (int) decision.options.get("pits").number();
            case 7: throw new IllegalStateException("it \\"broke\\"");
        }}
""",
    ),
    "bash": (
        "agent.sh",
        "choose() {",
        f"""
    printf '%s\\n' {NOISE}
    /bin/sh -c 'echo more noise'
    case $number in
    1) get clock.left_us && move=$REPLY; return ;;
    2) get position.to_move && move=$REPLY; get position.board.1 && move=$((REPLY * 10 + move)); return ;;
    3) below 1000000; move=$REPLY; return ;;
    4) if [ "${{notations[0]}}" = $'\\xc3\\x84"\\\\/\\n\\xf0\\x9f\\x98\\x80' ]; then move=1; else move=0; fi; return ;;
    5) if [ "$seed" = 18446744073709551615 ]; then move=1; else move=0; fi; return ;;
    6) get_option pits; move=$((seats * 10 + REPLY)); return ;;
    7) echo 'it "broke"'; return 3 ;;
    esac
""",
    ),
}
script = PROBES["javascript"][2]
PROBES["typescript"] = ("agent.ts", "function choose(decision: Decision): number {", script.replace("decision.clock.", "decision.clock!."))


def insert(lang, folder):
    """Inserts the statements into a policy."""
    name, anchor, statements = PROBES[lang]
    path = folder / name
    text = path.read_text()
    assert text.count(anchor) == 1, f"{name} has no line {anchor}"
    if lang == "go":
        text = text.replace("package main", 'package main\n\nimport "fmt"', 1)
    path.write_text(text.replace(anchor, anchor + statements))
