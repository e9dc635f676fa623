import { holdingConditions, type Instruction, noCharacter, operations, type Program, workPerStep } from './pattern-search.ts'

/**
 * A pausable search for the matches of a compiled pattern, for long texts; the search of the library cannot pause.
 *
 * The text is scanned once per match. A thread is an instruction that waits for the next character, with the start of its
 * match. Threads are ordered by preference, and a match ends all threads after it.
 */
export class MatchFinder {
  readonly #program: Program
  readonly #text: string
  #threads: Threads
  #following: Threads
  /** By instruction: number of the last thread list that contains it. */
  readonly #listed: Uint32Array
  readonly #pending: Int32Array
  #list = 0
  #work = 0
  /** Position of the last match. */
  start = -1
  end = -1

  constructor(program: Program, text: string) {
    const { length } = program.inst
    this.#program = program
    this.#text = text
    this.#threads = createThreads(length)
    this.#following = createThreads(length)
    this.#listed = new Uint32Array(length)
    this.#pending = new Int32Array(length + 1)
  }

  /** Searches for a match from a position on. Yields `true` after about each millisecond of work. */
  *find(from: number): Generator<true, boolean> {
    const text = this.#text
    let at = from
    // The second half of a surrogate pair suffices as the previous character: it is neither a letter nor a line end.
    let before = from === 0 ? noCharacter : text.charCodeAt(from - 1)
    let rune = characterAt(text, at)
    let found = false
    this.#list++
    this.#threads.size = 0
    for (;;) {
      if (!found) this.#add(this.#threads, { at: this.#program.start, start: at }, holdingConditions(before, rune))
      else if (this.#threads.size === 0) return true
      this.#list++
      this.#following.size = 0
      const next = at + (rune > 0xffff ? 2 : 1)
      const after = characterAt(text, next)
      found = this.#step(at, rune, holdingConditions(rune, after)) || found
      if (rune === noCharacter) return found
      const swapped = this.#threads
      this.#threads = this.#following
      this.#following = swapped
      before = rune
      rune = after
      at = next
      if (++this.#work >= workPerStep) {
        this.#work = 0
        yield true
      }
    }
  }

  /** Advances all threads by a character. @returns whether a thread ends with a match before it. */
  #step(at: number, rune: number, holding: number): boolean {
    const { inst } = this.#program
    const { instructions, starts, size } = this.#threads
    for (let i = 0; i < size; i++) {
      const instruction = inst[instructions[i] as number] as Instruction
      if (instruction.op === operations.match) {
        this.start = starts[i] as number
        this.end = at
        return true
      }
      if (rune !== noCharacter && instruction.matchRune(rune))
        this.#add(this.#following, { at: instruction.out, start: starts[i] as number }, holding)
    }
    return false
  }

  /** Adds the instructions reachable from an instruction without consuming a character, preferred alternatives first. */
  #add(threads: Threads, { at: first, start }: { readonly at: number; readonly start: number }, holding: number): void {
    const { inst } = this.#program
    const pending = this.#pending
    const listed = this.#listed
    pending[0] = first
    for (let depth = 1; depth > 0; ) {
      const at = pending[--depth] as number
      if (listed[at] === this.#list) continue
      listed[at] = this.#list
      this.#work++
      const { op, out, arg } = inst[at] as Instruction
      if (op >= operations.rune || op === operations.match) {
        threads.instructions[threads.size] = at
        threads.starts[threads.size++] = start
      } else if (op === operations.alt || op === operations.altMatch) {
        pending[depth++] = arg
        pending[depth++] = out
      } else if (op === operations.capture || op === operations.nop) pending[depth++] = out
      else if (op === operations.emptyWidth && (arg & ~holding) === 0) pending[depth++] = out
    }
  }
}

interface Threads {
  readonly instructions: Int32Array
  readonly starts: Int32Array
  size: number
}

function createThreads(length: number): Threads {
  return { instructions: new Int32Array(length), starts: new Int32Array(length), size: 0 }
}

function characterAt(text: string, at: number): number {
  return text.codePointAt(at) ?? noCharacter
}
