import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeClock, fakeClock } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Follower } from '../../follower/follower.ts'
import { PreparingBackend } from '../../follower/preparing-backend.ts'
import { opaqueForm, transformedForm } from '../../follower/stored-form.ts'
import { MemoryBackend } from '../../follower/testing/memory-backend.ts'
import { lmdbStorage } from '../../lmdb/lmdb-storage.ts'
import { resolveOptions } from '../../options.ts'
import { createEncryption, type Encryption } from '../encryption.ts'
import { encryptedObject, keySource, seedSource } from './messages.ts'
import { FakeKms } from './testing/fake-kms.ts'

const unavailable = 14
const secondMs = 1000
const key = '/core/secrets/shop/web'
const place = { key, path: Buffer.from('/registry/secrets/shop/web'), revision: 7 }
const value = Buffer.from('{"data":{"password":"very-secret-word"}}')
const prefix = 'k8s:enc:kms:v2:vault:'

let folder: string
let kms: FakeKms
let clock: FakeClock
const opened: Disposable[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-kms-'))
  kms = new FakeKms(join(folder, 'kms.sock'))
  await kms.start()
  clock = fakeClock(Date.UTC(2024, 0, 1))
})
afterEach(async () => {
  for (const each of opened.splice(0)) each[Symbol.dispose]()
  kms.stop()
  await rm(folder, { recursive: true })
})

async function open(errors: unknown[] = []): Promise<Encryption> {
  const plugin = { apiVersion: 'v2', name: 'vault', endpoint: kms.endpoint, timeoutMs: 500 }
  const configuration = { resources: [{ resources: ['secrets'], providers: [{ kms: plugin }, { identity: {} }] }] }
  const encryption = await createEncryption(configuration, { clock, onError: (error) => errors.push(error) })
  opened.push(encryption)
  return encryption
}

const objectIn = (stored: Uint8Array) => encryptedObject.decode(stored.subarray(prefix.length))
/** Advances the clock, and waits for the calls of timers that are due. */
const advance = async (milliseconds: number, until: () => boolean) => {
  clock.advance(milliseconds)
  await expect.poll(until).toBe(true)
}

