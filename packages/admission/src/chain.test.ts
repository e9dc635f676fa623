import { ApiError, type ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from './chain.ts'
import type { AdmissionPlugin } from './interfaces.ts'
import { attributesOf, contextOf } from './testing/request.ts'

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const attributes = attributesOf('configmaps')

function noting(name: string, seen: string[], handles = true): AdmissionPlugin {
  const note = (step: string) => async () => {
    await Promise.resolve()
    seen.push(`${step} ${name}`)
  }
  return { name, handles: () => handles, admit: note('admit'), validate: note('validate') }
}

describe('the chain', () => {
  it('runs plugins in order, each after the one before has ended', async () => {
    const seen: string[] = []
    const chain = createAdmissionChain([noting('a', seen), noting('b', seen), noting('c', seen)])
    await chain.admit(object, attributes, contextOf())
    await chain.validate(object, attributes, contextOf())
    expect(seen).toEqual(['admit a', 'admit b', 'admit c', 'validate a', 'validate b', 'validate c'])
    expect(chain.plugins.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('calls plugins as the objects that they are', async () => {
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

  it('leaves out what does not handle the request, and halves that a plugin does not have', async () => {
    const seen: string[] = []
    const { admit, ...judge } = noting('judge', seen)
    const chain = createAdmissionChain([noting('other', seen, false), judge, { name: 'none', handles: () => true }])
    await chain.admit(object, attributes, contextOf())
    await chain.validate(object, attributes, contextOf())
    expect(seen).toEqual(['validate judge'])
  })

  it('gives back what plugins made of the object, which itself stays as it was', async () => {
    const given = { ...object, data: Object.freeze({ a: '1' }), other: Object.freeze({}) }
    const changing: AdmissionPlugin = {
      name: 'change',
      handles: () => true,
      admit: (draft) => {
        ;(draft as { data?: Record<string, string> }).data = { ...given.data, b: '2' }
      },
    }
    const answer = await createAdmissionChain([noting('before', []), changing]).admit(given, attributes, contextOf())
    expect(answer.data).toEqual({ a: '1', b: '2' })
    expect(answer.other).toBe(given.other)
    expect(given.data).toEqual({ a: '1' })
  })

  it('asks early checks about deletions too, which have no object to change', async () => {
    const seen: string[] = []
    const checking: AdmissionPlugin = { ...noting('a', seen), check: () => void seen.push('check a') }
    const chain = createAdmissionChain([checking, noting('b', seen)])
    expect(await chain.admit(undefined, { ...attributes, operation: 'DELETE' }, contextOf())).toBeUndefined()
    expect(seen).toEqual(['check a'])
    await chain.admit(object, attributes, contextOf())
    expect(seen).toEqual(['check a', 'check a', 'admit a', 'admit b'])
  })

  it('ends at the first refusal', async () => {
    const seen: string[] = []
    const refusing: AdmissionPlugin = {
      name: 'no',
      handles: () => true,
      admit: () => {
        throw ApiError.forbidden(attributes.resource, 'a', 'no')
      },
    }
    const chain = createAdmissionChain([noting('a', seen), refusing, noting('b', seen)])
    await expect(chain.admit(object, attributes, contextOf())).rejects.toThrow('configmaps "a" is forbidden: no')
    expect(seen).toEqual(['admit a'])
  })
})
