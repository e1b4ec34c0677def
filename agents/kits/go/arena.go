package main

// Arena's line protocol for agents, version 1, with the standard library alone.
//
// Serve answers until the end of standard input. What the policy prints goes to standard error.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime/debug"
	"strconv"
)

// Value is a value of JSON. Numbers that can exceed 2^53 are texts in the protocol.
type Value struct{ content any }

// Get returns the field of an object; null if there is none.
func (v Value) Get(name string) Value {
	object, _ := v.content.(map[string]any)
	return Value{object[name]}
}

// At returns the element of a list; null if there is none.
func (v Value) At(index int) Value {
	list, _ := v.content.([]any)
	if index < 0 || index >= len(list) {
		return Value{}
	}
	return Value{list[index]}
}

// List returns the elements of a list; none for every other value.
func (v Value) List() []Value {
	list, _ := v.content.([]any)
	values := make([]Value, len(list))
	for at, content := range list {
		values[at] = Value{content}
	}
	return values
}

// Number returns a number, also one that is a text; 1 for true; 0 for every other value.
func (v Value) Number() float64 {
	switch content := v.content.(type) {
	case float64:
		return content
	case string:
		number, _ := strconv.ParseFloat(content, 64)
		return number
	case bool:
		if content {
			return 1
		}
	}
	return 0
}

// IsTrue returns whether it is true, or the text "true".
func (v Value) IsTrue() bool { return v.content == true || v.content == "true" }

// IsNull returns whether it is null, or missing.
func (v Value) IsNull() bool { return v.content == nil }

// Text returns a text; empty for every other value.
func (v Value) Text() string {
	text, _ := v.content.(string)
	return text
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &v.content) }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.content) }

// Rng is SplitMix64: random numbers that follow from a seed, the same in every kit.
type Rng struct{ state uint64 }

// Word returns any number of 64 bits.
func (r *Rng) Word() uint64 {
	r.state += 0x9e3779b97f4a7c15
	word := r.state
	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9
	word = (word ^ (word >> 27)) * 0x94d049bb133111eb
	return word ^ (word >> 31)
}

// Below returns a whole number from 0 to bound - 1.
func (r *Rng) Below(bound int) int {
	high, _ := bits.Mul64(r.Word(), uint64(bound))
	return int(high)
}

// Random returns a real number in [0, 1).
func (r *Rng) Random() float64 { return float64(r.Word()>>11) / (1 << 53) }

// Decision is a request for a move.
type Decision struct {
	Ruleset      string
	RulesVersion int
	Options      map[string]string
	Seats        int
	Bot          string
	BotOptions   map[string]string
	Nodes        uint64 // positions that the bot may search; 0: no limit
	TimeBudgetUs uint64 // for the whole batch; 0: no limit
	Seat         int
	Number       int
	Seed         uint64 // new for each decision
	LegalMoves   []int
	Notations    []string
	Position     Value
	Clock        *Clock   // nil: there is no clock
	Game         string   // for sticky agents
	Moves        [][2]int // for sticky agents
	Rng          Rng      // random numbers that follow from the seed
}

// BotOption returns the value of one of the agent's options.
func (d *Decision) BotOption(name string) Value { return Value{d.BotOptions[name]} }

// Clock is the clock of the seat to choose for.
type Clock struct {
	LeftUs      uint64   `json:"left_us"`
	IncrementUs uint64   `json:"increment_us"`
	MovesToGo   int      `json:"moves_to_go"`
	SeatsLeftUs []uint64 `json:"seats_left_us"`
}

// Option is an option of the agent. Its type is bool, integer, real, choice, text or numbers.
type Option struct {
	Name         string   `json:"name"`
	Summary      string   `json:"summary"`
	Type         string   `json:"type"`
	DefaultValue string   `json:"default_value"`
	Min          string   `json:"min,omitempty"`
	Max          string   `json:"max,omitempty"`
	Choices      []string `json:"choices,omitempty"`
	Length       int      `json:"length,omitempty"`
	Rulesets     []string `json:"rulesets,omitempty"`
	UsesSeed     bool     `json:"uses_seed,omitempty"`
}

// Integer returns an option that is a whole number from min to max.
func Integer(name string, value int, summary string, min, max int) Option {
	return Option{Name: name, Summary: summary, Type: "integer",
		DefaultValue: strconv.Itoa(value), Min: strconv.Itoa(min), Max: strconv.Itoa(max)}
}

// About is the agent's description.
type About struct {
	Name, Version, Author, Summary string
	Rulesets                       []string // none: all rulesets
	Deterministic                  bool
	UsesSeed                       string // "yes", "no", or empty: unknown
	Options                        []Option
	BatchSize                      int // 0: Arena decides
	OmitMoveDetails                bool
	Sticky                         bool
}

