import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '@krmkit/meta'

/** The text of a file at the last check. */
export interface WatchedFile extends Disposable {
  readonly text: string
}

export interface WatchedFileOptions {
  readonly clock: Clock
  /** Interval of checks, in milliseconds. Default 10 000. */
  readonly everyMs?: number
  /** Called when the file can no longer be read; the last text stays in effect. */
  readonly onError: (error: unknown) => void
  readonly onChange?: (text: string) => void
}

/** Reads a file and polls it for changes. @throws Error of `node:fs` when the file cannot be read at the start. */
export async function watchFile(path: string, options: WatchedFileOptions): Promise<WatchedFile> {
  const { clock, everyMs = 10_000, onError, onChange } = options
  let text = await readFile(path, 'utf8')
  let seen = await signature(path)
  let cancel: (() => void) | undefined
  let ended = false
  const look = async (): Promise<void> => {
    try {
      const now = await signature(path)
      if (now !== seen) {
        const next = await readFile(path, 'utf8')
        seen = now
        if (next !== text) {
          text = next
          onChange?.(next)
        }
      }
    } catch (error) {
      onError(error)
    }
    if (!ended) schedule()
  }
  const schedule = () => {
    cancel = clock.setTimeout(() => void look(), everyMs)
  }
  schedule()
  return {
    get text() {
      return text
    },
    [Symbol.dispose]() {
      ended = true
      cancel?.()
    },
  }
}

async function signature(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path)
  return `${mtimeMs} ${size} ${ino}`
}
