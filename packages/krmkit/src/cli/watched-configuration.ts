import type { Clock } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { CliError, messageOf } from './cli-error.ts'
import { type WatchedFile, watchFile } from './watched-file.ts'

export interface WatchConfigurationOptions<T> {
  /** Whose value the path is. */
  readonly flag: string
  readonly clock: Clock
  /** Told of files that cannot be used; what was there before stays in force. */
  readonly onError: (error: unknown) => void
  /** Told of what is in force now. */
  readonly onApplied?: () => void
  /** Reads and judges. @throws Error what is wrong, in words for people. */
  readonly read: (text: string) => T | Promise<T>
  /** Puts what was read in force. */
  readonly apply: (next: T) => Promise<void>
  /** Whether what `apply` throws may pass: then it is tried again while the file stays as it is. Default false. */
  readonly retryApply?: boolean
}

export interface WatchedConfiguration<T> extends Disposable {
  /** What the file said at the start. */
  readonly first: T
}

const againMs = 10_000

/**
 * Reads a configuration, and follows the file while the server runs.
 *
 * @throws CliError `FileFailed`, `InvalidFlag` when the file cannot be used at the start.
 */
export async function watchConfiguration<T>(
  path: string,
  options: WatchConfigurationOptions<T>,
): Promise<WatchedConfiguration<T>> {
  const { flag, clock, onError } = options
  let ended = false
  let newest = ''
  let cancel: (() => void) | undefined
  // One after the other: what is read last must be what is in force last.
  let before = Promise.resolve()
  const onChange = (text: string) => {
    newest = text
    cancel?.()
    before = before.then(() => take(text))
  }
  const take = async (text: string): Promise<void> => {
    if (ended || text !== newest) return
    let next: T
    try {
      next = await options.read(text)
    } catch (error) {
      onError(failure(flag, error))
      return
    }
    try {
      await options.apply(next)
      options.onApplied?.()
    } catch (error) {
      onError(failure(flag, error))
      if (options.retryApply === true && !ended && text === newest) cancel = clock.setTimeout(() => onChange(text), againMs)
    }
  }
  let file: WatchedFile
  try {
    file = await watchFile(path, { clock, onError, onChange })
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: cannot read ${path}: ${messageOf(cause)}`, cause })
  }
  try {
    const first = await options.read(file.text)
    return {
      first,
      [Symbol.dispose]() {
        ended = true
        cancel?.()
        file[Symbol.dispose]()
      },
    }
  } catch (error) {
    file[Symbol.dispose]()
    throw failure(flag, error)
  }
}

/** YAML or JSON, with what is wrong with its keys. @throws Error */
export function parseConfigurationText(text: string): { readonly value: unknown; readonly repeated: readonly string[] } {
  const { value, problems } = parseYaml(text)
  return { value, repeated: problems }
}

function failure(flag: string, cause: unknown): CliError {
  return new CliError({ code: 'InvalidFlag', message: `--${flag}: ${messageOf(cause)}`, cause })
}
