// Arena's line protocol for agents, version 1, with the standard library alone (Java 11).
//
// serve answers until the end of standard input. What the policy prints goes to standard error.
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

class Arena {
    interface Policy {
        int choose(Decision decision) throws Exception;
    }

    // A value of JSON. Numbers that can exceed 2^53 are texts in the protocol.
    static final class Value {
        static final Value NULL = new Value(null);

        // null, Boolean, Double, String, List<Value> or Map<String, Value>
        private final Object content;

        Value(Object content) {
            this.content = content;
        }

        boolean isNull() {
            return content == null;
        }

        // The field of an object; null if there is none.
        Value get(String name) {
            return object().getOrDefault(name, NULL);
        }

        // The element of a list; null if there is none.
        Value at(int index) {
            return index < list().size() ? list().get(index) : NULL;
        }

        // A number, also one that is a text; 1 for true; 0 for every other value.
        double number() {
            if (content instanceof Double) return (Double) content;
            if (content instanceof String) return Double.parseDouble((String) content);
            return Boolean.TRUE.equals(content) ? 1 : 0;
        }

        // Whether it is true, or the text "true".
        boolean isTrue() {
            return Boolean.TRUE.equals(content) || "true".equals(content);
        }

        // A text; empty for every other value.
        String text() {
            return content instanceof String ? (String) content : "";
        }

        // A list; empty for every other value.
        @SuppressWarnings("unchecked")
        List<Value> list() {
            return content instanceof List ? (List<Value>) content : Collections.emptyList();
        }

        // An object; empty for every other value.
        @SuppressWarnings("unchecked")
        Map<String, Value> object() {
            return content instanceof Map ? (Map<String, Value>) content : Collections.emptyMap();
        }

        int[] numbers() {
            return list().stream().mapToInt(value -> (int) value.number()).toArray();
        }
    }

    // SplitMix64: random numbers that follow from a seed, the same in every kit.
    static final class Rng {
        private long state;

        Rng(long seed) {
            state = seed;
        }

        // Any number of 64 bits.
        long word() {
            state += 0x9e3779b97f4a7c15L;
            long word = state;
            word = (word ^ (word >>> 30)) * 0xbf58476d1ce4e5b9L;
            word = (word ^ (word >>> 27)) * 0x94d049bb133111ebL;
            return word ^ (word >>> 31);
        }

        // A whole number from 0 to bound - 1.
        int below(int bound) {
            long word = word();
            return (int) (((word >>> 32) * bound + ((word & 0xffffffffL) * bound >>> 32)) >>> 32);
        }

        // A real number in [0, 1).
        double random() {
            return (word() >>> 11) * 0x1p-53;
        }

        // One of the items.
        <T> T choice(List<T> items) {
            return items.get(below(items.size()));
        }

        // Puts the items into a random order.
        void shuffle(List<?> items) {
            for (int last = items.size() - 1; last > 0; last--) {
                Collections.swap(items, last, below(last + 1));
            }
        }
    }

    // A request for a move. options and botOptions are objects of texts.
    static final class Decision {
        final String ruleset;
        final int rulesVersion;
        final Value options;
        final int seats;
        final String bot;
        final Value botOptions;
        final long nodes; // positions that the bot may search, without a sign; 0: no limit
        final long timeBudgetUs; // for the whole batch; 0: no limit
        final int seat;
        final int number;
        final long seed; // new for each decision, without a sign
        final int[] legalMoves;
        final Value notations;
        final Value position;
        final Value clock; // null: there is no clock
        final Value fields; // all fields, as in the protocol
        final Rng rng; // random numbers that follow from the seed

        Decision(Value game, Value fields, long timeBudgetUs) {
            ruleset = game.get("ruleset").text();
            rulesVersion = (int) game.get("rules_version").number();
            options = game.get("options");
            seats = (int) game.get("seats").number();
            bot = game.get("bot").text();
            botOptions = game.get("bot_options");
            nodes = Long.parseUnsignedLong(game.get("nodes").text());
            this.timeBudgetUs = timeBudgetUs;
            seat = (int) fields.get("seat").number();
            number = (int) fields.get("number").number();
            seed = Long.parseUnsignedLong(fields.get("seed").text());
            legalMoves = fields.get("legal_moves").numbers();
            notations = fields.get("notations");
            position = fields.get("position");
            clock = fields.get("clock");
            this.fields = fields;
            rng = new Rng(seed);
        }
    }

