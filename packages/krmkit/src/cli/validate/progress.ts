import type { Terminal } from '../offline/terminal.ts'
import { count } from './validation-report.ts'

/** Tells on the error stream how far a long run has come: over and over on one line, or in lines of their own. */
export interface Progress {
  step(done: number, errors: number): void
  /** Wipes the line that is written over; before results are printed as well. */
  clear(): void
}

export interface ProgressOptions {
  readonly total: number
  /** As the flags say; without any, on a terminal when there are many files. */
  readonly wanted: boolean | undefined
  readonly terminal: Pick<Terminal, 'err' | 'interactive' | 'now'>
}

const manyFiles = 50
const repaintMs = 100
/** Without a terminal there are as many lines at most. */
const lines = 10

export function createProgress({ total, wanted, terminal }: ProgressOptions): Progress {
  const { err, interactive, now } = terminal
  if (!(wanted ?? (interactive && total >= manyFiles))) return { step: () => undefined, clear: () => undefined }
  const text = (done: number, errors: number) => `validated ${done} of ${count(total, 'file')}, ${count(errors, 'error')}`
  let shown = false
  let last = now()
  const clear = () => {
    if (shown) err('\r\u001b[K')
    shown = false
  }
  return {
    step(done, errors) {
      if (!interactive) {
        if (done === total || Math.floor((done * lines) / total) > Math.floor(((done - 1) * lines) / total))
          err(`${text(done, errors)}\n`)
        return
      }
      if (done === total) clear()
      else if (now() - last >= repaintMs) {
        last = now()
        clear()
        err(text(done, errors))
        shown = true
      }
    },
    clear,
  }
}
