import type { Paint } from './paint.ts'

/** Where an offline command reads from and prints to. Everything that it needs of the process, so that tests can give it. */
export interface Terminal {
  /** Of the software. */
  readonly version: string
  /** Results. */
  readonly out: (text: string) => void
  /** Everything else: progress, explanations, what could not be read. */
  readonly err: (text: string) => void
  /** Paint for results and for everything else: `--color` and what each stream is connected to decide. */
  readonly paint: (stream: 'out' | 'err', when: ColorWhen) => Paint
  /** Somebody is looking at the error stream. */
  readonly interactive: boolean
  /** All of standard input. */
  readonly stdin: () => string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** What the process ends with. */
  readonly exit: (code: number) => void
}

export type ColorWhen = 'auto' | 'always' | 'never'

/** What the offline commands end with. */
export const exitCodes = {
  /** Nothing to object to; no difference; applied. */
  success: 0,
  /** Findings; differences; conflicts. */
  findings: 1,
  /** Flags that make no sense, files that cannot be read or that hold something else than they should. */
  failure: 2,
} as const