    private final StringBuilder bot = new StringBuilder();
    private final StringBuilder hello = new StringBuilder();
    private final StringBuilder options = new StringBuilder();
    private final Map<Long, Value> games = new HashMap<>();

    Arena(String name, String version) {
        bot.append("\"name\":").append(quoted(name));
        hello.append(bot).append(",\"version\":").append(quoted(version));
    }

    // The same request, with the same seed, always gets the same move.
    Arena deterministic() {
        bot.append(",\"deterministic\":true");
        return this;
    }

    // Whether another seed may get another move.
    Arena usesSeed(boolean uses) {
        bot.append(",\"uses_seed\":").append(uses ? "\"yes\"" : "\"no\"");
        return this;
    }

    // The rulesets that it plays; without this, all of them.
    Arena rulesets(String... names) {
        List<String> quoted = new ArrayList<>();
        for (String name : names) quoted.add(quoted(name));
        bot.append(",\"rulesets\":[").append(String.join(",", quoted)).append("]");
        return this;
    }

    // An option. kind is a type of the protocol: bool, integer, real, choice, text or numbers; more
    // has further fields as JSON, such as "\"choices\":[\"a\",\"b\"]", or is empty.
    Arena option(String name, String kind, String value, String summary, String more) {
        options.append(options.length() == 0 ? "" : ",").append("{\"name\":").append(quoted(name));
        options.append(",\"type\":").append(quoted(kind));
        options.append(",\"default_value\":").append(quoted(value));
        options.append(",\"summary\":").append(quoted(summary));
        options.append(more.isEmpty() ? "" : "," + more).append("}");
        return this;
    }

    // A whole number from min to max.
    Arena option(String name, long value, String summary, long min, long max) {
        String bounds = "\"min\":\"" + min + "\",\"max\":\"" + max + "\"";
        return option(name, "integer", String.valueOf(value), summary, bounds);
    }

    // A further field of the message hello, such as "omit_move_details", "true"; json is its value.
    Arena field(String name, String json) {
        hello.append(",").append(quoted(name)).append(":").append(json);
        return this;
    }

