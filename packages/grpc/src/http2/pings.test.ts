import { afterEach, describe, expect, it, vi } from 'vitest'
import { encodeFrame, type Frame, frameFlag, frameType } from './frames.ts'
import { Pings } from './pings.ts'

const open: Pings[] = []
afterEach(() => {
  for (const pings of open.splice(0)) pings.close()
})

describe('pings of the server', () => {
  const ping = (text: string, flags = 0): Frame => ({ type: frameType.ping, flags, stream: 0, payload: Buffer.from(text) })
  const answer = (text: string) => encodeFrame({ type: frameType.ping, flags: frameFlag.ack, stream: 0 }, Buffer.from(text))
  const start = (pingDelayMs: number) => {
    const written: Buffer[] = []
    const onSilent = vi.fn()
    const options = { keepaliveMs: 60_000, pingTimeoutMs: 60_000, pingDelayMs }
    const pings = new Pings(options, { write: (frame) => written.push(frame), onSilent })
    open.push(pings)
    return { pings, written }
  }

  it('are answered alone when nothing else is sent, in order', async () => {
    const { pings, written } = start(1)
    const first = ping('11111111')
    pings.receive(first)
    pings.receive(ping('22222222'))
    first.payload.fill(0)
    expect(written).toEqual([])
    await expect.poll(() => written).toEqual([answer('11111111'), answer('22222222')])
    pings.receive(ping('33333333'))
    await expect.poll(() => written.length).toBe(3)
    expect(written[2]).toEqual(answer('33333333'))
  })

  it('are answered with other frames, not before the delay is over', async () => {
    const early = start(60_000)
    early.pings.receive(ping('11111111'))
    expect(early.pings.due()).toEqual([])
    const { pings, written } = start(20)
    pings.receive(ping('11111111'))
    // The answer is sent at the latest by itself, even if this process is interrupted.
    await expect.poll(() => [...pings.due(), ...written], { interval: 5 }).toEqual([answer('11111111')])
    expect(pings.due()).toEqual([])
  })

  it('differ from answers, which are not answered', async () => {
    const { pings, written } = start(0)
    pings.receive(ping('11111111', frameFlag.ack))
    pings.receive(ping('22222222'))
    await expect.poll(() => written).toEqual([answer('22222222')])
  })

  it('are not answered on a closed connection', async () => {
    const { pings, written } = start(0)
    pings.receive(ping('11111111'))
    pings.close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(written).toEqual([])
  })
})
