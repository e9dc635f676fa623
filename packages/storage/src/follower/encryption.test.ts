import { describe, expect, it } from 'vitest'
import type { EncryptionProvider } from '../encryption/configuration.ts'
import { createEncryption } from '../encryption/encryption.ts'
import { resolveOptions } from '../options.ts'
import { Follower } from './follower.ts'
import { opaqueForm, transformedForm } from './stored-form.ts'
import { MemoryBackend } from './testing/memory-backend.ts'

const key = '/core/secrets/shop/web'
const bytes = (text: string) => () => new TextEncoder().encode(text)
const provider = (name: string, fill: number): EncryptionProvider => ({
  aesgcm: { keys: [{ name, secret: Buffer.alloc(32, fill).toString('base64') }] },
})
const [one, two] = [provider('one', 1), provider('two', 2)]
const configuration = (...providers: EncryptionProvider[]) => ({ resources: [{ resources: ['secrets'], providers }] })

async function open(backend: MemoryBackend, ...providers: EncryptionProvider[]) {
  const encryption = await createEncryption(configuration(...providers))
  const form = transformedForm(opaqueForm, encryption, (each) => Buffer.from(`/registry${each}`))
  const errors: unknown[] = []
  const limits = resolveOptions({})
  const follower = await Follower.open({ backend, form, limits, timeoutMs: 600, onError: (error) => errors.push(error) })
  const kept = (at = key) => Buffer.from(backend.entries.get(at)?.value ?? []).toString('latin1')
  const text = (at = key) => Buffer.from(follower.peek(at)?.value ?? []).toString()
  return { follower, encryption, errors, kept, text }
}

describe('a follower with encryption', () => {
  it('sends encrypted values and serves them in clear', async () => {
    const backend = new MemoryBackend()
    const first = await open(backend, one)
    expect(await first.follower.put(key, bytes('hidden'), { expect: 0 })).toMatchObject({ outcome: 'written' })
    expect([first.kept().startsWith('k8s:enc:aesgcm:v1:one:'), first.kept().includes('hidden'), first.text()]).toEqual([
      true,
      false,
      'hidden',
    ])
    await first.follower.close()
    const second = await open(backend, two, one)
    expect([second.text(), second.follower.isStale(second.follower.peek(key)!)]).toEqual(['hidden', true])
    await second.follower.put(key, bytes('hidden'))
    expect([second.kept().startsWith('k8s:enc:aesgcm:v1:two:'), second.follower.isStale(second.follower.peek(key)!)]).toEqual([
      true,
      false,
    ])
    await second.follower.close()
  })

  it('does not open without the key of a present value', async () => {
    const backend = new MemoryBackend()
    const { follower } = await open(backend, one)
    await follower.put(key, bytes('hidden'))
    await follower.close()
    await expect(open(backend, two)).rejects.toMatchObject({ detail: { code: 'Unavailable', reason: 'encryption' } })
  })

  it('opens without the key of a value that was superseded since the start of the history', async () => {
    const backend = new MemoryBackend()
    const { follower } = await open(backend, one)
    await follower.put(key, bytes('former'))
    await follower.close()
    const former = [...backend.entries.values()]
    const { revision } = former[0]!
    const rotated = await open(backend, two, one)
    await rotated.follower.put(key, bytes('later'))
    await rotated.follower.close()
    const newest = backend.entries.get(key)!
    const subscribe = backend.subscribe.bind(backend)
    backend.load = async () => ({
      revision,
      entries: (async function* () {
        yield former
      })(),
    })
    backend.subscribe = async (from, sink) => {
      const subscription = await subscribe(from, sink)
      queueMicrotask(() => sink.events([{ type: 'put', entry: newest }]))
      return subscription
    }
    const last = await open(backend, two)
    expect([last.text(), last.follower.compacted, last.errors]).toEqual(['later', newest.revision, []])
    await last.follower.close()
  })

  it('logs a value with a missing key that another server writes, by its key', async () => {
    const backend = new MemoryBackend()
    const { follower, errors } = await open(backend, one)
    const other = await createEncryption(configuration(two))
    const value = other.toStorage({ key, path: Buffer.from(`/registry${key}`) }, bytes('hidden')())
    backend.apply({ type: 'put', key, value, expect: 0 })
    expect(follower.peek(key)).toBe(undefined)
    expect(String(errors[0])).toContain(`the value at ${key} cannot be decrypted: no matching key`)
    await follower.close()
  })

  it('reports a write as stale that was sent before a rotation and arrived after it', async () => {
    const backend = new MemoryBackend()
    const { follower, encryption } = await open(backend, one)
    backend.answer = async (write) => {
      await encryption.replace(configuration(two, one), follower.revision)
      return backend.apply(write)
    }
    await follower.put(key, bytes('hidden'))
    expect(follower.isStale(follower.peek(key)!)).toBe(true)
    await follower.close()
  })
})
