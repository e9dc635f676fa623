import { backupLmdb, restoreLmdb } from '@krmkit/storage'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type DataDirFlags, progressPrinter, readInput, storeDirOf, writeOutput } from './store-files.ts'

/** Runs `krmkit backup`. @returns the exit code. @throws CliError, StorageError */
export async function runBackup(path: string, flags: DataDirFlags, terminal: Terminal): Promise<number> {
  const dir = storeDirOf(flags)
  const onProgress = progressPrinter(terminal)
  const { revision, records } = await writeOutput(path, terminal, (write) => backupLmdb({ dir, write, onProgress }))
  terminal.err(`${dir}: backup at revision ${revision}, ${records} records\n`)
  return exitCodes.success
}

/** Runs `krmkit restore`. @returns the exit code. @throws CliError, StorageError */
export async function runRestore(path: string, flags: DataDirFlags, terminal: Terminal): Promise<number> {
  const dir = storeDirOf(flags)
  const chunks = readInput(path, terminal)
  const { revision, records } = await restoreLmdb({ dir, chunks, onProgress: progressPrinter(terminal) })
  terminal.err(`${dir}: restored to revision ${revision}, ${records} records\n`)
  return exitCodes.success
}
