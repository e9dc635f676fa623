import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../options.ts'
import { Follower } from './follower.ts'
import { RemoteWriteError } from './remote-backend.ts'
import { opaqueForm } from './stored-form.ts'
import { MemoryBackend } from './testing/memory-backend.ts'

const bytes = (text: string) => () => new TextEncoder().encode(text)

async function open() {
  const backend = new MemoryBackend()
  const errors: unknown[] = []
  const limits = resolveOptions({})
  const onError = (error: unknown) => errors.push(error)
  const follower = await Follower.open({ backend, form: opaqueForm, limits, timeoutMs: 600, onError })
  return { backend, follower, errors }
}

describe('a write whose answer is missing', () => {
  const lost = () => new RemoteWriteError('the connection was lost', { isRefused: false })

  it('is found among the events, and not sent again', async () => {
    const { backend, follower } = await open()
    backend.answer = async (write) => {
      backend.apply(write)
      throw lost()
    }
    const result = await follower.put('/a/x', bytes('1'), { expect: 0 })
    expect(result).toEqual({ outcome: 'written', entry: follower.peek('/a/x') })
    expect(backend.sent.length).toBe(1)
    await follower.close()
  })

  it('is found although another write has replaced it', async () => {
    const { backend, follower } = await open()
    backend.answer = async (write) => {
      const { revision } = backend.apply(write)
      backend.apply({ ...write, value: bytes('2')(), expect: revision })
      throw lost()
    }
    const result = await follower.put('/a/x', bytes('1'), { expect: 0 })
    expect(result).toMatchObject({ outcome: 'written', entry: { revision: 2 } })
    expect(follower.peek('/a/x')?.revision).toBe(3)
    await follower.close()
  })

  it('is a conflict when another write was first', async () => {
    const { backend, follower } = await open()
    backend.answer = async (write) => {
      backend.apply({ ...write, value: bytes('other')() })
      throw lost()
    }
    const result = await follower.put('/a/x', bytes('1'), { expect: 0 })
    expect(result).toEqual({ outcome: 'conflict', current: follower.peek('/a/x') })
    await follower.close()
  })

  it('has an unknown outcome as long as nothing has happened, and is not sent again', async () => {
    const { backend, follower } = await open()
    backend.answer = async () => {
      throw lost()
    }
    const failing = follower.put('/a/x', bytes('1'), { expect: 0 })
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'outcome' } })
    expect(backend.sent.length).toBe(1)
    await follower.close()
  })

  it('has no effect when it was refused', async () => {
    const { backend, follower } = await open()
    backend.answer = async () => {
      throw new RemoteWriteError('no space', { isRefused: true })
    }
    const failing = follower.put('/a/x', bytes('1'), { expect: 0 })
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'remote' } })
    await follower.close()
  })
})

describe('a follower', () => {
  it('encodes for revision 0, and again for the revision of the write', async () => {
    const { backend, follower } = await open()
    const revisions: number[] = []
    await follower.put('/a/x', (revision) => {
      revisions.push(revision)
      return bytes('1')()
    })
    expect(revisions).toEqual([0, backend.newest])
    await follower.close()
  })

  it('shows what is stored when the second encoding fails', async () => {
    const { follower, errors } = await open()
    const once = (text: string) => (revision: number) => {
      if (revision !== 0) throw new Error('only once')
      return bytes(text)()
    }
    expect((await follower.put('/a/x', once('1'))).outcome).toBe('written')
    expect(new TextDecoder().decode(follower.peek('/a/x')?.value)).toBe('1')
    expect((await follower.delete('/a/x', once('gone'))).outcome).toBe('written')
    expect(errors.length).toBe(2)
    await follower.close()
  })

  it('sends writes to one key one after the other', async () => {
    const { backend, follower } = await open()
    let running = 0
    backend.answer = async (write) => {
      expect(++running).toBe(1)
      await Promise.resolve()
      running--
      return backend.apply(write)
    }
    const results = await Promise.all(['1', '2', '3'].map((text) => follower.put('/a/x', bytes(text))))
    expect(results.map(({ outcome }) => outcome)).toEqual(['written', 'written', 'written'])
    expect(new TextDecoder().decode(follower.peek('/a/x')?.value)).toBe('3')
    await follower.close()
  })
})
