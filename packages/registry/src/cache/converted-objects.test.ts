import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { ConvertedObjects } from './converted-objects.ts'

const entry = (name: string) => ({ key: name }) as unknown as Entry
const [good, bad] = [entry('good'), entry('bad')]
const names = (objects: readonly ApiObject[]) => objects.map(({ metadata }) => metadata.name)

/** A conversion that fails for every list that contains the object `bad`. */
function setup() {
  const calls: (string | undefined)[][] = []
  const conversion = {
    async read(objects: readonly ApiObject[]) {
      calls.push(names(objects))
      await Promise.resolve()
      if (names(objects).includes('bad')) throw new Error('cannot convert bad')
      return objects
    },
  }
  const definition = { conversion, resource: { name: 'widgets' } } as unknown as ResourceDefinition
  const objectOf = ({ key }: Entry) => ({ apiVersion: 'a/v1', kind: 'A', metadata: { name: key } }) as ApiObject
  return { calls, definition, converted: new ConvertedObjects(objectOf as never, (object) => object) }
}

describe('ConvertedObjects', () => {
  it('converts each entry once for concurrent loads', async () => {
    const { calls, definition, converted } = setup()
    await Promise.all([converted.load(definition, [good]), converted.load(definition, [good])])
    expect(converted.load(definition, [good])).toBeUndefined()
    expect(calls).toEqual([['good']])
  })

  it('does not fail for an entry because a concurrent list fails for another one', async () => {
    const { calls, definition, converted } = setup()
    const list = converted.load(definition, [good, bad])
    const single = converted.load(definition, [good])
    await expect(list).rejects.toThrow('cannot convert bad')
    await single
    expect(converted.get(definition, good).metadata.name).toBe('good')
    expect(calls).toEqual([['good', 'bad'], ['good']])
  })

  it('reports the failure of an entry itself', async () => {
    const { definition, converted } = setup()
    const loads = [converted.load(definition, [bad, good]), converted.load(definition, [bad])]
    for (const load of loads) await expect(load).rejects.toThrow('cannot convert bad')
  })
})
