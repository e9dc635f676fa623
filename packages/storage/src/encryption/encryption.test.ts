import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { backupLmdb, restoreLmdb } from '../lmdb/backup.ts'
import { compactLmdb } from '../lmdb/compact.ts'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { StorageError } from '../storage-error.ts'
import { withTempDir } from '../testing/temp-dir.ts'
import type { EncryptionConfiguration, EncryptionProvider } from './configuration.ts'
import { createEncryption } from './encryption.ts'

interface Vector {
  readonly provider: 'aesgcm' | 'aescbc' | 'secretbox'
  readonly name: string
  readonly secret: string
  readonly path: string
  readonly plain: string
  readonly stored: string
}

const file = new URL('../../testdata/encryption.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { readonly vectors: readonly Vector[] }
const key = '/core/secrets/shop/web'
const path = Buffer.from('/registry/secrets/shop/web')
const place = { key, path, revision: 7 }
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const secretOf = (fill: number) => base64(Buffer.alloc(32, fill))
const one: EncryptionProvider = { aesgcm: { keys: [{ name: 'one', secret: secretOf(1) }] } }
const two: EncryptionProvider = { secretbox: { keys: [{ name: 'two', secret: secretOf(2) }] } }
const identity: EncryptionProvider = { identity: {} }
const secrets = (...providers: readonly EncryptionProvider[]): EncryptionConfiguration => ({
  resources: [{ resources: ['secrets'], providers }],
})
const value = Buffer.from('{"data":{"password":"very-secret-word"}}')

describe('createEncryption', () => {
  it.each(vectors.map((each, at) => [at, each] as const))(
    'reads what kube-apiserver wrote, and writes its layout, vector %i',
    async (_at, vector) => {
      const { provider, name, secret } = vector
      const encryption = await createEncryption(secrets({ [provider]: { keys: [{ name, secret }] } }))
      const stored = Buffer.from(vector.stored, 'base64')
      expect(base64(encryption.fromStorage(place, stored))).toBe(vector.plain)
      const written = encryption.toStorage(place, Buffer.from(vector.plain, 'base64'))
      expect(written.length).toBe(stored.length)
      expect(Buffer.from(written).toString('latin1')).toMatch(new RegExp(`^k8s:enc:${provider}:v1:key1:`))
      expect(written).not.toEqual(stored)
      expect(base64(encryption.fromStorage(place, written))).toBe(vector.plain)
    },
  )

  it('writes with the first provider and reads with all', async () => {
    const former = (await createEncryption(secrets(one))).toStorage(place, value)
    const encryption = await createEncryption(secrets(two, one, identity))
    for (const stored of [former, value]) {
      expect(base64(encryption.fromStorage(place, stored))).toBe(base64(value))
      expect(encryption.isStale(place)).toBe(true)
    }
    const next = encryption.toStorage(place, value)
    expect(Buffer.from(next).toString('latin1')).toMatch(/^k8s:enc:secretbox:v1:two:/)
    expect([base64(encryption.fromStorage(place, next)), encryption.isStale(place)]).toEqual([base64(value), false])
  })

  it('reads with the second key of one name when the first does not fit', async () => {
    const stored = (await createEncryption(secrets(one))).toStorage(place, value)
    const other = { name: 'one', secret: secretOf(9) }
    const encryption = await createEncryption(secrets({ aesgcm: { keys: [other, ...one.aesgcm!.keys] } }))
    expect(base64(encryption.fromStorage(place, stored))).toBe(base64(value))
    expect(encryption.isStale(place)).toBe(true)
  })

  it('reports as stale, after a replacement, the entries that a rewrite would change', async () => {
    const encryption = await createEncryption(secrets(one))
    await encryption.replace(secrets(two, one), 7)
    const staleAt = (revision: number, other = key) => encryption.isStale({ key: other, revision })
    expect([staleAt(7), staleAt(8), staleAt(7, '/core/configmaps/shop/web')]).toEqual([true, false, false])
  })

  it.each([
    ['/core/secrets/shop/a', 'secrets'],
    ['/core/configmaps/shop/a', 'core'],
    ['/apps/deployments/shop/a', 'apps'],
    ['/example.com/widgets/shop/a', 'widgets'],
    ['/example.com/gadgets/shop/a', 'all'],
    ['/core/events/shop/a', ''],
    ['/ranges/serviceips', ''],
    ['/core/rangeallocations/servicenodeports', ''],
    ['/core/masterleases/192.0.2.1', ''],
  ])('encrypts %s with the key %j', async (at, name) => {
    const rule = (resource: string, keyName: string) => ({
      resources: [resource],
      providers: [{ aesgcm: { keys: [{ name: keyName, secret: secretOf(3) }] } }],
    })
    const encryption = await createEncryption({
      resources: [
        { resources: ['events'], providers: [identity] },
        rule('secrets', 'secrets'),
        rule('*.', 'core'),
        rule('*.apps', 'apps'),
        rule('widgets.example.com', 'widgets'),
        rule('*.*', 'all'),
      ],
    })
    const stored = Buffer.from(encryption.toStorage({ key: at, path }, value)).toString('latin1')
    expect(stored.startsWith(name === '' ? '{' : `k8s:enc:aesgcm:v1:${name}:`)).toBe(true)
  })

  it('rejects a resource that an earlier rule hides', async () => {
    const resources = ['*.', 'secrets'].map((name) => ({ resources: [name], providers: [one] }))
    await expect(createEncryption({ resources })).rejects.toThrow('resource "secrets" is masked by earlier rule "*."')
  })

  it('names the key of a value that cannot be read, and shows no part of the value', async () => {
    const stored = (await createEncryption(secrets(one))).toStorage(place, value)
    const problemOf = async (configuration: EncryptionConfiguration, at = place) => {
      const encryption = await createEncryption(configuration)
      try {
        return String(encryption.fromStorage(at, stored))
      } catch (error) {
        return error instanceof StorageError ? error.message : error
      }
    }
    const start = `storage is unavailable: the value at ${key} cannot be decrypted: `
    const wrong: EncryptionProvider = { aesgcm: { keys: [{ name: 'one', secret: secretOf(8) }] } }
    const renamed: EncryptionProvider = { aesgcm: { keys: [{ name: 'three', secret: secretOf(1) }] } }
    expect(await problemOf(secrets(wrong))).toBe(`${start}key "one" of aesgcm: message authentication failed`)
    expect(await problemOf(secrets(renamed))).toBe(`${start}no matching key was found for the provided AES transformer: "one"`)
    expect(await problemOf(secrets(identity))).toBe(`${start}no matching prefix found`)
    expect(await problemOf({ resources: [{ resources: ['pods'], providers: [one] }] })).toBe(
      `${start}identity transformer tried to read encrypted data`,
    )
    const moved = { ...place, path: Buffer.from('/registry/secrets/shop/other') }
    expect(await problemOf(secrets(one), moved)).toContain('message authentication failed')
  })
})

describe('lmdbStorage with a transformer', () => {
  const inFile = (dir: string, text: string) => readFileSync(join(dir, 'data.mdb')).includes(text)
  const encode = (bytes: Uint8Array) => () => bytes

  it('keeps no encrypted value in clear in its files, and reads it after a restart', async () => {
    await withTempDir(async (dir) => {
      const open = async () => lmdbStorage({ dir, transformer: await createEncryption(secrets(two)) })
      const storage = await open()
      await storage.put(key, encode(value))
      await storage.put('/core/configmaps/shop/web', encode(Buffer.from('{"data":"not-so-secret"}')))
      await storage.put('/core/secrets/shop/gone', encode(value))
      await storage.delete('/core/secrets/shop/gone', encode(value))
      expect(base64(storage.peek(key)!.value)).toBe(base64(value))
      await storage.close()
      expect([inFile(dir, 'very-secret-word'), inFile(dir, 'not-so-secret')]).toEqual([false, true])
      const again = await open()
      expect(Buffer.from(again.peek(key)!.value).toString()).toBe(value.toString())
      await again.close()
    })
  })

  it('is compacted, backed up and restored without its keys', async () => {
    await withTempDir(async (parent) => {
      const dir = join(parent, 'data')
      const open = async (at: string) => lmdbStorage({ dir: at, transformer: await createEncryption(secrets(one)) })
      const storage = await open(dir)
      await storage.put(key, encode(value))
      await storage.close()
      await compactLmdb({ dir })
      const chunks: Uint8Array[] = []
      await backupLmdb({ dir, write: async (chunk) => void chunks.push(Buffer.from(chunk)) })
      expect(Buffer.concat(chunks).includes('very-secret-word')).toBe(false)
      const restored = join(parent, 'restored')
      await restoreLmdb({ dir: restored, chunks: Readable.from(chunks) })
      for (const each of [dir, restored]) {
        await using again = await open(each)
        expect(base64(again.peek(key)!.value)).toBe(base64(value))
      }
    })
  })

  it('does not open without the key of a present value', async () => {
    await withTempDir(async (dir) => {
      const storage = await lmdbStorage({ dir, transformer: await createEncryption(secrets(one)) })
      await storage.put(key, encode(value))
      await storage.close()
      const detail = { code: 'Unavailable', reason: 'encryption', problem: expect.stringContaining(`the value at ${key}`) }
      for (const transformer of [await createEncryption(secrets(two, identity)), undefined]) {
        await expect(lmdbStorage({ dir, ...(transformer === undefined ? {} : { transformer }) })).rejects.toMatchObject({
          detail,
        })
      }
    })
  })

  it('opens without a former key once every value was written again, with a shorter history', async () => {
    await withTempDir(async (dir) => {
      const open = async (...providers: EncryptionProvider[]) =>
        lmdbStorage({ dir, transformer: await createEncryption(secrets(...providers)) })
      const storage = await open(one)
      await storage.put(key, encode(value))
      await storage.put('/core/secrets/shop/gone', encode(value))
      await storage.delete('/core/secrets/shop/gone', encode(value))
      await storage.close()
      const rotated = await open(two, one)
      const entry = rotated.peek(key)!
      expect(rotated.isStale?.(entry)).toBe(true)
      const { revision } = entry
      await rotated.put(key, encode(value), { expect: revision })
      expect(rotated.isStale?.(rotated.peek(key)!)).toBe(false)
      await rotated.put('/core/pods/shop/later', encode(value))
      const newest = rotated.revision
      await rotated.close()
      for (let round = 0; round < 2; round++) {
        const later = await open(two)
        expect([later.compacted, later.revision, later.count('/core/')]).toEqual([newest - 1, newest, 2])
        await later.compact(newest - 1)
        await later.close()
      }
    })
  })
})
