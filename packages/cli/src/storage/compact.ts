import { statSync } from 'node:fs'
import { join } from 'node:path'
import { compactLmdb } from '@krmkit/storage'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type DataDirFlags, progressPrinter, storeDirOf } from './store-files.ts'

const bytesPerMegabyte = 1_000_000

/** Runs `krmkit storage compact`. @returns the exit code. @throws StorageError */
export async function runCompact(flags: DataDirFlags, terminal: Terminal): Promise<number> {
  const dir = storeDirOf(flags)
  const before = sizeOf(dir)
  await compactLmdb({ dir, onProgress: progressPrinter(terminal) })
  terminal.out(`${dir}: ${before} MB before, ${sizeOf(dir)} MB now\n`)
  return exitCodes.success
}

function sizeOf(dir: string): string {
  const bytes = statSync(join(dir, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0
  return (bytes / bytesPerMegabyte).toFixed(1)
}
