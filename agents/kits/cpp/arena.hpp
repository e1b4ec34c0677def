// Arena's line protocol for agents, version 1, with the standard library alone (C++17 and POSIX).
//
// arena::serve answers until the end of standard input. What the policy prints goes to standard
// error.
#pragma once

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace arena {

// A value of JSON. Numbers that can exceed 2^53 are texts in the protocol.
class Value {
public:
    enum class Kind { null, boolean, number, text, list, object };

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::null; }

    // The field of an object; null if there is none.
    const Value& operator[](std::string_view name) const {
        for (std::size_t i = 0; i < names_.size(); i++)
            if (names_[i] == name) return values_[i];
        return nothing();
    }

    // The element of a list; null if there is none.
    const Value& at(std::size_t index) const {
        return kind_ == Kind::list && index < values_.size() ? values_[index] : nothing();
    }

    // A number, also one that is a text; 1 for true; 0 for every other value.
    double number() const {
        return kind_ == Kind::text ? std::strtod(text_.c_str(), nullptr) : number_;
    }

    // Whether it is true, or the text "true".
    bool is_true() const { return kind_ == Kind::boolean ? number_ == 1 : text_ == "true"; }

    // A text; empty for every other value.
    const std::string& text() const { return text_; }

    // A list; empty for every other value.
    const std::vector<Value>& list() const {
        return kind_ == Kind::list ? values_ : nothing().values_;
    }

    // The names and values of an object, in the same order.
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<Value>& values() const { return values_; }

    std::vector<double> numbers() const {
        std::vector<double> all;
        for (const Value& value : list()) all.push_back(value.number());
        return all;
    }

    // The value as JSON.
    std::string json() const;

private:
    friend class Parser;

    static const Value& nothing() {
        static const Value value;
        return value;
    }

    Kind kind_ = Kind::null;
    double number_ = 0;
    std::string text_;
    std::vector<std::string> names_;
    std::vector<Value> values_;
};

inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 32) {
            out += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", c);
        out += escape;
    }
    return out + '"';
}

inline std::string Value::json() const {
    switch (kind_) {
    case Kind::null: return "null";
    case Kind::boolean: return number_ == 1 ? "true" : "false";
    case Kind::text: return quoted(text_);
    case Kind::number: {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.17g", number_);
        return digits;
    }
    default: break;
    }
    std::string out(1, kind_ == Kind::list ? '[' : '{');
    for (std::size_t i = 0; i < values_.size(); i++) {
        if (i > 0) out += ',';
        if (kind_ == Kind::object) out += quoted(names_[i]) + ':';
        out += values_[i].json();
    }
    return out + (kind_ == Kind::list ? ']' : '}');
}

// Reads JSON.
class Parser {
public:
    explicit Parser(const std::string& text) : at_(text.c_str()), end_(at_ + text.size()) {}

    Value parse() {
        Value value;
        read(value);
        peek();
        if (at_ != end_) fail();
        return value;
    }

private:
    const char* at_;
    const char* end_; // *end_ is 0

    [[noreturn]] static void fail() { throw std::runtime_error("a line is not JSON"); }

    char peek() {
        while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n') at_++;
        return *at_;
    }

    bool takes(char character) {
        const bool found = peek() == character;
        at_ += found;
        return found;
    }

    void read(Value& value) {
        switch (peek()) {
        case '{': return many(value, Value::Kind::object, '}');
        case '[': return many(value, Value::Kind::list, ']');
        case '"':
            value.kind_ = Value::Kind::text;
            return string(value.text_);
        case 't': return word(value, "true", Value::Kind::boolean, 1);
        case 'f': return word(value, "false", Value::Kind::boolean, 0);
        case 'n': return word(value, "null", Value::Kind::null, 0);
        default: return number(value);
        }
    }

