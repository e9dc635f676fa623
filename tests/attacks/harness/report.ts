/** Counts the effects of a family of attacks on the server, and collects findings. */

export type Outcome = 'refused' | 'accepted' | 'wrong'

export interface Attempt {
  /** Enough to send the same request again. */
  readonly name: string
  readonly outcome: Outcome
  /** The problem. */
  readonly reason?: string
  readonly stallMs?: number
  readonly peakMiB?: number
}

export interface FamilyFigures {
  readonly family: string
  readonly tried: number
  readonly refused: number
  readonly accepted: number
  readonly wrong: number
  readonly longestStallMs: number
  /** The attempt with the longest stall. */
  readonly slowest: string
  readonly peakMiB: number
  readonly findings: readonly Finding[]
}

export interface Finding {
  readonly attempt: string
  readonly reason: string
}

/** Bounds for every attempt. */
export interface Bounds {
  /** Maximum time that one request may block the event loop. */
  readonly stallMs: number
  /** Maximum increase of resident memory during one attempt. */
  readonly peakMiB: number
}

export const issueBounds: Bounds = { stallMs: 50, peakMiB: 400 }

/** For runs beside other tests, which check costs by order of magnitude. */
export const wideBounds: Bounds = { stallMs: 1000, peakMiB: 1500 }

export class FamilyReport {
  readonly #family: string
  readonly #bounds: Bounds
  readonly #findings: Finding[] = []
  readonly #counts = { refused: 0, accepted: 0, wrong: 0 }
  #longestStallMs = 0
  #slowest = ''
  #peakMiB = 0

  constructor(family: string, bounds: Bounds) {
    this.#family = family
    this.#bounds = bounds
  }

  get stallBoundMs(): number {
    return this.#bounds.stallMs
  }

  add({ name, outcome, reason, stallMs = 0, peakMiB = 0 }: Attempt): void {
    const reasons = reason === undefined ? [] : [reason]
    if (stallMs > this.#bounds.stallMs) reasons.push(`holds the event loop for ${Math.round(stallMs)} ms`)
    if (peakMiB > this.#bounds.peakMiB) reasons.push(`takes ${Math.round(peakMiB)} MiB`)
    this.#counts[reasons.length > 0 ? 'wrong' : outcome]++
    if (reasons.length > 0) this.#findings.push({ attempt: name, reason: reasons.join('; ') })
    if (stallMs > this.#longestStallMs) {
      this.#longestStallMs = stallMs
      this.#slowest = name
    }
    this.#peakMiB = Math.max(this.#peakMiB, peakMiB)
  }

  figures(): FamilyFigures {
    const { refused, accepted, wrong } = this.#counts
    return {
      family: this.#family,
      tried: refused + accepted + wrong,
      refused,
      accepted,
      wrong,
      longestStallMs: Math.round(this.#longestStallMs),
      slowest: this.#slowest,
      peakMiB: Math.round(this.#peakMiB),
      findings: this.#findings,
    }
  }
}

const columns = [
  'family',
  'tried',
  'refused rightly',
  'accepted rightly',
  'wrong',
  'longest stall ms',
  'peak memory MiB',
] as const

/** A table for terminals and Markdown. */
export function table(all: readonly FamilyFigures[]): string {
  const rows = all.map((f) => [f.family, f.tried, f.refused, f.accepted, f.wrong, f.longestStallMs, f.peakMiB].map(String))
  const widths = columns.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return `${[line(columns), rule, ...rows.map(line)].join('\n')}\n`
}
