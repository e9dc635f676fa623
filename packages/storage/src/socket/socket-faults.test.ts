import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Storage } from '../interfaces.ts'
import { memoryStorage } from '../memory/memory-storage.ts'
import type { RevisionForm } from './revision-form.ts'
import { type ServedStorage, serveStorage } from './serve-storage.ts'
import { socketStorage } from './socket-storage.ts'

let folder: string
let owner: Storage
let served: ServedStorage
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-socket-'))
  owner = memoryStorage()
  served = await serveStorage(owner, { path: join(folder, 'a.sock'), form })
})
afterEach(async () => {
  await served.close()
  await owner.close()
  await rm(folder, { recursive: true })
})

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)
/** Values such as `7:content`, of which 7 is the revision. */
const form: RevisionForm = {
  atRevision: (_key, value, revision) => bytes(`${revision}:${text(value).split(':')[1]}`),
}
const encode = (content: string) => (revision: number) => bytes(`${revision}:${content}`)
const open = (path = join(folder, 'a.sock')) => socketStorage({ path, form, timeoutMs: 1000 })

describe('a followed store', () => {
  it('reflects every write after a refresh, which takes one round trip', async () => {
    await using follower = await open()
    await owner.put('/a/x', encode('1'))
    expect(follower.peek('/a/x')).toBeUndefined()
    await follower.refresh?.()
    expect(text(follower.peek('/a/x')?.value)).toBe('2:1')
  })

  it('contains the revisions of writes, and the memos of the writer', async () => {
    await using a = await open()
    await using b = await open()
    const memo = { parsed: true }
    const result = await a.put('/a/x', encode('1'), { expect: 0, memo })
    expect(result).toMatchObject({ outcome: 'written', entry: { revision: 2, memo } })
    expect([owner, a].map((store) => text(store.peek('/a/x')?.value))).toEqual(['2:1', '2:1'])
    await b.refresh?.()
    expect(text(b.peek('/a/x')?.value)).toBe('2:1')
    await b.delete('/a/x', encode('1'))
    const [event] = owner.watch({ prefix: '/a/', from: 2 }).take()
    expect([event?.type, text(event?.entry.value)]).toEqual(['delete', '3:1'])
  })

  it('continues after a lost connection, without missing or repeating events', async () => {
    await using proxy = await LossyProxy.start(join(folder, 'b.sock'), join(folder, 'a.sock'))
    await using follower = await open(proxy.path)
    const watcher = follower.watch({ prefix: '/a/', from: 1 })
    await follower.put('/a/x', encode('1'))
    proxy.cut()
    await owner.put('/a/y', encode('2'))
    await expect.poll(() => follower.put('/a/z', encode('3')).catch(() => undefined)).toMatchObject({ outcome: 'written' })
    expect(watcher.take().map(({ key, entry }) => `${key} ${text(entry.value)}`)).toEqual(['/a/x 2:1', '/a/y 3:2', '/a/z 4:3'])
  })

  it('recognizes a write whose response was lost', async () => {
    await using proxy = await LossyProxy.start(join(folder, 'b.sock'), join(folder, 'a.sock'))
    await using follower = await open(proxy.path)
    proxy.cutAfterRequest()
    expect(await follower.put('/a/x', encode('1'), { expect: 0 })).toMatchObject({ outcome: 'written', entry: { revision: 2 } })
    expect(text(owner.peek('/a/x')?.value)).toBe('2:1')
  })

  it('cannot be opened where nothing is served', async () => {
    await expect(open(join(folder, 'none.sock'))).rejects.toMatchObject({ detail: { code: 'Unavailable', reason: 'remote' } })
  })
})

/** A proxy that cuts connections. */
class LossyProxy implements AsyncDisposable {
  readonly path: string
  readonly #server
  readonly #sockets = new Set<Socket>()
  #isSilent = false

  private constructor(path: string, target: string) {
    this.path = path
    this.#server = createServer((near) => {
      const far = connect(target)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined)
        socket.once('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      near.on('data', (chunk) => far.write(chunk))
      far.on('data', (chunk) => {
        if (this.#isSilent) this.cut()
        else near.write(chunk)
      })
    })
  }

  static async start(path: string, target: string): Promise<LossyProxy> {
    const proxy = new LossyProxy(path, target)
    await new Promise<void>((resolve) => proxy.#server.listen(path, resolve))
    return proxy
  }

  /** Cuts all connections; later ones are served. */
  cut(): void {
    this.#isSilent = false
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Forwards requests, and cuts the connection instead of returning the next response. */
  cutAfterRequest(): void {
    this.#isSilent = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