    void word(Value& value, std::string_view word, Value::Kind kind, double number) {
        if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word)
            fail();
        at_ += word.size();
        value.kind_ = kind;
        value.number_ = number;
    }

    void number(Value& value) {
        value.kind_ = Value::Kind::number;
        // Most numbers are short and whole, and strtod is slow.
        std::int64_t whole = 0;
        const auto [end, error] = std::from_chars(at_, end_, whole);
        const bool is_whole = error == std::errc() && *end != '.' && *end != 'e' && *end != 'E';
        if (is_whole) {
            value.number_ = static_cast<double>(whole);
            at_ = end;
            return;
        }
        char* after = nullptr;
        value.number_ = std::strtod(at_, &after);
        if (after == at_) fail();
        at_ = after;
    }

    void many(Value& value, Value::Kind kind, char end) {
        value.kind_ = kind;
        at_++;
        if (takes(end)) return;
        do {
            if (kind == Value::Kind::object) {
                if (peek() != '"') fail();
                string(value.names_.emplace_back());
                if (!takes(':')) fail();
            }
            read(value.values_.emplace_back());
        } while (takes(','));
        if (!takes(end)) fail();
    }

    void string(std::string& text) {
        at_++;
        for (;;) {
            const char* plain = at_;
            while (at_ != end_ && *at_ != '"' && *at_ != '\\') at_++;
            text.append(plain, at_);
            if (at_ == end_) fail();
            if (*at_++ == '"') return;
            escaped(text);
        }
    }

    void escaped(std::string& text) {
        const char letter = *at_++;
        switch (letter) {
        case 'b': text += '\b'; return;
        case 'f': text += '\f'; return;
        case 'n': text += '\n'; return;
        case 'r': text += '\r'; return;
        case 't': text += '\t'; return;
        case '"': case '\\': case '/': text += letter; return;
        case 'u': break;
        default: fail();
        }
        std::uint32_t code = hex();
        // Two units of UTF-16 are one character.
        if (code >= 0xd800 && code < 0xdc00 && at_[0] == '\\' && at_[1] == 'u') {
            at_ += 2;
            code = 0x10000 + ((code - 0xd800) << 10) + (hex() & 0x3ff);
        }
        if (code < 0x80) {
            text += static_cast<char>(code);
            return;
        }
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        text += static_cast<char>((0xff80 >> more & 0xff) | code >> 6 * more);
        while (more-- > 0) text += static_cast<char>(0x80 | (code >> 6 * more & 0x3f));
    }

    std::uint32_t hex() {
        std::uint32_t code = 0;
        if (end_ - at_ < 4) fail();
        const auto [end, error] = std::from_chars(at_, at_ + 4, code, 16);
        if (error != std::errc() || end != at_ + 4) fail();
        at_ = end;
        return code;
    }
};

// SplitMix64: random numbers that follow from a seed, the same in every kit.
class Rng {
public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}

    // Any number of 64 bits.
    std::uint64_t word() {
        std::uint64_t word = state_ += 0x9e3779b97f4a7c15u;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        return word ^ (word >> 31);
    }

    // A whole number from 0 to bound - 1.
    std::uint32_t below(std::uint32_t bound) {
        const std::uint64_t drawn = word();
        const std::uint64_t low = (drawn & UINT32_MAX) * bound >> 32;
        return static_cast<std::uint32_t>(((drawn >> 32) * bound + low) >> 32);
    }

    // A real number in [0, 1).
    double random() { return static_cast<double>(word() >> 11) / 9007199254740992.0; }

    // One of the items.
    template <typename T> const T& choice(const std::vector<T>& items) {
        return items.at(below(static_cast<std::uint32_t>(items.size())));
    }

    // Puts the items into a random order.
    template <typename T> void shuffle(std::vector<T>& items) {
        for (std::size_t last = items.size(); last-- > 1;)
            std::swap(items[last], items[below(static_cast<std::uint32_t>(last + 1))]);
    }

private:
    std::uint64_t state_;
};

inline std::uint64_t word_of(const Value& text) {
    return std::strtoull(text.text().c_str(), nullptr, 10);
}

// A request for a move. options and bot_options are objects of texts.
struct Decision {
    Decision(const Value& game, const Value& fields, std::uint64_t budget)
        : ruleset(game["ruleset"].text()),
          rules_version(static_cast<int>(game["rules_version"].number())),
          options(game["options"]),
          seats(static_cast<int>(game["seats"].number())),
          bot(game["bot"].text()),
          bot_options(game["bot_options"]),
          nodes(word_of(game["nodes"])),
          time_budget_us(budget),
          seat(static_cast<int>(fields["seat"].number())),
          number(static_cast<int>(fields["number"].number())),
          seed(word_of(fields["seed"])),
          position(fields["position"]),
          clock(fields["clock"]),
          fields(fields),
          rng(seed) {
        for (const Value& move : fields["legal_moves"].list())
            legal_moves.push_back(static_cast<long>(move.number()));
        for (const Value& notation : fields["notations"].list()) notations.push_back(notation.text());
    }

    const std::string& ruleset;
    int rules_version;
    const Value& options;
    int seats;
    const std::string& bot;
    const Value& bot_options;
    std::uint64_t nodes;          // positions that the bot may search; 0: no limit
    std::uint64_t time_budget_us; // for the whole batch; 0: no limit
    int seat;
    int number;
    std::uint64_t seed; // new for each decision
    std::vector<long> legal_moves;
    std::vector<std::string> notations;
    const Value& position;
    const Value& clock;  // null: there is no clock
    const Value& fields; // all fields, as in the protocol
    Rng rng;             // random numbers that follow from the seed
};

