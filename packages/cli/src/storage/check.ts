import { checkLmdb, type Entry, type LmdbProblem } from '@krmkit/storage'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type DataDirFlags, progressPrinter, storeDirOf } from './store-files.ts'

/** Runs `krmkit storage check`. @returns the exit code. @throws StorageError */
export async function runCheck(flags: DataDirFlags, terminal: Terminal): Promise<number> {
  const dir = storeDirOf(flags)
  const { revision, records, problems } = await checkLmdb({ dir, decode: decodeObject, onProgress: progressPrinter(terminal) })
  for (const problem of problems) terminal.out(`${textOf(problem)}\n`)
  const found = problems.length === 0 ? 'nothing is damaged' : `${problems.length} problem${problems.length === 1 ? '' : 's'}`
  terminal.out(`${dir}: ${records} records up to revision ${revision}; ${found}\n`)
  if (problems.length === 0) return exitCodes.success
  terminal.err(`Keep a copy of ${dir}, move it away, and restore a backup: krmkit restore <file> --data-dir ${flags.dataDir}\n`)
  return exitCodes.findings
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** The start of encrypted values, whose own checksum is compared when they are decrypted. */
const encryptedPrefix = 'k8s:enc:'

function decodeObject({ value }: Entry): void {
  if (Buffer.from(value.subarray(0, encryptedPrefix.length)).toString('latin1') === encryptedPrefix) return
  JSON.parse(utf8.decode(value))
}

function textOf({ revision, key, problem }: LmdbProblem): string {
  const where = [key, revision === undefined ? undefined : `revision ${revision}`].filter((part) => part !== undefined)
  return [...where, problem].join(': ')
}
