use std::fmt::Write;

use arena_tests::World;

/// Adds the help of a command and of all commands below it.
fn add(world: &World, command: &mut Vec<String>, all: &mut String) {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = world.arena(&arguments).ok().stdout;
    let title = command.join(" ");
    writeln!(all, "# arena {title}\n\n{help}").expect("room");
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return;
    };
    let list = list.split("\n\n").next().unwrap_or_default();
    // Deeper lines go on with the line above.
    let names = list.lines().filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        command.push(name.to_owned());
        add(world, command, all);
        command.pop();
    }
}

#[test]
fn help_of_every_command_reads_as_reviewed() {
    let mut all = String::new();
    add(&World::new(), &mut Vec::new(), &mut all);
    insta::assert_snapshot!("help", all);
}
