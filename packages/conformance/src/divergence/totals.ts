import type { SideBySideResult } from './side-by-side.ts'

/** Divergences of one cause that nothing explains. */
export interface OpenDivergence {
  readonly area: string
  /** What differs, in general terms. */
  readonly cause: string
  /** Number of scenarios. */
  count: number
  /** The first scenario that showed it. */
  readonly seed: number
  readonly index: number
}

/** How far a seed has come. */
interface SeedTotals {
  steps: number
  /** Index of the first scenario that has not started. */
  next: number
}

/** What a state file holds. */
interface TotalsState {
  readonly build: string
  readonly seeds: readonly (SeedTotals & { readonly seed: number })[]
  readonly areas: Readonly<Record<string, number>>
  readonly known: Readonly<Record<string, number>>
  readonly wording: { readonly all: number; readonly equal: number }
  readonly open: readonly OpenDivergence[]
  readonly settled?: readonly OpenDivergence[]
}

/**
 * Counts of one run, or of several runs of one build: the second one starts from the state of the first one.
 *
 * @example
 * const totals = Totals.ofState(readFileSync('state.json', 'utf8'), build)
 * const index = totals.start(seed)
 * totals.add({ seed, index, area: 'bodies' }, result, cause)
 * writeFileSync('state.json', totals.state())
 */
export class Totals {
  /** Identifies the compared krmkit: counts of different ones must not be added. */
  readonly build: string
  readonly seeds = new Map<number, SeedTotals>()
  /** Compared steps by area. */
  readonly areas = new Map<string, number>()
  /** Scenarios in which a known divergence was seen, by its id. */
  readonly known = new Map<string, number>()
  readonly wording = { all: 0, equal: 0 }
  /** By cause. */
  readonly open = new Map<string, OpenDivergence>()
  /** Divergences that were gone when their first scenario was repeated: known since, or they depend on time. By cause. */
  readonly settled = new Map<string, OpenDivergence>()

  constructor(build: string) {
    this.build = build
  }

  /** @throws Error when the state is of another build. */
  static ofState(text: string, build: string): Totals {
    const state = JSON.parse(text) as TotalsState
    if (state.build !== build) throw new Error('the state file is of another build of krmkit: remove it to begin again')
    const totals = new Totals(build)
    for (const { seed, steps, next } of state.seeds) totals.seeds.set(seed, { steps, next })
    for (const [area, steps] of Object.entries(state.areas)) totals.areas.set(area, steps)
    for (const [id, count] of Object.entries(state.known)) totals.known.set(id, count)
    Object.assign(totals.wording, state.wording)
    for (const divergence of state.open) totals.open.set(divergence.cause, { ...divergence })
    for (const divergence of state.settled ?? []) totals.settled.set(divergence.cause, { ...divergence })
    return totals
  }

  /** JSON, from which `ofState` makes equal totals. */
  state(): string {
    const state: TotalsState = {
      build: this.build,
      seeds: [...this.seeds].map(([seed, totals]) => ({ seed, ...totals })),
      areas: Object.fromEntries(this.areas),
      known: Object.fromEntries(this.known),
      wording: this.wording,
      open: this.openDivergences(),
      settled: [...this.settled.values()],
    }
    return `${JSON.stringify(state, null, 1)}\n`
  }

  /** Compared steps of all runs. */
  get steps(): number {
    return [...this.seeds.values()].reduce((sum, { steps }) => sum + steps, 0)
  }

  /** @returns the index of the next scenario of a seed. One that was stopped in the middle is not repeated. */
  start(seed: number): number {
    return this.#of(seed).next++
  }

  /** Counts a scenario. @param cause of its divergence, if it has one */
  add(
    { seed, index, area }: { readonly seed: number; readonly index: number; readonly area: string },
    { steps, known, wording }: Pick<SideBySideResult, 'steps' | 'known' | 'wording'>,
    cause?: string,
  ): void {
    this.#of(seed).steps += steps
    this.areas.set(area, (this.areas.get(area) ?? 0) + steps)
    this.wording.all += wording.all
    this.wording.equal += wording.equal
    for (const id of known) this.known.set(id, (this.known.get(id) ?? 0) + 1)
    if (cause === undefined) return
    const seen = this.open.get(cause)
    if (seen === undefined) this.open.set(cause, { area, cause, count: 1, seed, index })
    else seen.count++
  }

  /** Counts a divergence that was gone when its scenario was repeated at once. */
  addSettled(
    { seed, index, area }: { readonly seed: number; readonly index: number; readonly area: string },
    cause: string,
  ): void {
    const seen = this.settled.get(cause)
    if (seen === undefined) this.settled.set(cause, { area, cause, count: 1, seed, index })
    else seen.count++
  }

  /** Counts the scenario of an open divergence that was repeated without a difference. */
  settle(cause: string): void {
    const divergence = this.open.get(cause)
    if (divergence === undefined) return
    this.open.delete(cause)
    this.settled.set(cause, divergence)
  }

  /** Most frequent first. */
  openDivergences(): readonly OpenDivergence[] {
    return [...this.open.values()].sort((a, b) => b.count - a.count)
  }

  #of(seed: number): SeedTotals {
    const known = this.seeds.get(seed) ?? { steps: 0, next: 0 }
    this.seeds.set(seed, known)
    return known
  }
}
