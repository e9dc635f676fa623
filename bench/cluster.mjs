#!/usr/bin/env node
// `npm run bench:cluster -- [--schedule '*/10 * * * *'] [--nodes 3] [--processes 5] [--runs 4] [--prof]`: how long a day of cron jobs takes on a
// test server with simulated nodes, in new processes and in warm ones. --prof leaves CPU profiles in bench/dist/profiles.
import { parseArgs } from 'node:util'
import { bundleInside, profiling, runInside } from './lib/inside.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    schedule: { type: 'string', default: '*/10 * * * *' },
    nodes: { type: 'string', default: '3' },
    processes: { type: 'string', default: '5' },
    runs: { type: 'string', default: '4' },
    prof: { type: 'boolean', default: false },
  },
})
const program = await bundleInside('cluster-main', { folder: 'packages/storage/node_modules/.cache/bench' })
const args = ['--schedule', flags.schedule, '--nodes', flags.nodes, '--runs', flags.runs]
const nodeFlags = flags.prof ? profiling : []
const processes = Array.from({ length: Number(flags.processes) }, () => runInside(program, { args, nodeFlags }))
const best = (days) => days.reduce((least, day) => (day.cpuMs < least.cpuMs ? day : least))
const row = (name, { dayMs, cpuMs, jobs, requests }) => [name, figure(dayMs), figure(cpuMs), jobs, requests]
const rows = [
  row('first day of a process', best(processes.map(([first]) => first))),
  row('last day of a process', best(processes.map((days) => days.at(-1)))),
]
console.log(markdownTable([`${flags.schedule}, best of ${flags.processes}`, 'ms', 'ms CPU', 'jobs', 'requests'], rows))
