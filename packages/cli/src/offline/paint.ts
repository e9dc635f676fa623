/** The only module that imports the color library. */
import pc from 'picocolors'

/** Colors for one stream; without colors each function returns its text. */
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

/** Whether the environment of the process enables colors (`NO_COLOR`, `FORCE_COLOR`, a dumb terminal). */
export const colorsWanted: boolean = pc.isColorSupported
