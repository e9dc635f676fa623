/** A small load generator over TLS sockets in the measuring process; the server runs in a separate process. */
import { Agent, request } from 'node:https'
import { token } from './server-process.mjs'

/** @returns a function that sends one request and resolves to its body; it throws for error statuses. */
export function caller(url, clients) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients, rejectUnauthorized: false })
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      const sent = request(url + path, { method, headers, agent }, (response) => {
        const pieces = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('end', () => {
          const bytes = Buffer.concat(pieces)
          if (response.statusCode < 300) resolve(bytes)
          else reject(new Error(`${method} ${path}: HTTP ${response.statusCode} ${bytes.toString().slice(0, 300)}`))
        })
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return { call, close: () => agent.destroy() }
}

/** Runs `operation(i)` for i below `total`, with `clients` concurrent clients; resolves to operations per second. */
export async function throughput(total, clients, operation) {
  let next = 0
  const from = performance.now()
  const work = async () => {
    for (let i = next++; i < total; i = next++) await operation(i)
  }
  await Promise.all(Array.from({ length: clients }, work))
  return (total / (performance.now() - from)) * 1000
}

/** Watches that are opened at the same time; a server limits the handshakes in progress. */
const openedAtOnce = 100

/**
 * Opens watches on one collection, creates `events` objects, and resolves to deliveries per second and the processor time of the server
 * for each, in microseconds.
 */
export async function fanOut({ server, call, collection, body, watchers, events }) {
  const { url } = server
  const list = JSON.parse((await call('GET', `${collection}?limit=1`)).toString())
  const agent = new Agent({ keepAlive: true, maxSockets: watchers, rejectUnauthorized: false })
  const path = `${collection}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
  let opened = []
  const finished = []
  for (let w = 0; w < watchers; w++) {
    if (w % openedAtOnce === 0) {
      await Promise.all(opened)
      opened = []
    }
    opened.push(
      new Promise((resolve, reject) => {
        const sent = request(url + path, { headers: { authorization: `Bearer ${token}` }, agent }, (response) => {
          let seen = 0
          finished.push(
            new Promise((done) => {
              response.on('data', (piece) => {
                for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) seen++
                if (seen >= events) done()
              })
              response.on('error', () => done())
            }),
          )
          resolve()
        })
        sent.on('error', reject)
        sent.end()
      }),
    )
  }
  await Promise.all(opened)
  const cpuFrom = server.cpuSeconds()
  const from = performance.now()
  await throughput(events, 8, (i) => call('POST', collection, body(i)))
  await Promise.all(finished)
  const seconds = (performance.now() - from) / 1000
  agent.destroy()
  const deliveries = watchers * events
  return { perSecond: deliveries / seconds, cpuMicroseconds: ((server.cpuSeconds() - cpuFrom) / deliveries) * 1e6 }
}
