import { ApiError, type ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from './chain.ts'
import type { AdmissionPlugin } from './interfaces.ts'
import { attributesOf, contextOf } from './testing/request.ts'

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const attributes = attributesOf('configmaps')

function recording(name: string, seen: string[], handles = true): AdmissionPlugin {
  const note = (step: string) => async () => {
    await Promise.resolve()
    seen.push(`${step} ${name}`)
  }
  return { name, handles: () => handles, admit: note('admit'), validate: note('validate') }
}

describe('createAdmissionChain', () => {
  it('runs plugins sequentially, in order', async () => {
    const seen: string[] = []
    const chain = createAdmissionChain([recording('a', seen), recording('b', seen), recording('c', seen)])
    await chain.admit(object, attributes, contextOf())
    await chain.validate(object, attributes, contextOf())
    expect(seen).toEqual(['admit a', 'admit b', 'admit c', 'validate a', 'validate b', 'validate c'])
    expect(chain.plugins.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('calls plugin methods with their plugin as this', async () => {
    class Counting implements AdmissionPlugin {
      readonly name = 'counting'
      #calls = 0
      handles(): boolean {
        return true
      }
      admit(): void {
        this.#calls++
      }
      validate(): void {
        this.#calls++
      }
      get calls(): number {
        return this.#calls
      }
    }
    const plugin = new Counting()
    const chain = createAdmissionChain([plugin])
    await chain.admit(object, attributes, contextOf())
    await chain.validate(object, attributes, contextOf())
    expect(plugin.calls).toBe(2)
  })

  it('skips plugins that do not handle the target, and phases that a plugin lacks', async () => {
    const seen: string[] = []
    const { admit, ...judge } = recording('judge', seen)
    const chain = createAdmissionChain([recording('other', seen, false), judge, { name: 'none', handles: () => true }])
    await chain.admit(object, attributes, contextOf())
    await chain.validate(object, attributes, contextOf())
    expect(seen).toEqual(['validate judge'])
  })

  it('returns the admitted object and does not change its argument', async () => {
    const given = { ...object, data: Object.freeze({ a: '1' }), other: Object.freeze({}) }
    const changing: AdmissionPlugin = {
      name: 'change',
      handles: () => true,
      admit: (draft) => {
        ;(draft as { data?: Record<string, string> }).data = { ...given.data, b: '2' }
      },
    }
    const result = await createAdmissionChain([recording('before', []), changing]).admit(given, attributes, contextOf())
    expect(result.data).toEqual({ a: '1', b: '2' })
    expect(result.other).toBe(given.other)
    expect(given.data).toEqual({ a: '1' })
  })

  it('runs check for deletions, which have no object', async () => {
    const seen: string[] = []
    const checking: AdmissionPlugin = { ...recording('a', seen), check: () => void seen.push('check a') }
    const chain = createAdmissionChain([checking, recording('b', seen)])
    expect(await chain.admit(undefined, { ...attributes, operation: 'DELETE' }, contextOf())).toBeUndefined()
    expect(seen).toEqual(['check a'])
    await chain.admit(object, attributes, contextOf())
    expect(seen).toEqual(['check a', 'check a', 'admit a', 'admit b'])
  })

  it('stops at the first refusal', async () => {
    const seen: string[] = []
    const refusing: AdmissionPlugin = {
      name: 'no',
      handles: () => true,
      admit: () => {
        throw ApiError.forbidden(attributes.resource, 'a', 'no')
      },
    }
    const chain = createAdmissionChain([recording('a', seen), refusing, recording('b', seen)])
    await expect(chain.admit(object, attributes, contextOf())).rejects.toThrow('configmaps "a" is forbidden: no')
    expect(seen).toEqual(['admit a'])
  })
})
