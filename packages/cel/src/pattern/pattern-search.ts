/**
 * A pausable search with a compiled pattern, for long texts; the search of the library cannot pause.
 *
 * The text is scanned once. A state is the set of instructions that wait for the next character. Transitions by ASCII
 * characters are cached, so that common patterns need one look-up per character.
 */

/** A program of the library. */
export interface Program {
  readonly start: number
  readonly inst: readonly Instruction[]
}

export interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  matchRune(rune: number): boolean
}

/** Operations, numbered as in the library. */
export const operations = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  lookBehind: 12,
} as const

/** Conditions of zero-width instructions. */
const conditions = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 } as const

/** Pseudo-character before and after the text. */
export const noCharacter = -1
const newLine = 10
const remembered = 128
/** Maximum number of instructions and transitions of cached states: about 8 MB. */
const maxRemembered = 1_000_000
/** Work between two pauses, in visited instructions and characters: about a millisecond. */
export const workPerStep = 50_000

/** Larger states are not cached: they rarely recur, and building their key takes longer than the transition. */
const maxWaiting = 64

interface State {
  readonly waiting: ArrayLike<number>
  /** Number of waiting instructions. */
  readonly size: number
  /** The previous character, if a condition depends on it. */
  readonly before: number
  /** The next state by character code; absent in states that are not cached. */
  readonly next: (State | typeof matched | undefined)[] | undefined
}

const matched = Symbol('matched')

/** Whether the search supports a program. Lookbehind assertions, which Go's syntax lacks, are not supported. */
export function isSearchable(program: Program): boolean {
  return program.inst.every(({ op }) => op < operations.lookBehind)
}

/** Whether a part of the text matches. Yields `true` after about each millisecond of work. */
export function* searchProgram(program: Program, text: string): Generator<true, boolean> {
  const search = new Search(program)
  let state = search.start
  for (let at = 0; at < text.length; ) {
    const rune = text.codePointAt(at) as number
    const next = state.next?.[rune] ?? search.next(state, rune)
    if (next === matched) return true
    state = next
    at += rune > 0xffff ? 2 : 1
    if (++search.work >= workPerStep) {
      search.work = 0
      yield true
    }
  }
  return search.next(state, noCharacter) === matched
}

class Search {
  readonly #program: Program
  readonly #states = new Map<string, State>()
  #room = maxRemembered
  readonly #op: Uint8Array
  readonly #out: Int32Array
  readonly #arg: Int32Array
  /** By instruction: number of the last transition that visited it or added it to the waiting ones. */
  readonly #visited: Uint32Array
  readonly #queued: Uint32Array
  readonly #pending: Int32Array
  /** The waiting instructions of the next state; two lists, because the previous one is read meanwhile. */
  #waiting: Int32Array
  #spare: Int32Array
  #transition = 0
  readonly start: State
  work = 0

  constructor(program: Program) {
    const { inst, start } = program
    this.#program = program
    this.#op = Uint8Array.from(inst, ({ op }) => op)
    this.#out = Int32Array.from(inst, ({ out }) => out)
    this.#arg = Int32Array.from(inst, ({ arg }) => arg)
    this.#visited = new Uint32Array(inst.length)
    this.#queued = new Uint32Array(inst.length)
    // Every visited instruction is replaced by at most two.
    this.#pending = new Int32Array(2 * inst.length + 2)
    this.#waiting = new Int32Array(inst.length)
    this.#spare = new Int32Array(inst.length)
    this.start = this.#stateOf(Int32Array.of(start), 1, noCharacter)
  }

  #stateOf(waiting: Int32Array, size: number, rune: number): State {
    const before = rune === noCharacter || rune === newLine ? rune : isWord(rune) ? 48 : 0
    if (size > maxWaiting || this.#room <= 0) return { waiting, size, before, next: undefined }
    const key = `${before},${waiting.subarray(0, size).join()}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const made: State = { waiting: waiting.slice(0, size), size, before, next: [] }
    this.#states.set(key, made)
    this.#room -= size + remembered
    return made
  }

  /** Returns the state after a character, or after the end of the text. */
  next(state: State, rune: number): State | typeof matched {
    const transition = ++this.#transition
    const holding = holdingConditions(state.before, rune)
    const [ops, outs, args, visited, queued, pending, waiting] = [
      this.#op,
      this.#out,
      this.#arg,
      this.#visited,
      this.#queued,
      this.#pending,
      this.#waiting,
    ]
    const { inst, start } = this.#program
    let size = 0
    for (let i = 0; i < state.size; i++) {
      pending[0] = state.waiting[i] as number
      for (let depth = 1; depth > 0; ) {
        const at = pending[--depth] as number
        if (visited[at] === transition) continue
        visited[at] = transition
        this.work++
        const op = ops[at] as number
        const out = outs[at] as number
        if (op >= operations.rune) {
          if (queued[out] === transition || rune === noCharacter || inst[at]?.matchRune(rune) !== true) continue
          queued[out] = transition
          waiting[size++] = out
        } else if (op === operations.match) return this.#remember(state, rune, matched)
        else if (op === operations.alt || op === operations.altMatch) {
          pending[depth++] = args[at] as number
          pending[depth++] = out
        } else if (op === operations.capture || op === operations.nop) pending[depth++] = out
        else if (op === operations.emptyWidth && ((args[at] as number) & ~holding) === 0) pending[depth++] = out
      }
    }
    if (rune === noCharacter) return state
    if (queued[start] !== transition) waiting[size++] = start
    this.#waiting = this.#spare
    this.#spare = waiting
    return this.#remember(state, rune, this.#stateOf(waiting, size, rune))
  }

  #remember(state: State, rune: number, next: State | typeof matched): State | typeof matched {
    // A state that is not cached uses the list of the search without a copy.
    if (state.next !== undefined && rune >= 0 && rune < remembered && (next === matched || next.next !== undefined))
      state.next[rune] = next
    return next
  }
}

export function holdingConditions(before: number, after: number): number {
  let holding = isWord(before) === isWord(after) ? conditions.noWordBoundary : conditions.wordBoundary
  if (before === noCharacter) holding |= conditions.beginText | conditions.beginLine
  else if (before === newLine) holding |= conditions.beginLine
  if (after === noCharacter) holding |= conditions.endText | conditions.endLine
  else if (after === newLine) holding |= conditions.endLine
  return holding
}

function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122)
}
