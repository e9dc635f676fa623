#!/usr/bin/env node
// `npm run bench:stalls [-- --scale 0.1 --only NAME --prof]`: how long each expensive request delays a GET beside it, in one process
// without sockets. Prints a table and writes bench/results/stalls.json;
// a run of all rows also writes docs/reference/generated/performance/waits.md.
import { parseArgs } from 'node:util'
import { bundleInside, profiling, runInside } from './lib/inside.mjs'
import { saveResults, writeReport } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    prof: { type: 'boolean', default: false },
  },
})
const program = await bundleInside('stalls-main')
const found = runInside(program, {
  args: [`--scale=${values.scale}`, `--only=${values.only}`],
  nodeFlags: values.prof ? profiling : [],
})
saveResults('stalls', { scale: Number(values.scale), rows: found })
const table = markdownTable(
  ['request', 'longest wait ms', '99 of 100 ms', 'processor time ms'],
  found.map(({ name, longestMs, p99Ms, cpuMs }) => [name, figure(longestMs), figure(p99Ms), figure(cpuMs)]),
)
process.stdout.write(table)
const about = `A GET of a small object is due every 2 ms while the request runs, with the default controllers in the same process. Of elapsed time and
processor time of the main thread the shorter counts; times include pauses of garbage collection. Requests that create many objects and
deletions include the work of the controllers.`
// Measured by hand, since all rows at this scale take an hour.
const rollOut = `With \`--scale 1 --only roll-out\`, 5 000 deployments are created one after the other and rolled out in 29.8 s of processor time. A GET
beside them waits 7.75 ms in 99 of 100 cases and 34.5 ms at most (2026-11-23, beside other load of 15 to 25).`
if (values.only === '')
  writeReport('waits', { title: 'Waits', command: 'npm run bench:stalls', text: `${about}\n\n${table}\n${rollOut}` })
