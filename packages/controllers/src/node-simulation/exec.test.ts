import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { openExec } from './exec.ts'
import type { ContainerBehavior, ExecContext } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'
import { PodRuntime } from './pod-runtime.ts'
import { controlFrame, dataFrame, frameTypes, numbers } from './spdy/frames.ts'
import { HeaderEncoder } from './spdy/header-block.ts'

const pod: ReadonlyPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'web', image: 'web' }] },
}
const frameBytes = 60_000

/** Opens the streams of a command with standard input. */
function open(
  behavior: ContainerBehavior,
  { isSpdy = false, command = 'cat', ended = new AbortController().signal } = {},
): Duplex {
  const random = { bytes: (length: number) => new Uint8Array(length), uuid: () => '', number: () => 0 }
  const runtime = new PodRuntime(pod, {
    behaviors: [behavior],
    random: random as never,
    podIP: '10.0.0.1',
    hostIP: '10.0.0.2',
    nowMs: 0,
  })
  runtime.advance(pod, 0)
  runtime.advance(pod, 0)
  const searchParams = new URLSearchParams({ input: '1', output: '1' })
  for (const word of command.split(' ')) searchParams.append('command', word)
  const headers: Record<string, string> = isSpdy
    ? { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
    : { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'A==', 'sec-websocket-protocol': 'v5.channel.k8s.io' }
  const { body } = openExec(
    { method: 'POST', path: '/exec/default/web/web', headers, signal: new AbortController().signal },
    { pod, run: runtime.all[0]!, nowMs: 0, isAttach: false, searchParams, ended, wait: () => new Promise(() => undefined) },
  )
  if (body.kind !== 'connection') throw new Error('the connection was not upgraded')
  if (isSpdy) {
    const encoder = new HeaderEncoder()
    for (const [i, streamtype] of ['error', 'stdin', 'stdout'].entries()) {
      const payload = Buffer.concat([numbers(2 * i + 1, 0), Buffer.alloc(2), encoder.encode({ streamtype })])
      body.connection.write(controlFrame(frameTypes.synStream, payload))
    }
  }
  return body.connection
}

/** Sends frames of standard input. @returns the number of frames that the server has read so far */
function send(connection: Duplex, { count, isSpdy }: { readonly count: number; readonly isSpdy: boolean }): () => number {
  let taken = 0
  // The mask is zero.
  const head = Buffer.from([0x82, 0x80 | 126, frameBytes >> 8, frameBytes & 0xff, 0, 0, 0, 0])
  const frame = isSpdy ? dataFrame(3, Buffer.alloc(frameBytes)) : Buffer.concat([head, Buffer.alloc(frameBytes)])
  for (let i = 0; i < count; i++) connection.write(frame, () => taken++)
  return () => taken
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 50))

describe.each([
  ['WebSocket', false],
  ['SPDY', true],
])('a command over %s', (_, isSpdy) => {
  it('is killed and its streams are closed when its container ends', async () => {
    const container = new AbortController()
    let isStopped = false
    const exec = ({ signal }: ExecContext) =>
      new Promise<number>(() => signal.addEventListener('abort', () => (isStopped = true)))
    const connection = open({ exec }, { isSpdy, ended: container.signal })
    let output = ''
    connection.on('data', (chunk: Buffer) => (output += chunk.toString('latin1')))
    await aMoment()
    container.abort()
    await expect.poll(() => output).toContain('exit status 137')
    expect(isStopped).toBe(true)
  })
})

describe.each([
  ['WebSocket', false],
  ['SPDY', true],
])('standard input over %s', (_, isSpdy) => {
  it('applies backpressure to the client until the handler reads', async () => {
    let read = 0
    let begin: () => void = () => undefined
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const connection = open(
      {
        async exec({ stdin }) {
          await begun
          for await (const chunk of stdin) read += chunk.length
          return 0
        },
      },
      { isSpdy },
    )
    const taken = send(connection, { count: 200, isSpdy })
    await aMoment()
    expect(taken()).toBeLessThan(3)
    begin()
    // Over WebSocket the first byte of a message names the channel.
    await expect.poll(() => read).toBe(200 * (frameBytes - (isSpdy ? 0 : 1)))
    connection.destroy()
  })

  it('is discarded when the command does not read it', async () => {
    const connection = open({}, { isSpdy, command: 'sleep inf' })
    const taken = send(connection, { count: 200, isSpdy })
    await expect.poll(taken).toBe(200)
    connection.destroy()
  })

  it('is discarded after the command has ended', async () => {
    const connection = open({ exec: () => 0 }, { isSpdy })
    connection.resume()
    const taken = send(connection, { count: 200, isSpdy })
    await expect.poll(taken).toBe(200)
    connection.destroy()
  })
})
