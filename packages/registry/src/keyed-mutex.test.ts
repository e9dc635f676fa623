import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

describe('KeyedMutex', () => {
  it('grants one lock per key, in the order of request', async () => {
    const turns = new KeyedMutex(fakeClock())
    const seen: string[] = []
    const work = async (name: string, key: string) => {
      const end = await turns.lock(key)
      seen.push(`${name} in`)
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`${name} out`)
      end()
    }
    await Promise.all([work('a', 'x'), work('b', 'x'), work('c', 'x')])
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
  })

  it('keeps keys independent and forgets released ones', async () => {
    const turns = new KeyedMutex(fakeClock())
    const end = await turns.lock('x')
    const other = await turns.lock('y')
    other()
    end()
    const again = await turns.lock('x')
    again()
  })

  it('proceeds when a holder does not release in time', async () => {
    const clock = fakeClock()
    const turns = new KeyedMutex(clock)
    await turns.lock('x')
    const second = turns.lock('x')
    clock.advance(1000)
    const end = await second
    end()
  })
})
