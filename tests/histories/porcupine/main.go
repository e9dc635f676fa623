// Checks recorded histories of a store with porcupine: reads one history a line as JSON, prints "true", "false" or "unknown" for each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// longest is the time after which the check of one history is given up.
const longest = 30 * time.Second

// unknownRevision is that of a value whose write was not answered.
const unknownRevision = -1

type value struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Revision int64  `json:"revision"`
}

type input struct {
	Type   string `json:"type"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Expect *int64 `json:"expect"`
}

type output struct {
	Outcome  string  `json:"outcome"`
	Revision int64   `json:"revision"`
	Found    *value  `json:"found"`
	Entries  []value `json:"entries"`
}

type operation struct {
	Client int   `json:"client"`
	Called int64 `json:"called"`
	// Returned is null without an answer.
	Returned *int64 `json:"returned"`
	Input    input  `json:"input"`
	Output   output `json:"output"`
}

type stored struct {
	value    string
	revision int64
}

type state struct {
	revision int64
	values   map[string]stored
}

func step(before state, in input, out output) (bool, state) {
	switch in.Type {
	case "get":
		current, exists := before.values[in.Key]
		return out.Outcome == "read" && exists == (out.Found != nil) && (!exists || shows(current, *out.Found)), before
	case "list":
		if out.Outcome != "listed" || out.Revision < before.revision || len(out.Entries) != len(before.values) {
			return false, before
		}
		for _, entry := range out.Entries {
			current, exists := before.values[entry.Key]
			if !exists || !shows(current, entry) {
				return false, before
			}
		}
		return true, state{out.Revision, before.values}
	}
	return write(before, in, out)
}

func write(before state, in input, out output) (bool, state) {
	current, exists := before.values[in.Key]
	fits := (in.Expect == nil || *in.Expect == current.revision) && (exists || in.Type == "put")
	switch out.Outcome {
	case "conflict":
		return !fits, before
	case "unknown":
		if !fits {
			return true, before
		}
		return true, after(before, in, unknownRevision)
	}
	if out.Outcome != "written" || !fits || out.Revision <= before.revision {
		return false, before
	}
	return true, after(before, in, out.Revision)
}

func after(before state, in input, revision int64) state {
	values := make(map[string]stored, len(before.values)+1)
	for key, each := range before.values {
		values[key] = each
	}
	if in.Type == "delete" {
		delete(values, in.Key)
	} else {
		values[in.Key] = stored{in.Value, revision}
	}
	return state{max(before.revision, revision), values}
}

func shows(current stored, found value) bool {
	return current.value == found.Value && (current.revision == unknownRevision || current.revision == found.Revision)
}

func keyOf(each state) string {
	parts := make([]string, 0, len(each.values))
	for key, current := range each.values {
		parts = append(parts, fmt.Sprintf("%s=%s@%d", key, current.value, current.revision))
	}
	sort.Strings(parts)
	return fmt.Sprintf("%d %s", each.revision, strings.Join(parts, " "))
}

// The states are compared by their keys, which are kept beside them.
type keyed struct {
	state
	key string
}

var model = porcupine.Model{
	Init: func() interface{} { return keyed{state{0, map[string]stored{}}, ""} },
	Step: func(before, in, out interface{}) (bool, interface{}) {
		fits, next := step(before.(keyed).state, in.(input), out.(output))
		if !fits {
			return false, before
		}
		return true, keyed{next, keyOf(next)}
	},
	Equal: func(one, other interface{}) bool { return one.(keyed).key == other.(keyed).key },
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var history []operation
			if bad := json.Unmarshal(line, &history); bad != nil {
				fmt.Fprintln(os.Stderr, bad)
				os.Exit(2)
			}
			fmt.Println(check(history))
		}
		if err != nil {
			return
		}
	}
}

func check(history []operation) string {
	operations := make([]porcupine.Operation, len(history))
	for at, each := range history {
		returned := int64(math.MaxInt64)
		if each.Returned != nil {
			returned = *each.Returned
		}
		operations[at] = porcupine.Operation{
			ClientId: each.Client, Input: each.Input, Call: each.Called, Output: each.Output, Return: returned,
		}
	}
	switch porcupine.CheckOperationsTimeout(model, operations, longest) {
	case porcupine.Ok:
		return "true"
	case porcupine.Illegal:
		return "false"
	}
	return "unknown"
}
