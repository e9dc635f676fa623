import type { ReadyChunks } from '@krmkit/protocol'
import { expect, it } from 'vitest'
import { StreamPump, type StreamSink } from './stream-pump.ts'
import { WriteCoalescer } from './write-coalescer.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A sink that records its input, and reports that it is full after each write while `isFull` is set. */
class RecordingSink implements StreamSink {
  readonly sent: string[] = []
  isFull = false
  drain: () => void = () => {}

  send(pieces: readonly Uint8Array[]): boolean {
    this.sent.push(Buffer.concat(pieces).toString())
    return !this.isFull
  }

  onceDrained(fn: () => void): void {
    this.drain = fn
  }

  onceClosed(): void {}

  end(): void {
    this.sent.push('end')
  }

  abort(): void {}
}

/** A stream whose iterator returns the chunks given to `push`, and whose ready chunks are those given to `offer`. */
function source() {
  const waiting: string[] = []
  let resolve: ((result: IteratorResult<Uint8Array>) => void) | undefined
  const ready: ReadyChunks = {
    onReady: undefined,
    take: () => waiting.splice(0).map((text) => Buffer.from(text)),
  }
  const stream: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((settle) => {
          resolve = settle
        }),
    }),
  }
  return {
    body: { stream, ready },
    offer(text: string) {
      waiting.push(text)
      ready.onReady?.()
    },
    push: (text: string) => resolve?.({ done: false, value: Buffer.from(text) }),
    end: () => resolve?.({ done: true, value: undefined }),
  }
}

function pump() {
  const sink = new RecordingSink()
  const { body, ...from } = source()
  const running = new StreamPump(body, { sink, coalescer: new WriteCoalescer() }).run()
  return { sink, running, ...from }
}

it('sends the chunks that are ready together, at the end of the turn', async () => {
  const { sink, offer } = pump()
  offer('a')
  offer('b')
  expect(sink.sent).toEqual([])
  await turn()
  expect(sink.sent).toEqual(['ab'])
  offer('c')
  await turn()
  expect(sink.sent).toEqual(['ab', 'c'])
})

it('sends what the iterator has returned before the chunks that are ready after it', async () => {
  const { sink, offer, push, end, running } = pump()
  push('a')
  await Promise.resolve()
  offer('b')
  await turn()
  end()
  await running
  expect(sink.sent.join('')).toBe('abend')
})

it('takes nothing while the sink is full', async () => {
  const { sink, offer } = pump()
  sink.isFull = true
  offer('a')
  await turn()
  offer('b')
  offer('c')
  await turn()
  await turn()
  expect(sink.sent).toEqual(['a'])
  sink.isFull = false
  sink.drain()
  await turn()
  expect(sink.sent).toEqual(['a', 'bc'])
})

it('takes chunks that became ready while other streams were flushed', async () => {
  const coalescer = new WriteCoalescer()
  const sink = new RecordingSink()
  const { body, offer } = source()
  void new StreamPump(body, { sink, coalescer }).run()
  offer('a')
  const flush = () => {
    offer('b')
    return false
  }
  coalescer.schedule({ collect: () => {}, flush, resume: () => {} })
  await turn()
  await turn()
  expect(sink.sent).toEqual(['a', 'b'])
})
