import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RandomChoices } from '@krmkit/base/random-choices'
import type { WireClient } from '../harness/client.ts'
import { type AttackContext, type Family, threaded } from '../harness/family.ts'
import { startTarget } from '../harness/target.ts'

/** Addresses of the machine itself in the status of pods and nodes and in endpoints, in every notation that some reader takes. */

const core = '/api/v1/namespaces/default'

function ipv4Bytes(random: RandomChoices): readonly number[] {
  const any = () => random.below(256)
  return random.pick([
    () => [127, 0, 0, 1],
    () => [127, any(), any(), any()],
    () => [0, 0, 0, 0],
    () => [169, 254, any(), any()],
    () => [169, 254, 169, 254],
  ])()
}

function numberText(value: number, random: RandomChoices): string {
  return random.pick([
    () => `${value}`,
    () => `0${value.toString(8)}`,
    () => `${'0'.repeat(1 + random.below(4))}${value}`,
    () => `0x${value.toString(16)}`,
    () => `0X${'0'.repeat(random.below(3))}${value.toString(16).toUpperCase()}`,
  ])()
}

/** One to four numbers, as `inet_aton` reads them, with what readers of URLs remove. */
function ipv4Text(bytes: readonly number[], random: RandomChoices): string {
  const kept = random.pick([4, 4, 4, 3, 2, 1])
  const rest = bytes.slice(kept - 1).reduce((sum, byte) => sum * 256 + byte, 0)
  const text = [...bytes.slice(0, kept - 1), rest].map((value) => numberText(value, random)).join('.')
  return random.pick([
    ...Array.from({ length: 12 }, () => () => text),
    () => `${text}.`,
    () => ` ${text}`,
    () => `${text}\t`,
    () => `a@${text}`,
    () => `${text}#`,
    () => `${text}/`,
    () => `${text}?`,
    () => [...text].map((each) => (/\d/.test(each) ? String.fromCodePoint(0xff10 + Number(each)) : each)).join(''),
    () => text.replace(/\d/, (digit) => `%3${digit}`),
    () => text.replaceAll('.', '\u3002'),
  ])()
}

function ipv6Text(random: RandomChoices): string {
  const v4 = ipv4Bytes(random)
  const hex = (at: number) => (((v4[at] ?? 0) << 8) | (v4[at + 1] ?? 0)).toString(16)
  const text = random.pick([
    () => '::1',
    () => '::',
    () => '0:0:0:0:0:0:0:1',
    () => '0000:0000::0001',
    () => `fe80::${random.below(65_536).toString(16)}`,
    () => `FEBF::${random.below(65_536).toString(16)}`,
    () => `::ffff:${v4.join('.')}`,
    () => `::FFFF:${hex(0)}:${hex(2)}`,
    () => `0:0:0:0:0:ffff:${hex(0)}:${hex(2)}`,
    () => `::${v4.join('.')}`,
    () => `::ffff:${ipv4Text(v4, random)}`,
  ])()
  return random.pick([
    ...Array.from({ length: 6 }, () => () => text),
    () => `[${text}]`,
    () => `${text}%lo`,
    () => `${text}%25lo`,
    () => ` ${text}`,
  ])()
}

/** Puts the address where a request is sent to. @returns the paths that lead there, or the refusal */
type Place = (admin: WireClient, address: string, port: number) => Promise<readonly string[] | undefined>

const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }

async function patchedStatus(admin: WireClient, target: string, status: object): Promise<boolean> {
  const body = JSON.stringify({ status })
  return (await admin.send({ method: 'PATCH', target: `${target}/status`, headers: merge, body })).status < 300
}

const places: Readonly<Record<string, Place>> = {
  async 'of a pod'(admin, ip, port) {
    if (!(await patchedStatus(admin, `${core}/pods/p`, { podIP: ip, podIPs: [{ ip }] }))) return undefined
    return [`${core}/pods/p:${port}/proxy/x`, `${core}/pods/http:p:${port}/proxy/x`]
  },
  async 'of a node'(admin, address, port) {
    const kubelet = { daemonEndpoints: { kubeletEndpoint: { Port: port } } }
    const addresses = ['InternalIP', 'Hostname', 'ExternalIP'].map((type) => ({ type, address }))
    if (!(await patchedStatus(admin, '/api/v1/nodes/n', { ...kubelet, addresses }))) return undefined
    // Logs and commands may reach a kubelet of this machine, as in kube-apiserver.
    return [`/api/v1/nodes/http:n:${port}/proxy/x`, `/api/v1/nodes/n:${port}/proxy/x`, '/api/v1/nodes/n/proxy/x']
  },
  async 'of endpoints'(admin, ip, port) {
    const subsets = [{ addresses: [{ ip }], ports: [{ port }] }]
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's' }, subsets })
    const { status } = await admin.send({ method: 'PUT', target: `${core}/endpoints/s`, headers: json, body })
    return status < 300 ? [`${core}/services/s/proxy/x`] : undefined
  },
}

async function prepare(admin: WireClient): Promise<void> {
  const create = async (target: string, object: object) => {
    const { status, text } = await admin.send({ method: 'POST', target, headers: json, body: JSON.stringify(object) })
    if (status !== 201) throw new Error(`${target} is answered with ${status}: ${text.slice(0, 300)}`)
  }
  await create('/api/v1/nodes', { metadata: { name: 'n' } })
  await create(`${core}/pods`, { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } })
  await create(`${core}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  await create(`${core}/endpoints`, { metadata: { name: 's' } })
}

/** A service of this machine alone, as others have: it must not be reached. */
async function localService(): Promise<{ readonly port: number; reached(): number; close(): void }> {
  let reached = 0
  const servers: Server[] = []
  const listen = async (host: string, port: number) => {
    const server = createServer((_, response) => response.end('reached'))
    server.on('connection', () => reached++)
    servers.push(server)
    await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(port, host, resolve))
    return (server.address() as AddressInfo | null)?.port ?? port
  }
  const port = await listen('127.0.0.1', 0)
  // Absent where the machine has no IPv6.
  await listen('::1', port)
  return { port, reached: () => reached, close: () => servers.map((server) => server.close()) }
}

async function attack(context: AttackContext, flags: readonly string[]): Promise<void> {
  const { random, report, size } = context
  const service = await localService()
  try {
    await using target = await startTarget({ flags, prepare, timeoutMs: 5000 })
    const admin = target.admin()
    for (let i = 0; i < (size === 'full' ? 600 : 20); i++) {
      const address = random.chance(60) ? ipv4Text(ipv4Bytes(random), random) : ipv6Text(random)
      const name = random.pick(Object.keys(places))
      const paths = (await places[name]?.(admin, address, service.port)) ?? []
      const before = service.reached()
      const answers = []
      for (const path of paths) answers.push(await admin.send({ method: 'GET', target: path }))
      const wasReached = service.reached() > before || answers.some(({ status }) => status === 200)
      report.add({
        name: `${JSON.stringify(address)} ${name} ${flags.join(' ')}`,
        outcome: paths.length === 0 ? 'refused' : 'accepted',
        ...(wasReached ? { reason: 'a service of the machine is reached' } : {}),
      })
    }
  } finally {
    service.close()
  }
}

export const addresses: Family = {
  name: 'addresses',
  purpose: 'no notation of an address in a status leads to a service of the machine itself',
  run: (context) => threaded((flags) => attack(context, flags)),
}
