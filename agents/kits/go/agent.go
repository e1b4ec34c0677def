// my-agent: takes as much as it can, and chooses at random between equal moves.
package main

// choose returns the id of one of the legal moves.
func choose(decision *Decision) int {
	again := decision.BotOption("again").Number()
	best, equal := -1.0, []int{}
	for at, move := range decision.Position.Get("moves").List() {
		// As the rulesets name what a move takes.
		gain := move.Get("captured").Number() + move.Get("banked").Number() +
			move.Get("hits").Number() + again*move.Get("moves_again").Number()
		if gain > best {
			best, equal = gain, nil
		}
		if gain == best {
			equal = append(equal, decision.LegalMoves[at])
		}
	}
	return equal[decision.Rng.Below(len(equal))]
}

func main() {
	Serve(choose, About{
		Name: "my-agent", Version: "1.0.0", Deterministic: true, UsesSeed: "yes",
		Options: []Option{Integer("again", 1, "what another turn is worth", 0, 9)},
	})
}
