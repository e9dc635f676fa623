import { count } from '../offline/reported-finding.ts'
import type { Terminal } from '../offline/terminal.ts'

/** Reports the progress of a long run on the error stream: on one updated line of a terminal, or on separate lines. */
export interface Progress {
  step(done: number, errors: number): void
  /** Clears the progress line. Call it before printing results. */
  clear(): void
}

export interface ProgressOptions {
  readonly total: number
  /** Value of `--progress`; undefined: progress is shown on a terminal for many files. */
  readonly wanted: boolean | undefined
  readonly terminal: Pick<Terminal, 'err' | 'interactive' | 'now'>
}

const manyFiles = 50
const repaintMs = 100
/** Maximum number of lines without a terminal. */
const maxLines = 10

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
        if (done === total || Math.floor((done * maxLines) / total) > Math.floor(((done - 1) * maxLines) / total))
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
