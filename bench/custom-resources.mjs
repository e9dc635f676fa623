#!/usr/bin/env node
// `node bench/custom-resources.mjs [-- --aggregation]`: definitions and their objects, in one process. Prints a table
// and writes bench/results/custom-resources.json.
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const program = await bundleInside('custom-resources-main')
const args = process.argv.slice(2).filter((arg) => arg !== '--')
const found = runInside(program, { args, nodeFlags: ['--expose-gc'] })
const alone = runInside(program, { args: [...args, '--definitions=1', '--objects=1'], nodeFlags: ['--expose-gc'] })
saveResults('custom-resources', { ...found, followsAlone: alone.follows })
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
      ['creates of a custom resource with 40 fields', `${figure(found.custom)}/s`],
      ['creates of a ConfigMap of the same size', `${figure(found.configMaps)}/s`],
    ],
  )}\n`,
)
const events = ['Made', 'Changed', 'Removed']
const documents = { group: 'list of its group version', aggregated: 'aggregated discovery', openapi: 'index of OpenAPI v3' }
const follows = (of, document) => events.map((event) => `${figure(of.follows[`${document}${event}`])}`).join(' / ')
process.stdout.write(
  `\n${markdownTable(
    ['a definition that is made / changed / removed is in', 'beside one, ms', `beside ${found.count}, ms`],
    Object.entries(documents).map(([document, name]) => [name, follows(alone, document), follows(found, document)]),
  )}\n`,
)
