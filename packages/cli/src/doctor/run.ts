import { defaultRelease } from '@krmkit/meta'
import type { Paint } from '../offline/paint.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import {
  type CheckedSetup,
  type CheckResult,
  checkDataFolder,
  checkDurableStorage,
  checkKubeconfig,
  checkNode,
  checkPort,
} from './checks.ts'

export interface DoctorFlags extends CheckedSetup {
  readonly output: 'text' | 'json'
  readonly color: 'auto' | 'always' | 'never'
}

/** Runs `krmkit doctor`. @returns the exit code: `findings` when a check failed. */
export async function runDoctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const results: CheckResult[] = [
    { name: 'krmkit', result: 'ok', detail: `${terminal.version}, serves Kubernetes ${defaultRelease}` },
    checkNode(process.versions.node),
    checkDataFolder(flags),
    await checkKubeconfig(flags),
    await checkPort(flags),
    await checkDurableStorage(),
  ]
  if (flags.output === 'json') terminal.out(`${JSON.stringify(results, null, 2)}\n`)
  else terminal.out(textOf(results, terminal.paint('out', flags.color)))
  return results.some(({ result }) => result === 'failed') ? exitCodes.findings : exitCodes.success
}

function textOf(results: readonly CheckResult[], paint: Paint): string {
  const colors = { ok: paint.green, warning: paint.yellow, failed: paint.red }
  const width = Math.max(...results.map(({ name }) => name.length))
  const lines = results.flatMap(({ name, result, detail, advice }) => {
    const line = `${colors[result](result.padEnd(7))}  ${name.padEnd(width)}  ${detail}`
    return advice === undefined ? [line] : [line, `${' '.repeat(width + 11)}${advice}`]
  })
  return `${lines.join('\n')}\n`
}
