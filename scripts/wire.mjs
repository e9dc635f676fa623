#!/usr/bin/env node
// `npm run wire -- OPTIONS`: replays the recordings of ../shared/wire against the server and prints a table.
//
//   --folder NAME     only this folder; may be repeated
//   --scenario TEXT   only scenarios whose file name contains the text; may be repeated
//   --list-failures   print every failing step with its differences
//   --wording         also compare texts
//   --allow FILE      steps that may fail: one `folder/scenario/step` per line, `*` matches any part, # starts a comment
//   --json FILE       write the complete result
//   --jobs N          number of parallel servers for scenarios of the same flags; default 6
//   --storage KIND    memory, durable or etcd; default memory. For etcd the program is named by KRMKIT_ETCD or on the path.
//   --threads N       workers that follow the storage over a socket and serve the requests; default 0: the server itself
//
// Scenarios with server flags run against a server with these flags. Scenarios that need the webhook server or a compacted history run when
// WIRE_HAVE names it or this script can provide it.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle, bundleFile } from './bundle.mjs'
import { setup } from './setup.mjs'
import { controllersOf, replayOptions, scenarioFile } from './wire/replay.mjs'

const shared = fileURLToPath(new URL('../../shared/wire/', import.meta.url))
const tokens = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid,"dev,ops"
node1-token,system:node:node-1,node1-uid,"system:nodes"
`

/**
 * Scenarios that depend on the clock: one of their steps is a no-op only within the second of the step before it, as the server stamps
 * conditions with whole seconds, or their webhooks answer shortly before a limit. They are replayed again at the end when they fail, as are
 * those that wait.
 */
const boundToTheClock = new Set(['admission/webhook-timeouts', 'auth/csr-approval'])

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    'list-failures': { type: 'boolean', default: false },
    wording: { type: 'boolean', default: false },
    allow: { type: 'string' },
    json: { type: 'string' },
    jobs: { type: 'string', default: '6' },
    storage: { type: 'string', default: 'memory' },
    threads: { type: 'string', default: '0' },
  },
})

const jobs = Number(options.jobs)
/** Whether a step, `folder/scenario/step`, may fail. */
const allowed = options.allow === undefined ? () => false : allowList(options.allow)
if (!['memory', 'durable', 'etcd'].includes(options.storage)) {
  console.error(`wire: unknown storage ${options.storage}: memory, durable or etcd`)
  process.exit(2)
}

/** Kills the children when this script exits for any reason. */
const children = new Set()
const folders = new Set()
function start(args, options, program = process.execPath) {
  const child = spawn(program, args, options)
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

if (!existsSync(join(shared, 'wire.mjs'))) {
  console.log('wire: no recordings in ../shared/wire; nothing was checked')
  process.exit(0)
}
setup()
bundle()
process.exitCode = await main()

async function main() {
  const groups = groupScenarios(chosenScenarios())
  const rows = new Map()
  const reports = []
  for (const result of await Promise.all(groups.map(checkGroup))) {
    for (const { folder, report } of result) {
      const row = rows.get(folder) ?? { passed: 0, failed: 0, allowed: 0, skipped: 0, wordingSame: 0, wordingAll: 0 }
      rows.set(folder, row)
      row.skipped += report.skipped
      row.wordingSame += report.wordingSame
      row.wordingAll += report.wordingAll
      for (const step of report.report) {
        const name = `${step.scenario}/${step.step}`
        reports.push({ name, ...step })
        if (step.ok) row.passed++
        else if (allowed(name)) row.allowed++
        else row.failed++
        if (options['list-failures'] && !step.ok) printDifferences(`${allowed(name) ? 'allowed' : 'FAIL'} ${name}`, step.diffs)
        if (options.wording && step.wording.length > 0) printDifferences(`wording ${name}`, step.wording)
      }
    }
  }
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(reports, null, 1))
  return printTable(new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The selected files, by folder. */
function chosenScenarios() {
  const chosen = []
  for (const folder of readdirSync(join(shared, 'scenarios')).sort()) {
    if (options.folder !== undefined && !options.folder.includes(folder)) continue
    for (const name of readdirSync(join(shared, 'scenarios', folder)).sort()) {
      if (!name.endsWith('.json')) continue
      if (options.scenario !== undefined && !options.scenario.some((text) => basename(name, '.json').includes(text))) continue
      const file = join(shared, 'scenarios', folder, name)
      const scenario = JSON.parse(readFileSync(file, 'utf8'))
      const title = `${folder}/${basename(name, '.json')}`
      const { flags = [], needs = [], steps } = scenario
      const controllers = controllersOf(title, scenario)
      chosen.push({
        folder,
        file,
        name: title,
        flags: flags.join(' '),
        needs: needs.join(','),
        controllers,
        waitMs: waitOf(steps),
      })
    }
  }
  return chosen
}

/** How long the steps wait at most, in ms. A watch that names no limit ends after four seconds. */
function waitOf(steps) {
  return steps.reduce((sum, { sleepMs = 0, watch }) => sum + sleepMs + (watch === undefined ? 0 : (watch.timeoutMs ?? 4000)), 0)
}

/** One group for each set of flags, requirements and controllers; a group shares servers. */
function groupScenarios(scenarios) {
  const groups = new Map()
  for (const scenario of scenarios) {
    const { flags, needs, controllers } = scenario
    const key = `${flags}|${needs}|${controllers}`
    const group = groups.get(key) ?? { flags, needs, controllers, scenarios: [] }
    groups.set(key, group)
    group.scenarios.push(scenario)
  }
  return [...groups.values()]
}

/** Distributes the scenarios over several servers, which mostly wait; those that wait longest come first. */
async function checkGroup({ flags, needs, controllers, scenarios }) {
  const webhook = needs.includes('webhook-server') ? await startWebhook() : { stop: () => undefined }
  if (webhook === undefined) return scenarios.map(skipped)
  const queue = scenarios.toSorted((a, b) => b.waitMs - a.waitMs)
  const results = []
  const work = async () => {
    const directory = mkdtempSync(join(tmpdir(), 'krmkit-wire-'))
    folders.add(directory)
    writeFileSync(join(directory, 'tokens.csv'), tokens)
    const compaction = needs.includes('compaction') ? '--etcd-compaction-interval=5s' : ''
    const server = await startServer(directory, [flags, compaction, controllers].join(' ').trim())
    const able = server !== undefined && (!needs.includes('compaction') || (await compacted(server.url)))
    for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
      if (!able) {
        results.push(skipped(scenario))
        continue
      }
      const report = await check(scenario, { url: server.url, directory })
      if (isTimedFailure(scenario, report)) {
        console.log(`wire: ${scenario.name} failed and is replayed again at the end: it depends on when its steps arrive`)
        queue.push({ ...scenario, attempt: (scenario.attempt ?? 1) + 1 })
      } else results.push({ folder: scenario.folder, report })
    }
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
    folders.delete(directory)
  }
  await Promise.all(Array.from({ length: Math.min(jobs, Math.ceil(scenarios.length / 2)) }, work))
  await webhook.stop()
  return results
}

function check({ name, file, flags, needs }, { url, directory }) {
  const scenario = JSON.parse(readFileSync(file, 'utf8'))
  const prepared = { file: scenarioFile(name, { file, scenario, directory }), nodeOptions: replayOptions(name, scenario) }
  return replay({ url, flags, needs, ...prepared })
}

/** Whether a scenario is to be replayed again: it depends on when its steps arrive, and failed for less than the third time. */
function isTimedFailure({ name, waitMs, attempt = 1 }, report) {
  const isTimed = boundToTheClock.has(name) || waitMs > 0
  return isTimed && attempt < 3 && report.report.some(({ ok, step }) => !ok && !allowed(`${name}/${step}`))
}

function replay({ url, flags, needs, file, nodeOptions }) {
  const how = [
    'check',
    '--server',
    url,
    '--json',
    ...(flags === '' ? [] : ['--flags', flags]),
    ...(needs === '' ? [] : ['--have', needs]),
  ]
  const child = start([...nodeOptions, join(shared, 'wire.mjs'), ...how, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 || code === 1 ? resolve(JSON.parse(text)) : reject(new Error(`the replay of ${file} broke off`)),
    )
  })
}

function skipped({ folder, file }) {
  const steps = Object.keys(JSON.parse(readFileSync(file, 'utf8')).expected ?? {}).length
  return { folder, report: { skipped: steps, wordingSame: 0, wordingAll: 0, report: [] } }
}

/** Starts an etcd for one server, on free ports. */
async function startEtcd(directory) {
  const [clientUrl, peerUrl] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`)
  const args = [
    ...['--data-dir', `${directory}/etcd`, '--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl, '--initial-cluster', `default=${peerUrl}`],
    // The data of a test need not survive the machine.
    ...['--log-level', 'fatal', '--unsafe-no-fsync'],
  ]
  const child = start(args, { stdio: ['ignore', 'ignore', 'inherit'] }, process.env.KRMKIT_ETCD || 'etcd')
  child.once('error', (error) => {
    console.error(`wire: etcd cannot be started: ${error.message}`)
    process.exit(1)
  })
  return { flags: [`--etcd-servers=${clientUrl}`], stop: stopper(child).stop }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Starts the server on a free port; undefined when it does not support one of the flags. */
async function startServer(directory, flags) {
  const etcd = options.storage === 'etcd' ? await startEtcd(directory) : { flags: [], stop: () => undefined }
  const own = [
    'serve',
    '--secure-port=0',
    `--data-dir=${directory}/data`,
    `--token-auth-file=${directory}/tokens.csv`,
    `--storage=${options.storage}`,
    `--threads=${options.threads}`,
    ...etcd.flags,
    '--enable-bootstrap-token-auth',
    '--authorization-mode=Node,RBAC',
  ]
  const child = start([bundleFile, ...own, ...flags.split(' ').filter((flag) => flag !== '')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = stopper(child)
  const stopBoth = async () => {
    await stop.stop()
    await etcd.stop()
  }
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const url = await firstMatch(child, /serves (https:\/\/\S+?);?(?:\s|$)/)
  if (url === undefined) {
    console.log(`wire: the server does not start with ${flags === '' ? 'no flags' : flags}: ${errors.trim().split('\n')[0]}`)
    if (flags === '') process.exit(1)
    await etcd.stop()
    return undefined
  }
  child.on('exit', (code) => {
    if (!stop.asked) console.log(`wire: the server exited (${code}): ${errors.slice(-2000)}`)
  })
  return { url, stop: stopBoth }
}

async function startWebhook() {
  const child = start([join(shared, 'webhook-server.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ready = await Promise.race([
    firstMatch(child, /(\S)/),
    new Promise((resolve) => setTimeout(() => resolve('silent'), 1000)),
  ])
  if (ready === undefined) {
    console.log('wire: the webhook server does not start (is its port in use?)')
    return undefined
  }
  return { stop: stopper(child).stop }
}

/** Waits until revision 1 is compacted. */
async function compacted(url) {
  const path = '/api/v1/namespaces?resourceVersion=1&resourceVersionMatch=Exact'
  for (let tries = 0; tries < 60; tries++) {
    if ((await statusOf(url + path)) === 410) return true
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return false
}

function statusOf(url) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer admin-token' }
    get(url, { headers, rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
}

function firstMatch(child, pattern) {
  return new Promise((resolve) => {
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      seen += text
      const match = pattern.exec(seen)
      if (match !== null) resolve(match[1])
    })
    child.once('exit', () => resolve(undefined))
  })
}

function stopper(child) {
  const state = {
    asked: false,
    stop: () => {
      state.asked = true
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 5000).unref()
      return gone
    },
  }
  return state
}

function allowList(file) {
  const patterns = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map(
      (line) =>
        new RegExp(
          `^${line
            .split('*')
            .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
            .join('[^/]*')}$`,
        ),
    )
  return (name) => patterns.some((pattern) => pattern.test(name))
}

function printDifferences(title, differences) {
  const short = (value) => {
    const text = JSON.stringify(value) ?? 'absent'
    return text.length > 200 ? `${text.slice(0, 197)}...` : text
  }
  console.log(title)
  for (const { at, want, got } of differences.slice(0, 12))
    console.log(`   ${at || '(whole)'}: want ${short(want)}, got ${short(got)}`)
}

/** @returns the exit code. */
function printTable(rows) {
  const names = ['passed', 'failed', 'allowed', 'skipped']
  const total = { passed: 0, failed: 0, allowed: 0, skipped: 0, wordingSame: 0, wordingAll: 0 }
  console.log(`${'folder'.padEnd(12)}${names.map((name) => name.padStart(9)).join('')}   wording`)
  const line = (name, row) =>
    console.log(
      `${name.padEnd(12)}${names.map((key) => String(row[key]).padStart(9)).join('')}   ${row.wordingSame}/${row.wordingAll}`,
    )
  for (const [folder, row] of rows) {
    line(folder, row)
    for (const key of Object.keys(total)) total[key] += row[key]
  }
  line('total', total)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 ? 0 : 1
}