func (a About) message() any {
	bot := map[string]any{"name": a.Name, "summary": a.Summary, "deterministic": a.Deterministic}
	if a.UsesSeed != "" {
		bot["uses_seed"] = a.UsesSeed
	}
	if len(a.Rulesets) > 0 {
		bot["rulesets"] = a.Rulesets
	}
	if len(a.Options) > 0 {
		bot["options"] = a.Options
	}
	hello := map[string]any{
		"type": "hello", "protocol": 1, "name": a.Name, "version": a.Version, "author": a.Author,
		"bots": []any{bot}, "omit_move_details": a.OmitMoveDetails, "sticky": a.Sticky,
	}
	if a.BatchSize > 0 {
		hello["batch_size"] = a.BatchSize
	}
	return hello
}

// message has the fields of all messages of Arena.
type message struct {
	Type string `json:"type"`

	Context      uint64            `json:"context"`
	Ruleset      string            `json:"ruleset"`
	RulesVersion int               `json:"rules_version"`
	Seats        int               `json:"seats"`
	Options      map[string]string `json:"options"`
	Bot          string            `json:"bot"`
	BotOptions   map[string]string `json:"bot_options"`
	Nodes        uint64            `json:"nodes,string"`

	Batch        uint64     `json:"batch"`
	TimeBudgetUs uint64     `json:"time_budget_us"`
	Decisions    []question `json:"decisions"`
}

type question struct {
	Context    uint64   `json:"context"`
	Seat       int      `json:"seat"`
	Number     int      `json:"number"`
	Seed       uint64   `json:"seed,string"`
	LegalMoves []int    `json:"legal_moves"`
	Notations  []string `json:"notations"`
	Position   Value    `json:"position"`
	Clock      *Clock   `json:"clock"`
	Game       string   `json:"game"`
	Moves      [][2]int `json:"moves"`
}

type answer struct {
	Type  string `json:"type"`
	Batch uint64 `json:"batch"`
	Moves []int  `json:"moves"`
}

type failure struct {
	Type    string `json:"type"`
	Batch   uint64 `json:"batch"`
	Message string `json:"message"`
}

// Serve answers decisions with choose(decision), and ends the process at the end of standard input.
func Serve(choose func(*Decision) int, about About) {
	// Whatever prints to standard output must not disturb the protocol.
	lines, answers := bufio.NewReaderSize(os.Stdin, 1<<16), os.Stdout
	os.Stdin, os.Stdout = nil, os.Stderr
	games := map[uint64]*message{}
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			os.Exit(0)
		}
		var m message
		if err == nil {
			err = readMessage(line, &m)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var out any
		switch m.Type {
		case "hello":
			out = about.message()
		case "game":
			games[m.Context] = &m
			continue
		case "ask":
			out = answerBatch(choose, games, &m)
		default:
			continue
		}
		text, err := json.Marshal(out)
		if err != nil {
			panic(err)
		}
		if _, err := answers.Write(append(text, '\n')); err != nil {
			os.Exit(0)
		}
	}
}

// readMessage reads a line. Messages of unknown types may have fields of the same names as others, with
// other values.
func readMessage(line []byte, m *message) error {
	err := json.Unmarshal(line, m)
	if err != nil && json.Valid(line) && m.Type != "game" && m.Type != "ask" {
		return nil
	}
	return err
}

func answerBatch(choose func(*Decision) int, games map[uint64]*message, ask *message) (out any) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", problem, debug.Stack())
			out = failure{"error", ask.Batch, fmt.Sprint(problem)}
		}
	}()
	moves := make([]int, len(ask.Decisions))
	for at := range ask.Decisions {
		q := &ask.Decisions[at]
		game, known := games[q.Context]
		if !known {
			panic(fmt.Sprintf("there is no game %d", q.Context))
		}
		moves[at] = choose(&Decision{
			Ruleset: game.Ruleset, RulesVersion: game.RulesVersion, Options: game.Options,
			Seats: game.Seats, Bot: game.Bot, BotOptions: game.BotOptions, Nodes: game.Nodes,
			TimeBudgetUs: ask.TimeBudgetUs, Seat: q.Seat, Number: q.Number, Seed: q.Seed,
			LegalMoves: q.LegalMoves, Notations: q.Notations, Position: q.Position,
			Clock: q.Clock, Game: q.Game, Moves: q.Moves, Rng: Rng{q.Seed},
		})
	}
	return answer{"answer", ask.Batch, moves}
}
