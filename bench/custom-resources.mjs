#!/usr/bin/env node
// `node bench/custom-resources.mjs [-- --aggregation]`: definitions at run time and their objects, inside one process. Prints a table
// and writes bench/results/custom-resources.json.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'bench/dist')
mkdirSync(out, { recursive: true })
const bundle = await rolldown({
  input: join(root, 'bench/src/custom-resources-main.ts'),
  platform: 'node',
  external: ['lmdb'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({
  dir: out,
  format: 'esm',
  entryFileNames: 'custom-resources.mjs',
  chunkFileNames: 'custom-resources-[name].mjs',
})
await bundle.close()
const args = ['--expose-gc', join(out, 'custom-resources.mjs'), ...process.argv.slice(2).filter((arg) => arg !== '--')]
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const found = JSON.parse(stdout.trim().split('\n').at(-1))
saveResults('custom-resources', found)
const ms = (value) => `${figure(value)} ms`
process.stdout.write(
  `${markdownTable(
    ['what', 'figure'],
    [
      [`${found.count} definitions made, all served`, ms(found.installMs)],
      ['processor time of that', ms(found.installCpuMs)],
      ['memory that they take', `${figure(found.heapMiB)} MiB`],
      ['memory of the process then', `${figure(found.rssMiB)} MiB`],
      ['start with them in the store', ms(found.startMs)],
      ['aggregated discovery, first time', ms(found.discoveryMs)],
      ['index of OpenAPI v3, first time', ms(found.openapiIndexMs)],
      ['OpenAPI v3 of one group version, first time', ms(found.openapiGroupMs)],
      ['a new definition in discovery after', ms(found.followMs)],
      ['creates of a custom resource with 40 fields', `${figure(found.custom)}/s`],
      ['creates of a ConfigMap of the same size', `${figure(found.configMaps)}/s`],
    ],
  )}\n`,
)
