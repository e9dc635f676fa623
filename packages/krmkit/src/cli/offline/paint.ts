/** The one door through which colours come in. */
import pc from 'picocolors'

/** Colours for one stream; without colour each function gives back its text. */
export interface Paint {
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly blue: (text: string) => string
  readonly magenta: (text: string) => string
  readonly cyan: (text: string) => string
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

export function createPaint(enabled: boolean): Paint {
  return pc.createColors(enabled)
}

/** Whether the environment of the process wants colours (`NO_COLOR`, `FORCE_COLOR`, a dumb terminal). */
export const colorsWanted: boolean = pc.isColorSupported
