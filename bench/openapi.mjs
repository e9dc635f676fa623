#!/usr/bin/env node
// `node bench/openapi.mjs`: the cost of OpenAPI documents, and their delay after a changed definition, in one process.
// Prints tables and writes bench/results/openapi.json.
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const program = await bundleInside('openapi-main')
const run = (definitions) => runInside(program, { args: [`--definitions=${definitions}`], nodeFlags: ['--expose-gc'] })
const found = [0, 1, 500].map(run)
saveResults('openapi', found)
const row = (name, of, unit) => [name, ...found.map((each) => (of(each) === undefined ? '' : figure(of(each), unit)))]
process.stdout.write(
  `${markdownTable(
    ['figure', ...found.map(({ definitions }) => `${definitions} definitions`)],
    [
      row('index of version 3, cold', (f) => f.indexMs, 'ms'),
      row('document of core/v1, cold', (f) => f.coreMs, 'ms'),
      row('the same in protobuf', (f) => f.coreProtobufMs, 'ms'),
      row('document of a custom group, cold', (f) => f.customMs, 'ms'),
      row('document of version 2, cold', (f) => f.v2Ms, 'ms'),
      row('the same in protobuf', (f) => f.v2ProtobufMs, 'ms'),
      row('a busy turn of the event loop meanwhile, 9 of 10', (f) => f.mostlyMs, 'ms'),
      row('the longest', (f) => f.heldUpMs, 'ms'),
      row('a changed definition is in discovery after', (f) => f.follow?.discoveryMs, 'ms'),
      row('in the index after', (f) => f.follow?.indexMs, 'ms'),
      row('in its document after', (f) => f.follow?.documentMs, 'ms'),
      row('in the document of version 2 after', (f) => f.follow?.v2Ms, 'ms'),
      row('memory of all of version 3', (f) => f.v3MiB, 'MiB'),
      row('memory of version 2, both forms', (f) => f.v2MiB, 'MiB'),
    ],
  )}\n`,
)
