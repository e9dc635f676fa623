import { expect, it } from 'vitest'
import { lazyModule } from './lazy-module.ts'

it('loads once, and is ready afterwards', async () => {
  let loads = 0
  const module = lazyModule('the rules', async () => ({ number: ++loads }))
  expect(() => module.loaded()).toThrow('the rules are not loaded: await ready() first')
  await Promise.all([module.load(), module.load()])
  expect(module.loaded()).toEqual({ number: 1 })
  expect(module.load()).toBeUndefined()
})

it('loads again after a failure', async () => {
  const outcomes = [() => Promise.reject(new Error('offline')), () => Promise.resolve('rules')]
  const module = lazyModule('the rules', () => outcomes.shift()!())
  await expect(module.load()).rejects.toThrow('offline')
  await module.load()
  expect(module.loaded()).toBe('rules')
})
