import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { memoryStorage } from '../../packages/storage/src/memory/memory-storage.ts'
import { checkLinearizable } from '../../packages/storage/src/testing/linearizability/check-linearizable.ts'
import { clientOf } from '../../packages/storage/src/testing/linearizability/history-client.ts'
import { plantedViolations } from '../../packages/storage/src/testing/linearizability/planted-violations.ts'
import { recordHistory } from '../../packages/storage/src/testing/linearizability/record-history.ts'
import { briefly } from './backends/backend.ts'
import { backends } from './backends/index.ts'
import { judge, porcupineProgram } from './porcupine.ts'

/** Runs of each backend; `npm run histories` does more. */
const seeds = [1, 2, 3]
const porcupine = await porcupineProgram()
const withoutPorcupine = porcupine.missing === undefined ? '' : ` (without porcupine: ${porcupine.missing})`

describe(`recorded histories with faults${withoutPorcupine}`, () => {
  let folder = ''
  beforeAll(async () => {
    // Below the package, whose optional packages the program needs.
    const cache = join(process.cwd(), 'packages/storage/node_modules/.cache')
    await mkdir(cache, { recursive: true })
    folder = await mkdtemp(join(cache, 'histories-'))
    const bundle = await rolldown({
      input: join(process.cwd(), 'tests/histories/serve-store-main.ts'),
      platform: 'node',
      external: ['lmdb'],
      resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
      logLevel: 'silent',
    })
    await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' })
    await bundle.close()
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  for (const [name, open] of Object.entries(backends)) {
    const isMissing = name === 'etcd' && etcdProgram() === undefined
    it.skipIf(isMissing)(`are linearizable on ${name}${isMissing ? `: ${withoutEtcd}` : ''}`, async () => {
      const backend = await open({ program: join(folder, 'main.mjs') })
      if (typeof backend === 'string') throw new Error(backend)
      try {
        const histories = await backend.record(seeds)
        for (const [at, history] of histories.entries()) {
          expect(checkLinearizable(history), `seed ${seeds[at]}`).toMatchObject({ isLinearizable: true })
        }
        if (porcupine.missing === undefined) expect(await judge(porcupine, histories)).toEqual(seeds.map(() => true))
      } finally {
        await backend.close()
      }
    })
  }

  it.skipIf(porcupine.missing !== undefined)('with planted violations are rejected by porcupine as well', async () => {
    const histories = []
    for (const plant of Object.values(plantedViolations)) {
      const fresh = memoryStorage()
      const clients = plant(Array.from({ length: 6 }, () => clientOf(fresh)))
      histories.push(await recordHistory({ clients, seed: 1, pause: briefly }))
      await fresh.close()
    }
    expect(await judge(porcupine, histories)).toEqual(histories.map((history) => checkLinearizable(history).isLinearizable))
    expect(histories.filter((history) => !checkLinearizable(history).isLinearizable).length).toBeGreaterThanOrEqual(4)
  })
})