describe('createEncryption with a KMS plugin', () => {
  it('encrypts values with keys of one seed, which the plugin encrypts once', async () => {
    const encryption = await open()
    const stored = [encryption.toStorage(place, value), encryption.toStorage(place, value)]
    for (const each of stored) {
      expect(Buffer.from(each).toString('latin1').startsWith(prefix)).toBe(true)
      expect(Buffer.from(encryption.fromStorage(place, each)).toString()).toBe(value.toString())
    }
    const [first, second] = stored.map(objectIn)
    expect(first).toMatchObject({ keyId: 'key-1', sourceType: seedSource, encryptedSource: second!.encryptedSource })
    expect(first!.annotations.map(({ key: name }) => name)).toEqual(['fake.kms.example.com'])
    expect(Buffer.compare(first!.encryptedData.subarray(0, 32), second!.encryptedData.subarray(0, 32))).not.toBe(0)
    expect([encryption.isStale(place), kms.calls]).toEqual([false, { Status: 1, Encrypt: 1, Decrypt: 0 }])
  })

  it('reads values of another process, whose seed the plugin decrypts once', async () => {
    const stored = (await open()).toStorage(place, value)
    const encryption = await open()
    const values = [1, 2, 3].map(() => ({ key, stored }))
    await encryption.prepare?.(values)
    expect(encryption.prepare?.(values)).toBe(undefined)
    expect(Buffer.from(encryption.fromStorage(place, stored)).toString()).toBe(value.toString())
    expect([kms.calls.Decrypt, encryption.isStale(place)]).toEqual([1, false])
    const moved = { ...place, path: Buffer.from('/registry/secrets/shop/other') }
    expect(() => encryption.fromStorage(moved, stored)).toThrow('message authentication failed')
  })

  it('reads values whose key the plugin encrypted itself, and reports them as stale', async () => {
    const { aesGcm } = await import('../ciphers.ts')
    const { connectKms } = await import('./kms-client.ts')
    const dataKey = Buffer.alloc(32, 9)
    const service = connectKms(kms.endpoint, 500)
    const { ciphertext, keyId, annotations } = await service.encrypt(dataKey)
    service.close()
    const encryptedData = aesGcm(dataKey).encrypt(value, place.path)
    const object = { encryptedData, keyId, annotations, encryptedSource: ciphertext, sourceType: keySource }
    const stored = Buffer.concat([Buffer.from(prefix), encryptedObject.encode(object)])
    const encryption = await open()
    await encryption.prepare?.([{ key, stored }])
    expect(Buffer.from(encryption.fromStorage(place, stored)).toString()).toBe(value.toString())
    expect(encryption.isStale(place)).toBe(true)
  })

  it('uses another seed when the status names another key, and reports earlier values as stale', async () => {
    const encryption = await open()
    const former = encryption.toStorage(place, value)
    encryption.stored(place, former)
    kms.keyId = 'key-2'
    await advance(60 * secondMs, () => kms.calls.Encrypt === 2 && encryption.isStale(place))
    const next = encryption.toStorage(place, value)
    encryption.stored({ key, revision: 8 }, next)
    expect([objectIn(former).keyId, objectIn(next).keyId]).toEqual(['key-1', 'key-2'])
    expect(encryption.isStale({ key, revision: 8 })).toBe(false)
    expect(Buffer.from(encryption.fromStorage(place, former)).toString()).toBe(value.toString())
  })

  it('writes for 3 minutes after the last healthy status, then refuses, and still reads', async () => {
    const errors: unknown[] = []
    const encryption = await open(errors)
    const stored = encryption.toStorage(place, value)
    kms.healthz = 'sealed'
    await advance(60 * secondMs, () => errors.length === 1)
    expect(String(errors[0])).toContain('kmsv2 Provider vault is not healthy, error: got unexpected healthz status: sealed')
    await expect(encryption.checkHealth()).rejects.toThrow('kms-provider-0: kmsv2 Provider vault is not healthy')
    encryption.checkWrite?.(key)
    // As on kube-apiserver, a status that names the key extends the time; a failed status call does not.
    kms.failure = unavailable
    clock.advance(180 * secondMs)
    expect(() => encryption.checkWrite?.(key)).not.toThrow()
    clock.advance(secondMs)
    expect(() => encryption.checkWrite?.(key)).toThrow('has not been healthy for 180 seconds')
    expect(() => encryption.checkWrite?.('/core/configmaps/shop/web')).not.toThrow()
    expect(Buffer.from(encryption.fromStorage(place, stored)).toString()).toBe(value.toString())
  })

  it('starts without its plugin, refuses writes, and uses the plugin once it is available', async () => {
    kms.stop()
    const errors: unknown[] = []
    const encryption = await open(errors)
    expect(String(errors[0])).toContain('failed to perform status section of the healthz check for KMS Provider vault')
    expect(() => encryption.checkWrite?.(key)).toThrow('KMS plugin "vault" has no key yet')
    await expect(encryption.checkHealth()).rejects.toThrow('kms-provider-0: failed to perform status section')
    await kms.start()
    await advance(10 * secondMs, () => kms.calls.Encrypt === 1)
    await encryption.checkHealth()
    expect(() => encryption.checkWrite?.(key)).not.toThrow()
  })

  it('rejects a preparation that may succeed later, and reports a seed that the plugin refuses', async () => {
    const stored = (await open()).toStorage(place, value)
    const encryption = await open()
    kms.failure = unavailable
    await expect(encryption.prepare?.([{ key, stored }])).rejects.toMatchObject({ detail: { reason: 'encryption' } })
    kms.failure = undefined
    const object = objectIn(stored)
    const damaged = { ...object, encryptedSource: object.encryptedSource.map((byte) => byte ^ 1) }
    const wrong = Buffer.concat([Buffer.from(prefix), encryptedObject.encode(damaged)])
    await encryption.prepare?.([{ key, stored: wrong }])
    expect(() => encryption.fromStorage(place, wrong)).toThrow('KMS plugin "vault": failed to decrypt DEK')
    await encryption.prepare?.([{ key, stored }])
    expect(Buffer.from(encryption.fromStorage(place, stored)).toString()).toBe(value.toString())
  })
})

describe('stores with a KMS plugin', () => {
  const encode = () => value

  it('lmdbStorage reads its values after a restart, and stays writable when writes were refused', async () => {
    const dir = join(folder, 'data')
    const first = await lmdbStorage({ dir, transformer: await open() })
    await first.put(key, encode)
    await first.close()
    const encryption = await open()
    await using again = await lmdbStorage({ dir, transformer: encryption })
    expect(Buffer.from(again.peek(key)!.value).toString()).toBe(value.toString())
    expect(again.isStale?.(again.peek(key)!)).toBe(false)
    kms.failure = unavailable
    clock.advance(181 * secondMs)
    await expect(again.put(key, encode)).rejects.toMatchObject({ detail: { code: 'Unavailable', reason: 'remote' } })
    kms.failure = undefined
    await advance(60 * secondMs, () => canWrite(encryption))
    expect((await again.put(key, encode)).outcome).toBe('written')
  })

  it('a follower waits for the seed of a value that another process wrote, and delivers events in order', async () => {
    const direct = new MemoryBackend()
    const writer = await open()
    const encryption = await open()
    const form = transformedForm(opaqueForm, encryption, () => place.path)
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const backend = new PreparingBackend(direct, { transformer: encryption, onError })
    const follower = await Follower.open({ backend, form, limits: resolveOptions({}), timeoutMs: 5000, onError })
    kms.failure = unavailable
    direct.apply({ type: 'put', key, value: writer.toStorage(place, value), expect: 0 })
    direct.apply({ type: 'put', key: '/core/configmaps/shop/web', value, expect: 0 })
    await expect.poll(() => errors.length).toBe(1)
    expect([follower.peek(key), follower.count('/core/')]).toEqual([undefined, 0])
    kms.failure = undefined
    await follower.refresh()
    expect(Buffer.from(follower.peek(key)!.value).toString()).toBe(value.toString())
    expect(follower.count('/core/')).toBe(2)
    await follower.close()
  })
})

function canWrite(encryption: Encryption): boolean {
  try {
    encryption.checkWrite?.(key)
    return true
  } catch {
    return false
  }
}