// The agent's description.
class About {
public:
    explicit About(const std::string& name, const std::string& version = "") {
        bot_ = "\"name\":" + quoted(name);
        hello_ = bot_ + ",\"version\":" + quoted(version);
    }

    // The same request, with the same seed, always gets the same move.
    About& deterministic() { return bot_field("deterministic", "true"); }

    // Whether another seed may get another move.
    About& uses_seed(bool uses) { return bot_field("uses_seed", uses ? "\"yes\"" : "\"no\""); }

    // The rulesets that it plays; without this, all of them.
    About& rulesets(const std::vector<std::string>& names) {
        std::string list;
        for (const std::string& name : names) list += (list.empty() ? "" : ",") + quoted(name);
        return bot_field("rulesets", "[" + list + "]");
    }

    // An option. kind is a type of the protocol: bool, integer, real, choice, text or numbers; more
    // has further fields as JSON, such as "\"choices\":[\"a\",\"b\"]".
    About& option(const std::string& name, const std::string& kind, const std::string& value,
                  const std::string& summary, const std::string& more = "") {
        options_ += std::string(options_.empty() ? "" : ",") + "{\"name\":" + quoted(name) +
                    ",\"type\":" + quoted(kind) + ",\"default_value\":" + quoted(value) +
                    ",\"summary\":" + quoted(summary) + (more.empty() ? "" : "," + more) + "}";
        return *this;
    }

    // A whole number from min to max.
    About& option(const std::string& name, long value, const std::string& summary, long min, long max) {
        const auto bound = [](long number) { return quoted(std::to_string(number)); };
        return option(name, "integer", std::to_string(value), summary,
                      "\"min\":" + bound(min) + ",\"max\":" + bound(max));
    }

    // A further field of the message hello, such as "omit_move_details", "true"; json is its value.
    About& field(const std::string& name, const std::string& json) {
        hello_ += "," + quoted(name) + ":" + json;
        return *this;
    }

    std::string message() const {
        return "{\"type\":\"hello\",\"protocol\":1," + hello_ + ",\"bots\":[{" + bot_ +
               ",\"options\":[" + options_ + "]}]}\n";
    }

private:
    std::string bot_, hello_, options_;

    About& bot_field(const std::string& name, const std::string& json) {
        bot_ += "," + quoted(name) + ":" + json;
        return *this;
    }
};

template <typename Policy>
std::string answer(const Policy& choose, const std::map<double, Value>& games, const Value& ask) {
    const std::string batch = std::to_string(static_cast<std::int64_t>(ask["batch"].number()));
    const auto budget = static_cast<std::uint64_t>(ask["time_budget_us"].number());
    std::string problem = "the policy threw an exception";
    try {
        std::string out = "{\"type\":\"answer\",\"batch\":" + batch + ",\"moves\":[";
        bool first = true;
        for (const Value& fields : ask["decisions"].list()) {
            Decision decision(games.at(fields["context"].number()), fields, budget);
            if (!first) out += ',';
            out += std::to_string(choose(decision));
            first = false;
        }
        return out + "]}\n";
    } catch (const std::exception& error) {
        problem = error.what();
    } catch (...) {
    }
    std::cerr << problem << std::endl;
    return "{\"type\":\"error\",\"batch\":" + batch + ",\"message\":" + quoted(problem) + "}\n";
}

inline bool send(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t size = write(to, text.data(), text.size());
        if (size < 0 && errno != EINTR) return false;
        if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

// Answers decisions with choose(decision) until the end of standard input; returns the exit code.
template <typename Policy> int serve(const Policy& choose, const About& about) {
    // Whatever prints to standard output, also a child process, must not disturb the protocol.
    std::FILE* lines = fdopen(dup(0), "r");
    const int answers = dup(1), null = open("/dev/null", O_RDONLY);
    if (lines == nullptr || answers < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
        std::perror("standard streams");
        return 1;
    }
    close(null);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);

    std::map<double, Value> games;
    char* line = nullptr;
    std::size_t room = 0;
    for (ssize_t size; (size = getline(&line, &room, lines)) > 0;) {
        Value message;
        try {
            message = Parser(std::string(line, static_cast<std::size_t>(size))).parse();
        } catch (const std::exception& error) {
            std::cerr << error.what() << std::endl;
            return 1;
        }
        const std::string& type = message["type"].text();
        std::string out;
        if (type == "hello") out = about.message();
        if (type == "ask") out = answer(choose, games, message);
        if (type == "game") games[message["context"].number()] = std::move(message);
        if (!send(answers, out)) break;
    }
    std::free(line);
    std::fclose(lines);
    return 0;
}

} // namespace arena
