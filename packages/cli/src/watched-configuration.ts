import type { Clock } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { CliError, messageOf } from './cli-error.ts'
import { type WatchedFile, watchFile } from './watched-file.ts'

export interface WatchConfigurationOptions<T> {
  /** The flag that names the file. */
  readonly flag: string
  readonly clock: Clock
  /** Called for a file that cannot be used; the previous configuration stays in effect. */
  readonly onError: (error: unknown) => void
  /** Called after a new configuration took effect. */
  readonly onApplied?: () => void
  /** Parses and validates the file. @throws Error with all problems in the message. */
  readonly read: (text: string) => T | Promise<T>
  /** Activates a parsed configuration. */
  readonly apply: (next: T) => Promise<void>
  /** Whether a failed `apply` is retried while the file is unchanged. Default false. */
  readonly retryApply?: boolean
}

export interface WatchedConfiguration<T> extends Disposable {
  /** The configuration at the start. */
  readonly first: T
}

const retryMs = 10_000

/**
 * Reads a configuration file and reloads it when it changes.
 *
 * @throws CliError `FileFailed`, `InvalidFlag` when the initial file cannot be used.
 */
export async function watchConfiguration<T>(
  path: string,
  options: WatchConfigurationOptions<T>,
): Promise<WatchedConfiguration<T>> {
  const { flag, clock, onError } = options
  let ended = false
  let newest = ''
  let cancel: (() => void) | undefined
  // Changes are applied sequentially, so that the last version of the file takes effect last.
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
      if (options.retryApply === true && !ended && text === newest) cancel = clock.setTimeout(() => onChange(text), retryMs)
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

/** Parses YAML or JSON and collects duplicate keys. @throws Error for syntax errors. */
export function parseConfigurationText(text: string): { readonly value: unknown; readonly repeated: readonly string[] } {
  const { value, problems } = parseYaml(text)
  return { value, repeated: problems }
}

function failure(flag: string, cause: unknown): CliError {
  return new CliError({ code: 'InvalidFlag', message: `--${flag}: ${messageOf(cause)}`, cause })
}
