import { createPaint } from '../paint.ts'
import type { Terminal } from '../terminal.ts'

/** A terminal that records its output. */
export interface TestTerminal extends Terminal {
  readonly printed: { out: string; err: string; code: number | undefined }
}

export function testTerminal(parts: Partial<Terminal> = {}): TestTerminal {
  const printed: TestTerminal['printed'] = { out: '', err: '', code: undefined }
  return {
    version: '0.0.0',
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      printed.err += text
    },
    paint: (_, when) => createPaint(when === 'always'),
    interactive: false,
    stdin: () => '',
    outBytes: async (bytes) => {
      printed.out += Buffer.from(bytes).toString('latin1')
    },
    inBytes: async function* () {},
    now: () => 0,
    exit: (code) => {
      printed.code = code
    },
    ...parts,
    printed,
  }
}
