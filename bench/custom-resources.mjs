#!/usr/bin/env node
// `node bench/custom-resources.mjs [-- --aggregation]`: definitions at run time and their objects, inside one process. Prints a table
// and writes bench/results/custom-resources.json.
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const found = runInside(await bundleInside('custom-resources-main'), {
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  nodeFlags: ['--expose-gc'],
})
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
