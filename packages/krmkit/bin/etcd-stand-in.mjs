#!/usr/bin/env node
// Stands in for etcd where a test harness insists on starting one: says that it is well, and stores nothing, because krmkit keeps
// the data of tests in its own memory.
import { createServer } from 'node:http'

const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) {
  console.log('usage: etcd --listen-client-urls=URL\n\nStands in for etcd: answers /health, stores nothing.')
  process.exit(0)
}
const flag = '--listen-client-urls'
const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
const value = at < 0 ? undefined : args[at].startsWith(`${flag}=`) ? args[at].slice(flag.length + 1) : args[at + 1]
const url = new URL((value ?? 'http://127.0.0.1:2379').split(',')[0])
const server = createServer((request, response) => {
  const healthy = request.url === '/health'
  response.writeHead(healthy ? 200 : 404, { 'content-type': 'application/json' })
  response.end(healthy ? '{"health":"true","reason":""}' : '{"error":"nothing is stored here","code":5}')
})
server.on('error', (error) => {
  console.error(`etcd: ${error.message}`)
  process.exit(1)
})
server.listen(Number(url.port), url.hostname)
// A harness that was killed stops nobody.
const parent = Number(process.env.KRMKIT_PARENT ?? process.ppid)
setInterval(() => process.ppid === parent || process.exit(0), 1000).unref()
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