    // Answers decisions until the end of standard input.
    void serve(Policy policy) throws IOException {
        // Whatever prints to standard output must not disturb the protocol.
        InputStream lines = new FileInputStream(FileDescriptor.in);
        OutputStream answers = new FileOutputStream(FileDescriptor.out);
        System.setIn(InputStream.nullInputStream());
        System.setOut(System.err);

        byte[] chunk = new byte[1 << 16];
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int size; (size = lines.read(chunk)) >= 0; ) {
            int from = 0;
            for (int at = 0; at < size; at++) {
                if (chunk[at] != '\n') continue;
                line.write(chunk, from, at - from);
                String answer = handle(policy, line.toString(StandardCharsets.UTF_8));
                answers.write(answer.getBytes(StandardCharsets.UTF_8));
                line.reset();
                from = at + 1;
            }
            line.write(chunk, from, size - from);
        }
        // Also if the policy has started threads.
        System.exit(0);
    }

    private String handle(Policy policy, String line) {
        Value message = new Parser(line).parse();
        switch (message.get("type").text()) {
            case "hello":
                return "{\"type\":\"hello\",\"protocol\":1," + hello + ",\"bots\":[{" + bot
                        + ",\"options\":[" + options + "]}]}\n";
            case "game":
                games.put((long) message.get("context").number(), message);
                return "";
            case "ask":
                return answer(policy, message);
            default:
                return "";
        }
    }

    private String answer(Policy policy, Value ask) {
        long batch = (long) ask.get("batch").number();
        long budget = (long) ask.get("time_budget_us").number();
        StringBuilder moves = new StringBuilder();
        try {
            for (Value fields : ask.get("decisions").list()) {
                Value game = games.get((long) fields.get("context").number());
                int move = policy.choose(new Decision(game, fields, budget));
                moves.append(moves.length() == 0 ? "" : ",").append(move);
            }
        } catch (Exception | StackOverflowError | AssertionError error) {
            error.printStackTrace();
            String text = quoted(error.toString());
            return "{\"type\":\"error\",\"batch\":" + batch + ",\"message\":" + text + "}\n";
        }
        return "{\"type\":\"answer\",\"batch\":" + batch + ",\"moves\":[" + moves + "]}\n";
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < 32) out.append(String.format("\\u%04x", (int) c));
            else if (c == '"' || c == '\\') out.append('\\').append(c);
            else out.append(c);
        }
        return out.append('"').toString();
    }

    // Reads JSON.
    private static final class Parser {
        private final String text;
        private int at = 0;

        Parser(String text) {
            this.text = text;
        }

        Value parse() {
            Value value = value();
            peek();
            if (at != text.length()) throw wrong();
            return value;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("a line is not JSON at character " + at);
        }

        private char here() {
            return at < text.length() ? text.charAt(at) : 0;
        }

        // The next character after white space, which is not taken.
        private char peek() {
            while (here() == ' ' || here() == '\t' || here() == '\r') at++;
            return here();
        }

        private boolean takes(char character) {
            boolean found = peek() == character;
            if (found) at++;
            return found;
        }

        private Value value() {
            switch (peek()) {
                case '{': return object();
                case '[': return list();
                case '"': return new Value(string());
                case 't': return word("true", true);
                case 'f': return word("false", false);
                case 'n': return word("null", null);
                default: return number();
            }
        }

        private Value word(String word, Boolean value) {
            if (!text.startsWith(word, at)) throw wrong();
            at += word.length();
            return value == null ? Value.NULL : new Value(value);
        }

        private Value number() {
            int start = at;
            long whole = 0;
            while (here() >= '0' && here() <= '9' && at - start < 15) whole = whole * 10 + (text.charAt(at++) - '0');
            if (at > start && "0123456789.eE".indexOf(here()) < 0) return new Value((double) whole);
            while (at < text.length() && "0123456789+-.eE".indexOf(here()) >= 0) at++;
            if (at == start) throw wrong();
            return new Value(Double.valueOf(text.substring(start, at)));
        }

        private Value list() {
            List<Value> values = new ArrayList<>();
            at++;
            if (takes(']')) return new Value(values);
            do values.add(value()); while (takes(','));
            if (!takes(']')) throw wrong();
            return new Value(values);
        }

        private Value object() {
            Map<String, Value> fields = new LinkedHashMap<>();
            at++;
            if (takes('}')) return new Value(fields);
            do {
                if (peek() != '"') throw wrong();
                String name = string();
                if (!takes(':')) throw wrong();
                fields.put(name, value());
            } while (takes(','));
            if (!takes('}')) throw wrong();
            return new Value(fields);
        }

        private String string() {
            int start = ++at;
            while (here() != '"' && here() != '\\' && at < text.length()) at++;
            if (here() == '"') return text.substring(start, at++);
            StringBuilder out = new StringBuilder(text.substring(start, at));
            while (here() != '"') {
                if (at == text.length()) throw wrong();
                char c = text.charAt(at++);
                out.append(c == '\\' ? escaped() : c);
            }
            at++;
            return out.toString();
        }

        private char escaped() {
            char c = here();
            at++;
            switch (c) {
                case 'b': return '\b';
                case 'f': return '\f';
                case 'n': return '\n';
                case 'r': return '\r';
                case 't': return '\t';
                case '"': case '\\': case '/': return c;
                case 'u':
                    if (at + 4 > text.length()) throw wrong();
                    at += 4;
                    return (char) Integer.parseInt(text.substring(at - 4, at), 16);
                default: throw wrong();
            }
        }
    }
}
