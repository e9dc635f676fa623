/** The second opinion on histories: the library porcupine, in a small program in Go (`porcupine/`). */
import { join } from 'node:path'
import {
  type StorageOperation,
  withoutUnseenWrites,
  withSeenRevisions,
} from '../../packages/storage/src/testing/linearizability/operation.ts'
import { type GoProgram, goProgram } from '../clients/support/go-program.ts'
import { lastLine, run } from '../clients/support/tool.ts'

/** Builds the program. Both tests and the command run at the root of the repository. */
export function porcupineProgram(): Promise<GoProgram> {
  return goProgram('porcupine', join(process.cwd(), 'tests/histories/porcupine'))
}

/** Whether porcupine finds each history linearizable; undefined: not in time. */
export async function judge(
  program: GoProgram,
  histories: readonly (readonly StorageOperation[])[],
): Promise<(boolean | undefined)[]> {
  const likely = await decide(program, histories.map(withoutUnseenWrites))
  const open = histories.filter((_, at) => likely[at] !== true)
  if (open.length === 0) return likely
  const rest = await decide(program, open.map(withSeenRevisions))
  return likely.map((each) => (each === true ? true : rest.shift()))
}

async function decide(program: GoProgram, histories: readonly (readonly StorageOperation[])[]): Promise<(boolean | undefined)[]> {
  // JSON has no infinity: an operation without an answer returns `null`.
  const stdin = histories.map((history) => `${JSON.stringify(history)}\n`).join('')
  const finished = await run(program.path, [], { stdin, timeoutMs: 600_000 })
  if (finished.code !== 0) throw new Error(`porcupine failed: ${lastLine(finished)}`)
  return finished.stdout
    .trim()
    .split('\n')
    .map((line) => (line === 'unknown' ? undefined : line === 'true'))
}
