/** Files that the commands of the embedded store read and write, and their progress. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureParentDirectory } from '@krmkit/base/private-files'
import { CliError, messageOf } from '../cli-error.ts'
import { option } from '../commander.ts'
import type { Terminal } from '../offline/terminal.ts'

/** The name for standard input and output. */
export const standardStream = '-'
const progressIntervalMs = 1000

export interface DataDirFlags {
  readonly dataDir: string
}

export function dataDirOption() {
  return option('--data-dir <folder>', 'data folder of the server').default('.krmkit')
}

/** The folder of the embedded store in a data folder. */
export function storeDirOf({ dataDir }: DataDirFlags): string {
  return join(dataDir, 'data')
}

type Write = (bytes: Uint8Array) => Promise<void>

/**
 * Writes a file with mode 0600 that gets its name when it is complete and on disk, or writes to standard output or a device.
 *
 * @throws CliError `FileFailed`; errors of `produce`
 */
export async function writeOutput<T>(path: string, terminal: Terminal, produce: (write: Write) => Promise<T>): Promise<T> {
  if (path === standardStream) return produce(terminal.outBytes)
  const isDevice = existsSync(path) && !statSync(path).isFile()
  const partial = isDevice ? path : `${path}.partial-${process.pid}`
  const attempt = async <R>(work: () => Promise<R> | R): Promise<R> => {
    try {
      return await work()
    } catch (cause) {
      throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
    }
  }
  const file = await attempt(() => {
    ensureParentDirectory(path)
    return open(partial, isDevice ? 'w' : 'wx', 0o600)
  })
  try {
    const result = await produce((bytes) => attempt(() => file.writeFile(bytes)))
    if (!isDevice) await attempt(() => file.sync())
    await file.close()
    if (!isDevice) await attempt(() => rename(partial, path))
    return result
  } catch (error) {
    await file.close()
    if (!isDevice) await rm(partial, { force: true })
    throw error
  }
}

/** The bytes of a file or of standard input. @throws CliError `FileFailed` */
export async function* readInput(path: string, terminal: Terminal): AsyncGenerator<Uint8Array> {
  try {
    yield* path === standardStream ? terminal.inBytes() : (createReadStream(path) as AsyncIterable<Uint8Array>)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}: ${messageOf(cause)}`, cause })
  }
}

/** Prints how much is done, once a second, while a person looks on. */
export function progressPrinter(terminal: Terminal): (done: { readonly records: number; readonly total?: number }) => void {
  let last = terminal.now()
  return ({ records, total }) => {
    const now = terminal.now()
    if (!terminal.interactive || now - last < progressIntervalMs) return
    last = now
    terminal.err(`${records}${total === undefined ? '' : ` of ${total}`} records\n`)
  }
}
