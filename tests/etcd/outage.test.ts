/** krmkit while its etcd is away. Needs the program that `KRMKIT_ETCD` names. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../../packages/krmkit/src/cli/serve.ts'
import { serveOptions } from '../../packages/krmkit/src/cli/testing/run-command.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { ApiEndpoint } from './api-endpoint.ts'
import { writeTokens } from './stock-server.ts'

const program = etcdProgram()
const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

it.skipIf(program === undefined)(
  `answers 503 with Retry-After while etcd is away, keeps watches, and goes on afterwards${program === undefined ? ` (${withoutEtcd})` : ''}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-outage-'))
    const etcd = await EtcdProcess.start(program!)
    const tokens = writeTokens(folder, 'token')
    const flags = ['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${tokens}`]
    const running = await serve(await serveOptions(join(folder, 'data'), flags), {
      info: () => undefined,
      error: () => undefined,
    })
    const server = new ApiEndpoint('krmkit', Number(new URL(running.url).port), 'token')
    try {
      expect((await server.send('POST', configMaps, configMap('before'))).status).toBe(201)
      const watch = server.watch(`${configMaps}?resourceVersion=0`)
      await etcd.kill()
      const replies = await Promise.all([
        server.send('POST', configMaps, configMap('during')),
        server.send('GET', configMaps),
        server.send('GET', `${configMaps}/before`),
        server.send('DELETE', `${configMaps}/before`),
      ])
      for (const { status, text } of replies) {
        expect([status, JSON.parse(text).details?.retryAfterSeconds]).toEqual([503, 1])
      }
      expect((await server.send('GET', `${configMaps}?resourceVersion=0`)).status).toBe(200)
      await etcd.start()
      await expect.poll(async () => (await server.send('GET', configMaps)).status, { timeout: 20_000 }).toBe(200)
      expect((await server.send('POST', configMaps, configMap('after'))).status).toBe(201)
      const names = () => watch.lines.map((line) => `${JSON.parse(line).type} ${JSON.parse(line).object.metadata.name}`)
      await expect.poll(names).toContain('ADDED after')
      expect(names().filter((each) => each.endsWith('before'))).toEqual(['ADDED before'])
      expect(names()).not.toContain('ADDED during')
      watch.close()
    } finally {
      server.close()
      await running.close()
      await etcd.dispose()
      await rm(folder, { recursive: true, force: true })
    }
  },
  90_000,
)
