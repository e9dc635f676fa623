import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

describe('Turns', () => {
  it('lets one at a time work on a key, in the order they asked', async () => {
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

  it('keeps keys apart, and forgets those nobody works on', async () => {
    const turns = new KeyedMutex(fakeClock())
    const end = await turns.lock('x')
    const other = await turns.lock('y')
    other()
    end()
    const again = await turns.lock('x')
    again()
  })

  it('does not wait for ever for one who does not end', async () => {
    const clock = fakeClock()
    const turns = new KeyedMutex(clock)
    await turns.lock('x')
    const second = turns.lock('x')
    clock.advance(1000)
    const end = await second
    end()
  })
})
