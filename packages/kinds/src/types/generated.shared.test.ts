import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const model = fileURLToPath(new URL('../../../../../shared/model/', import.meta.url))

it.skipIf(!existsSync(model))(
  'the data equals that of the model (needs the shared folder with model/)',
  () => {
    const script = fileURLToPath(new URL('../../../../scripts/run.mjs', import.meta.url))
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'import-model', '--check'], { encoding: 'utf8' })
    expect([status, stdout.trim(), stderr]).toEqual([0, 'the data is up to date', ''])
  },
  30_000,
)
