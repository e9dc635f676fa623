import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { fakeClock } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../serve.ts'
import { runCommand, serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openEncryption } from './encryption.ts'

const folder = temporaryFolder({ perTest: true })
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const log = { info: () => undefined, error: () => undefined }
const key = (name: string, fill: number) => ({ name, secret: Buffer.alloc(32, fill).toString('base64') })
const one = { aesgcm: { keys: [key('one', 1)] } }
const two = { secretbox: { keys: [key('two', 2)] } }
const write = async (...providers: readonly object[]) => {
  const path = join(folder, 'encryption.yaml')
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
  await writeFile(path, printYaml({ ...head, resources: [{ resources: ['secrets'], providers }] }))
  return `--encryption-provider-config=${path}`
}
const start = async (...flags: string[]) => {
  const options = await serveOptions(`${folder}/data`, ['--storage=durable', '--controllers=', ...flags])
  const serving = await serve(options, log)
  let isOpen = true
  const close = async () => {
    if (isOpen) await serving.close()
    isOpen = false
  }
  closing.push(close)
  const client = createRemoteClient(await loadKubeconfig({ path: serving.kubeconfig! }))
  closing.push(() => client.close())
  return { client, close, kubeconfig: serving.kubeconfig! }
}
const inFile = (text: string) => readFileSync(join(folder, 'data', 'data', 'data.mdb')).includes(text)

describe('--encryption-provider-config', () => {
  it('encrypts secrets in the data file, and storage rewrite encrypts them again after a rotation', async () => {
    const path = '/api/v1/namespaces/default/secrets'
    const first = await start(await write(one))
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' }, stringData: { word: 'open-sesame' } }
    const created = await first.client.request({ method: 'POST', path, body: object })
    expect(created.status).toBe(201)
    await first.close()
    const encoded = Buffer.from('open-sesame').toString('base64')
    expect([inFile(encoded), inFile('k8s:enc:aesgcm:v1:one:'), inFile('k8s:enc:secretbox:v1:two:')]).toEqual([false, true, false])

    const rotated = await start(await write(two, one))
    const migrated = await runCommand(['storage', 'rewrite', 'secrets', `--kubeconfig=${rotated.kubeconfig}`])
    expect([migrated.code, migrated.out]).toEqual([0, expect.stringContaining('secrets: ')])
    await rotated.close()
    expect(inFile('k8s:enc:secretbox:v1:two:')).toBe(true)

    const last = await start(await write(two))
    expect((await last.client.request({ path: `${path}/web` })).status).toBe(200)
    await last.close()
    await expect(start()).rejects.toMatchObject({ message: expect.stringContaining('cannot be decrypted') })
  })

  it('reloads the file when asked to, and keeps the former keys while the file is bad', async () => {
    const clock = fakeClock(0)
    const errors: string[] = []
    const infos: string[] = []
    const flag = await write(one)
    const encryption = await openEncryption(
      {
        encryptionProviderConfig: flag.slice(flag.indexOf('=') + 1),
        encryptionProviderConfigAutomaticReload: true,
        storage: 'durable',
      },
      { log: { info: (text) => infos.push(text), error: (_text, error) => errors.push(String(error)) }, clock },
    )
    encryption?.attach({ revision: 5 })
    const place = { key: '/core/secrets/shop/web', path: Buffer.from('web') }
    const prefix = () =>
      Buffer.from(encryption!.transformer.toStorage(place, Buffer.from('{}')))
        .toString('latin1')
        .slice(0, 22)
    expect(prefix()).toBe('k8s:enc:aesgcm:v1:one:')
    await write({ aesgcm: {} })
    clock.advance(10_000)
    await expect.poll(() => errors.length, { interval: 5 }).toBe(1)
    expect(prefix()).toBe('k8s:enc:aesgcm:v1:one:')
    await write(two, one)
    await expect
      .poll(
        () => {
          clock.advance(10_000)
          return infos.length
        },
        { interval: 5 },
      )
      .toBe(1)
    expect(prefix()).toBe('k8s:enc:secretbox:v1:t')
    expect([5, 6].map((revision) => encryption!.transformer.isStale({ key: place.key, revision }))).toEqual([true, false])
    encryption?.[Symbol.dispose]()
  })

  it.each<[string, string, string]>([
    ['a missing file', '', 'cannot read'],
    ['an empty file', ' ', 'error decoding encryption provider configuration file'],
    ['a file that is not YAML', '{', 'encryption-provider-config'],
    ['a file of another kind', 'kind: Pod\napiVersion: v1\n', 'no kind "Pod" is registered for version "v1"'],
  ])('rejects %s', async (_title, text, message) => {
    const path = join(folder, 'bad.yaml')
    if (text !== '') await writeFile(path, text)
    for (const reload of ['false', 'true']) {
      const flags = [`--encryption-provider-config=${path}`, `--encryption-provider-config-automatic-reload=${reload}`]
      await expect(start(...flags)).rejects.toMatchObject({ message: expect.stringContaining(message) })
    }
  })

  it('is needed by the automatic reload', async () => {
    await expect(start('--encryption-provider-config-automatic-reload')).rejects.toMatchObject({
      message: '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
    })
  })
})
