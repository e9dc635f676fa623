#!/usr/bin/env node
// `node bench/authentication.mjs [--quick]`: requests with each authenticator, compared with anonymous
// requests; the server without sockets, and over TLS in a separate process.
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { throughput } from './lib/https-load.mjs'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const clients = 16
const rounds = flags.quick ? 1 : 5
const requests = flags.quick ? 500 : 6000

const program = await bundleInside('authentication-main')
const inside = runInside(program, { args: ['--requests', flags.quick ? '500' : '20000'] })
const outside = await measureOutside()
const [anonymous] = inside
const rows = inside.map(({ name, microseconds }) => {
  const overTls = outside.get(name)
  return {
    name,
    microseconds,
    addedMicroseconds: microseconds - anonymous.microseconds,
    overTlsMicroseconds: overTls,
    perSecond: 1_000_000 / overTls,
    slowerPercent: (1 - outside.get('anonymous') / overTls) * 100,
  }
})
const head = ['authentication', 'in the server', 'vs. anonymous', 'over TLS', 'maximum rate', 'decrease vs. anonymous']
const cells = rows.map(({ name, microseconds, addedMicroseconds, overTlsMicroseconds, perSecond, slowerPercent }) => [
  name,
  `${figure(microseconds)} µs`,
  `${figure(addedMicroseconds)} µs`,
  `${figure(overTlsMicroseconds)} µs`,
  `${figure(perSecond)}/s`,
  `${slowerPercent.toFixed(1)} %`,
])
process.stdout.write(`Server CPU time per GET; TLS with ${clients} kept connections.\n\n${markdownTable(head, cells)}`)
if (!flags.quick) saveResults('authentication', { clients, rows })

/** Server CPU microseconds per GET, by method: the best of several alternating rounds. */
async function measureOutside() {
  const child = spawn(process.execPath, [program, '--serve'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const used = async () => {
    child.stdin.write('used\n')
    return Number((await lines.next()).value)
  }
  try {
    const { url, ca, path, methods } = JSON.parse((await lines.next()).value)
    const best = new Map()
    for (let round = 0; round < rounds; round++) {
      for (const { name, headers, certificate, key } of methods) {
        const agent = new Agent({ keepAlive: true, maxSockets: clients, ca, cert: certificate, key })
        const get = () => send(`${url}${path}`, { agent, headers })
        // Excludes TLS handshakes from the measurement.
        await throughput(clients * 4, clients, get)
        const from = await used()
        await throughput(requests, clients, get)
        best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, ((await used()) - from) / requests))
        agent.destroy()
      }
    }
    return best
  } finally {
    child.stdin.end()
  }
}

function send(url, options) {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      response.on('data', () => undefined)
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`HTTP ${response.statusCode}`))))
    })
    sent.on('error', reject)
    sent.end()
  })
}
