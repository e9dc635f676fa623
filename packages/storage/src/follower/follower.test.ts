import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../options.ts'
import { Follower } from './follower.ts'
import { type RemoteEvent, RemoteWriteError } from './remote-backend.ts'
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

describe('a write without a response', () => {
  const lost = () => new RemoteWriteError('the connection was lost', { isRefused: false })

  it('is recognized among the events, and not sent again', async () => {
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

  it('is recognized although another write has replaced it', async () => {
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

  it('is a conflict when it was an update and another write was first', async () => {
    const { backend, follower } = await open()
    await follower.put('/a/x', bytes('0'))
    backend.answer = async (write) => {
      backend.apply({ ...write, value: bytes('other')() })
      throw lost()
    }
    const result = await follower.put('/a/x', bytes('1'), { expect: 2 })
    expect(result).toEqual({ outcome: 'conflict', current: follower.peek('/a/x') })
    await follower.close()
  })

  it('has an unknown outcome when it is a creation and another was first, since a deletion makes it possible again', async () => {
    const { backend, follower } = await open()
    let late = () => {}
    backend.answer = async (write) => {
      late = () => void backend.apply(write)
      backend.apply({ ...write, value: bytes('other')() })
      throw lost()
    }
    const failing = follower.put('/a/x', bytes('1'), { expect: 0 })
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'outcome' } })
    backend.answer = async (write) => backend.apply(write)
    await follower.delete('/a/x', bytes('other'))
    late()
    expect(new TextDecoder().decode(follower.peek('/a/x')?.value)).toBe('1')
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

  it('has an unknown outcome when the key is deleted, since deletions of others look the same', async () => {
    const { backend, follower } = await open()
    await follower.put('/a/x', bytes('1'))
    backend.answer = async (write) => {
      backend.apply(write)
      throw lost()
    }
    const failing = follower.delete('/a/x', bytes('1'))
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'outcome' } })
    expect(follower.peek('/a/x')).toBeUndefined()
    await follower.close()
  })

  it('has an unknown outcome when the events that would decide it were compacted', async () => {
    const { backend, follower } = await open()
    backend.answer = async (write) => {
      backend.forget(() => {
        const { revision } = backend.apply(write)
        backend.apply({ ...write, value: bytes('2')(), expect: revision })
      })
      throw lost()
    }
    const failing = follower.put('/a/x', bytes('1'), { expect: 0 })
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'outcome' } })
    expect(new TextDecoder().decode(follower.peek('/a/x')?.value)).toBe('2')
    await follower.close()
  })

  it('has an unknown outcome when it was acknowledged, but its event does not arrive', async () => {
    const { backend, follower } = await open()
    backend.answer = async (write) => {
      backend.silence()
      return backend.apply(write)
    }
    const failing = follower.put('/a/x', bytes('1'), { expect: 0 })
    await expect(failing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'outcome' } })
    await follower.close()
  })

  it.each([
    { happened: true, title: 'is found by one read when it is settled and has happened' },
    { happened: false, title: 'is refused after one read when it is settled and has not happened' },
  ])('$title', async ({ happened }) => {
    const { backend, follower } = await open()
    let reads = 0
    const revision = backend.revision.bind(backend)
    backend.revision = () => {
      reads++
      return revision()
    }
    backend.answer = async (write) => {
      if (happened) backend.apply(write)
      throw new RemoteWriteError('space exceeded', { isRefused: false, isSettled: true })
    }
    const writing = follower.put('/a/x', bytes('1'), { expect: 0 })
    if (happened) expect(await writing).toEqual({ outcome: 'written', entry: follower.peek('/a/x') })
    else await expect(writing).rejects.toMatchObject({ code: 'Unavailable', detail: { reason: 'remote' } })
    expect([reads, backend.sent.length]).toEqual([1, 1])
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

  it('asks for progress only when a revision does not arrive soon with its events', async () => {
    const backend = new MemoryBackend()
    let requests = 0
    const subscribe = backend.subscribe.bind(backend)
    backend.subscribe = async (from, sink) => {
      const events = (arrived: readonly RemoteEvent[]) => void setImmediate(() => sink.events(arrived))
      const subscription = await subscribe(from, { ...sink, events })
      const requestProgress = () => {
        requests++
        subscription.requestProgress()
      }
      return { ...subscription, requestProgress }
    }
    const limits = resolveOptions({})
    const follower = await Follower.open({ backend, form: opaqueForm, limits, timeoutMs: 600, onError: () => undefined })
    for (const value of ['1', '2', '3']) await follower.put('/a/x', bytes(value))
    await follower.refresh()
    expect([requests, follower.peek('/a/x')?.revision]).toEqual([0, backend.newest])
    // A change of a key outside the followed prefix.
    backend.newest++
    await follower.refresh()
    expect([requests, follower.revision]).toEqual([1, backend.newest])
    await follower.close()
  })

  it('publishes the stored value when the second encoding fails', async () => {
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

  it('closes within its timeout although a write is not answered', { timeout: 5000 }, async () => {
    const { backend, follower } = await open()
    backend.answer = () =>
      new Promise((_, reject) => {
        backend.close = () => reject(new RemoteWriteError('closed', { isRefused: false }))
      })
    const startedMs = performance.now()
    const failing = expect(follower.put('/a/x', bytes('1'))).rejects.toMatchObject({ detail: { reason: 'outcome' } })
    await Promise.all([follower.close(), failing])
    expect(performance.now() - startedMs).toBeGreaterThan(500)
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
