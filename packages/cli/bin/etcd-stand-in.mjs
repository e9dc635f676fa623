#!/usr/bin/env node
// Stand-in for the etcd that test harnesses start: reports that it is healthy and stores nothing, because krmkit keeps the data of tests in
// memory.
import { createServer } from 'node:http'

const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) {
  console.log('usage: etcd --listen-client-urls=URL\n\nStand-in for etcd: answers /health and stores nothing.')
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
// Exits with its parent: a killed harness does not stop its processes.
const parent = Number(process.env.KRMKIT_PARENT ?? process.ppid)
setInterval(() => process.ppid === parent || process.exit(0), 1000).unref()
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
