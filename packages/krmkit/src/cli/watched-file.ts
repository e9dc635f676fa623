import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '@krmkit/meta'

/** The text of a file, as it was when it was last looked at. */
export interface WatchedFile extends Disposable {
  readonly text: string
}

export interface WatchedFileOptions {
  readonly clock: Clock
  /** How often the file is looked at, in milliseconds. Default 10 s. */
  readonly everyMs?: number
  /** Told of a file that cannot be read any more; the last text stays. */
  readonly onError: (error: unknown) => void
  readonly onChange?: (text: string) => void
}

/** Follows a file that others replace. */
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
    if (!ended) again()
  }
  const again = () => {
    cancel = clock.setTimeout(() => void look(), everyMs)
  }
  again()
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
