import { describe, expect, it, vi } from 'vitest'
import { AbortCallbacks } from './abort-callbacks.ts'

describe('AbortCallbacks', () => {
  it('calls each added callback once, unless removed, with one listener on the signal', () => {
    const controller = new AbortController()
    const listen = vi.spyOn(controller.signal, 'addEventListener')
    const callbacks = new AbortCallbacks(controller.signal)
    const calls: string[] = []
    const remove = callbacks.add(() => calls.push('removed'))
    callbacks.add(() => calls.push('a'))
    callbacks.add(() => calls.push('b'))
    remove()
    controller.abort()
    expect(calls).toEqual(['a', 'b'])
    expect(listen).toHaveBeenCalledTimes(1)
  })

  it('calls at once after the signal has aborted', () => {
    const callbacks = new AbortCallbacks(AbortSignal.abort())
    const run = vi.fn()
    callbacks.add(run)()
    expect(run).toHaveBeenCalledTimes(1)
  })
})
