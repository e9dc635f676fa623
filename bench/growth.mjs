#!/usr/bin/env node
// `npm run bench:growth [-- --quick]`: how costs grow with stored objects and watchers. Prints tables, writes
// bench/results/growth.json and (without --quick) the plots and docs/reference/generated/performance/growth.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundleInside, runInside } from './lib/inside.mjs'
import { linePlot } from './lib/plot.mjs'
import { saveResults, writeReport } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const sizes = flags.quick ? [100, 1000] : [1000, 10_000, 100_000]
const watchers = flags.quick ? [10, 100] : [10, 100, 1000]
const folder = fileURLToPath(new URL('../docs/performance', import.meta.url))
const names = {
  create: 'create',
  get: 'get',
  list: 'list, limit 500',
  byLabel: 'list by label, 100',
  apply: 'apply, create',
  authorization: 'authorization, bindings',
}

const about = `Costs in one process without sockets, in processor time of all its threads; a request that does not depend on what is stored costs the
same in every column. A list by label selects about 100 objects.`
const images = ['requests', 'authorization', 'watch', 'memory'].map((name) => `![${name}](${name}.svg)`).join('\n\n')

const program = await bundleInside('growth-main')
const found = sizes.map((objects) => {
  process.stderr.write(`measuring with ${objects} objects\n`)
  return runInside(program, {
    args: [`--objects=${objects}`, `--watchers=${watchers.join(',')}`],
    nodeFlags: ['--expose-gc'],
  })
})
saveResults('growth', { runs: found })
const table = costTable()
process.stdout.write(table)
if (!flags.quick) {
  plot()
  writeReport('growth', { title: 'Growth', command: 'npm run bench:growth', text: `${about}\n\n${images}\n\n${table}` })
}

function costTable() {
  const head = ['processor time in µs', ...sizes.map((size) => `${figure(size)} objects`)]
  const rows = Object.entries(names).map(([key, name]) => [name, ...found.map(({ figures }) => figure(figures[key]))])
  const watched = watchers.map((count, at) => [
    `watch event, ${figure(count)} watchers, each`,
    ...found.map(({ watches }) => figure(watches[at].microseconds)),
  ])
  const memory = ['memory of the objects, MiB', ...found.map(({ memoryMiB }) => figure(memoryMiB))]
  return markdownTable(head, [...rows, ...watched, memory])
}

function plot() {
  mkdirSync(folder, { recursive: true })
  const line = (key) => ({ name: names[key], points: found.map(({ objects, figures }) => [objects, figures[key]]) })
  const write = (name, of) => writeFileSync(join(folder, `${name}.svg`), linePlot(of))
  const cost = 'processor time, µs'
  write('requests', {
    title: 'Cost of a request',
    x: 'stored objects of 1.2 KB',
    y: cost,
    lines: ['create', 'get', 'list', 'byLabel', 'apply'].map(line),
  })
  write('authorization', {
    title: 'Cost of a decision',
    x: 'role bindings, each of another user',
    y: cost,
    lines: [line('authorization')],
  })
  write('watch', {
    title: 'Cost of an event for each watcher, with its share of the creation',
    x: 'watchers',
    y: cost,
    lines: found.map(({ objects, watches }) => ({
      name: `${figure(objects)} objects`,
      points: watches.map(({ watchers: count, microseconds }) => [count, microseconds]),
    })),
  })
  write('memory', {
    title: 'Memory of objects of 1.2 KB, with their history',
    x: 'stored objects',
    y: 'heap and buffers, MiB',
    lines: [{ name: 'memory', points: found.map(({ objects, memoryMiB }) => [objects, memoryMiB]) }],
  })
}
