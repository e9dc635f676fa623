import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkLinearizable } from '../../packages/storage/src/testing/linearizability/check-linearizable.ts'
import type { StorageOperation } from '../../packages/storage/src/testing/linearizability/operation.ts'
import { backends } from './backends/index.ts'
import { serveStore } from './backends/serve-store.ts'
import { judge, porcupineProgram } from './porcupine.ts'

/**
 * `npm run histories -- [--backend NAME] [--runs N] [--seed N]`: records histories of concurrent clients with faults, and checks that each is
 * linearizable; exits with 1 when one is not, and leaves it in `node_modules/.cache/histories`.
 */

const { values } = parseArgs({
  options: {
    backend: { type: 'string' },
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    /** Directory of a store that this process is to serve: internal. */
    serve: { type: 'string' },
  },
})

if (values.serve !== undefined) await serveStore(values.serve)
else {
  const names = values.backend === undefined ? Object.keys(backends) : [values.backend]
  let violations = 0
  // Timers of the stores do not keep a process alive.
  const alive = setInterval(() => undefined, 60_000)
  for (const name of names) violations += await check(name, Number(values.runs), Number(values.seed))
  clearInterval(alive)
  process.exitCode = violations > 0 ? 1 : 0
}

async function check(name: string, runs: number, first: number): Promise<number> {
  const open = backends[name]
  if (open === undefined) throw new Error(`unknown backend "${name}"; available: ${Object.keys(backends).join(', ')}`)
  const backend = await open({ program: process.argv[1] ?? '', args: ['--serve'] })
  if (typeof backend === 'string') {
    console.log(`${name}: skipped: ${backend}`)
    return 0
  }
  const porcupine = await porcupineProgram()
  if (porcupine.missing !== undefined) console.log(`${name}: porcupine skipped: ${porcupine.missing}`)
  const seeds = Array.from({ length: runs }, (_, at) => first + at)
  const totals = { operations: 0, unanswered: 0, violations: 0, disagreements: 0 }
  try {
    while (seeds.length > 0) {
      const some = seeds.splice(0, backend.together)
      const histories = await backend.record(some)
      const second = porcupine.missing === undefined ? await judge(porcupine, histories) : undefined
      histories.forEach((history, at) => {
        const { isLinearizable } = checkLinearizable(history)
        totals.operations += history.length
        totals.unanswered += history.filter(({ output }) => output.outcome === 'unknown').length
        if (second !== undefined && second[at] !== isLinearizable) totals.disagreements++
        if (isLinearizable && second?.[at] !== false) return
        totals.violations++
        console.log(`${name}: seed ${some[at]} is not linearizable: ${keep(name, some[at]!, history)}`)
      })
    }
  } finally {
    await backend.close()
  }
  console.log(`${name}: ${runs} histories from seed ${first}, ${JSON.stringify({ ...totals, faults: backend.faults })}`)
  return totals.violations + totals.disagreements
}

function keep(name: string, seed: number, history: readonly StorageOperation[]): string {
  const folder = join(process.cwd(), 'node_modules/.cache/histories')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}-${seed}.json`)
  writeFileSync(path, JSON.stringify(history))
  return path
}
