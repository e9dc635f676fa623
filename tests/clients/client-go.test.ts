import { RandomChoices } from '@krmkit/base/random-choices'
import { systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BreakingProxy, breakingProxy } from './support/breaking-proxy.ts'
import { makeTrouble } from './support/chaos.ts'
import { fastClock } from './support/fast-clock.ts'
import { goProgram } from './support/go-program.ts'
import { type LocalServer, startLocalServer } from './support/local-server.ts'
import { configMaps, namespaces } from './support/pens.ts'
import { runSeed } from './support/run-seed.ts'
import { run } from './support/tool.ts'

/**
 * Informers of client-go, in a small program that is built once (`go/client-go/`). Skipped without Go or a module proxy.
 */

const seed = runSeed()
const speed = 200

const program = await goProgram('client-go')

const requests: string[] = []
let local: LocalServer
let proxy: BreakingProxy

beforeAll(async () => {
  local = await startLocalServer({
    clock: fastClock(systemClock, speed),
    audit: ({ requestURI, responseStatus }) => void requests.push(`${requestURI} ${responseStatus?.code}`),
    limits: { requestTimeoutMs: 60_000 * speed, watchMs: 2_000 * speed },
  })
  proxy = await breakingProxy({ host: '127.0.0.1', port: local.port })
  await local.client.create(namespaces, { metadata: { name: 'blue' } })
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await local[Symbol.asyncDispose]()
})

interface Mirrored {
  readonly resourceVersion: string
  readonly uid: string
  readonly labels: Record<string, string>
  readonly data?: Record<string, string>
}

interface Report {
  readonly listed: Record<string, Mirrored>
  readonly written: Record<string, Mirrored>
  readonly mirrors: Record<string, { readonly state: Record<string, Mirrored>; readonly counts: Record<string, number> }>
}

describe.skipIf(program.missing !== undefined)(
  `client-go, ${program.missing === undefined ? `seed ${seed}` : `skipped: ${program.missing}`}`,
  () => {
    it('mirrors random writes in JSON, protobuf and metadata over interrupted HTTP/2 [P141, P190, P29, P302, P314]', async () => {
      await mirrorWrites({ streaming: false })
      expect(streamedLists()).toBe(0)
    })

    it('mirrors random writes starting with a streaming list [P155, P182, P190]', async () => {
      await mirrorWrites({ streaming: true })
      // At least one for each mirror.
      expect(streamedLists()).toBeGreaterThanOrEqual(4)
    })
  },
  300_000,
)

function streamedLists(): number {
  return requests.filter((request) => /sendInitialEvents=true.* 200$/.test(request)).length
}

async function mirrorWrites({ streaming }: { readonly streaming: boolean }): Promise<void> {
  const { client } = local
  await client.deleteCollection(configMaps, { namespace: 'default' })
  await client.deleteCollection(configMaps, { namespace: 'blue' })
  const proxied = await local.kubeconfig(`https://127.0.0.1:${proxy.port}`)
  const args = ['-direct', await local.kubeconfig(), '-proxied', proxied, '-writes', '6000', '-seed', String(seed)]
  let trouble = { compactions: 0 }
  const finished = await run(program.path, args, {
    env: { HOME: local.folder, KUBE_FEATURE_WatchListClient: String(streaming) },
    timeoutMs: 240_000,
    running: (child) => {
      trouble = makeTrouble(child, { local, proxy, random: new RandomChoices(seed), everyMs: 900 })
    },
  })
  expect([finished.code, finished.code === 0 ? '' : finished.stderr]).toEqual([0, ''])
  const { listed, written, mirrors } = JSON.parse(finished.stdout.trim().split('\n').at(-1) ?? '') as Report
  const { items } = await client.list(configMaps)
  const truth: Record<string, Mirrored> = Object.fromEntries(
    items.map(({ metadata: { namespace, name, resourceVersion = '', uid = '', labels = {} }, data = {} }) => [
      `${namespace}/${name}`,
      { resourceVersion, uid, labels, data },
    ]),
  )
  const left = Object.entries(truth).filter(([, { labels }]) => labels['side'] === 'left')
  const withoutData = ({ resourceVersion, uid, labels }: Mirrored) => ({ resourceVersion, uid, labels })
  const metadata = Object.entries(truth).map(([key, object]) => [key, withoutData(object)])
  expect(listed).toEqual(truth)
  expect(written).toEqual(truth)
  expect(mirrors['protobuf']?.state).toEqual(truth)
  expect(mirrors['json']?.state).toEqual(truth)
  expect(mirrors['left']?.state).toEqual(Object.fromEntries(left))
  expect(mirrors['metadata']?.state).toEqual(Object.fromEntries(metadata))
  expect(proxy.broken).toBeGreaterThan(0)
  expect(trouble.compactions).toBeGreaterThan(0)
  for (const { counts } of Object.values(mirrors)) expect(counts['adds']).toBeGreaterThan(100)
}
