// playouts: chooses the move after which random games end best, in every ruleset.
//
// The policy of the Go kit with Arena's own rules: see "Search ahead" in the README of the kit.
package main

// #cgo LDFLAGS: ${SRCDIR}/libarena_rules.a -lpthread -ldl -lm
// #include <stdlib.h>
// #include "arena_rules.h"
import "C"

import (
	"encoding/json"
	"unsafe"
)

// try panics with the reason if a call of the library failed.
func try(status C.ArenaStatus, err *C.ArenaError) {
	if status != C.ARENA_STATUS_OK {
		panic(C.GoString(&err.message[0]))
	}
}

// text returns a value as JSON in memory of C, which the caller frees, and its length.
func text(value any) (*C.char, C.size_t) {
	written, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return C.CString(string(written)), C.size_t(len(written))
}

// stateOf makes the state of a decision, which the caller frees.
func stateOf(decision *Decision, err *C.ArenaError) (state *C.ArenaState) {
	ruleset := C.CString(decision.Ruleset)
	defer C.free(unsafe.Pointer(ruleset))
	options, _ := text(decision.Options)
	defer C.free(unsafe.Pointer(options))
	position, length := text(decision.Position)
	defer C.free(unsafe.Pointer(position))
	var game *C.ArenaGame
	try(C.arena_game_new(ruleset, options, C.size_t(decision.Seats), C.uint32_t(decision.RulesVersion), &game, err), err)
	defer C.arena_game_free(game)
	try(C.arena_state_from_json(game, position, length, &state, err), err)
	return state
}

// choose returns the legal move with the highest sum of values. Each move has playouts with the same seeds.
func choose(decision *Decision) int {
	var err C.ArenaError
	state := stateOf(decision, &err)
	defer C.arena_state_free(state)
	var child *C.ArenaState
	try(C.arena_state_clone(state, &child, &err), &err)
	defer C.arena_state_free(child)
	playouts := int(decision.BotOption("playouts").Number()) / len(decision.LegalMoves)
	if playouts < 1 {
		playouts = 1
	}
	best, bestSum := 0, int64(-1)
	for _, move := range decision.LegalMoves {
		var values [C.ARENA_SEATS_MAX]C.int64_t
		var seats C.size_t
		sum := int64(0)
		try(C.arena_state_copy(child, state, &err), &err)
		try(C.arena_state_apply(child, C.uint32_t(move), &err), &err)
		for k := 0; k < playouts; k++ {
			seed := C.uint64_t(decision.Seed + uint64(k))
			try(C.arena_state_playout(child, seed, &values[0], C.ARENA_SEATS_MAX, &seats, &err), &err)
			sum += int64(values[decision.Seat])
		}
		if sum > bestSum {
			best, bestSum = move, sum
		}
	}
	return best
}

func main() {
	Serve(choose, About{
		Name: "playouts", Version: "1.0.0", Deterministic: true, UsesSeed: "yes", OmitMoveDetails: true,
		Options: []Option{Integer("playouts", 100, "random games for each decision", 1, 300)},
	})
}
