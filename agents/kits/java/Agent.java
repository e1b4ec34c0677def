// my-agent: takes as much as it can, and chooses at random between equal moves.
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class Agent {
    // What a move gains; captured, banked and hits are the names that rulesets use.
    static double gain(Arena.Value move, double again) {
        double taken = move.get("captured").number() + move.get("banked").number();
        return taken + move.get("hits").number() + again * move.get("moves_again").number();
    }

    // Returns the id of one of the legal moves.
    static int choose(Arena.Decision decision) {
        double again = decision.botOptions.get("again").number();
        double[] gains = decision.position.get("moves").list().stream()
                .mapToDouble(move -> gain(move, again)).toArray();
        double best = IntStream.range(0, gains.length).mapToDouble(at -> gains[at]).max().getAsDouble();
        List<Integer> equal = IntStream.range(0, gains.length).filter(at -> gains[at] == best)
                .boxed().collect(Collectors.toList());
        return decision.legalMoves[decision.rng.choice(equal)];
    }

    public static void main(String[] arguments) throws Exception {
        new Arena("my-agent", "1.0.0").deterministic().usesSeed(true)
                .option("again", 1, "what another turn is worth", 0, 9).serve(Agent::choose);
    }
}
