import type { Paint } from './paint.ts'

/** The input and output of a command, and all that it needs of the process. Tests replace it. */
export interface Terminal {
  /** Version of krmkit. */
  readonly version: string
  /** Prints results. */
  readonly out: (text: string) => void
  /** Prints progress, explanations and errors. */
  readonly err: (text: string) => void
  /** Colors of a stream, by `--color` and whether the stream is a terminal. */
  readonly paint: (stream: 'out' | 'err', when: ColorWhen) => Paint
  /** Whether the error stream is a terminal. */
  readonly interactive: boolean
  /** Reads standard input to its end. */
  readonly stdin: () => string
  /** Prints bytes as results; resolves when more can be printed. */
  readonly outBytes: (bytes: Uint8Array) => Promise<void>
  /** Standard input, piece by piece. */
  readonly inBytes: () => AsyncIterable<Uint8Array>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Sets the exit code of the process. */
  readonly exit: (code: number) => void
}

export type ColorWhen = 'auto' | 'always' | 'never'

/** Exit codes of all commands except `serve`. */
export const exitCodes = {
  /** No findings, no differences, or applied. */
  success: 0,
  /** Findings, differences or conflicts. */
  findings: 1,
  /** Invalid flags, or files that cannot be read or parsed. */
  failure: 2,
} as const
