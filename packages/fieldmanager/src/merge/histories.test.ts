import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import { identityConverter, type TypedValue } from './converter.ts'
import type { Managers } from './managers.ts'
import { applyManager, updateManagers } from './updater.direct.ts'

interface Step {
  apply?: string
  update?: string
  force?: boolean
  object: JsonValue
  conflicts?: string[]
}

interface History {
  name: string
  source: string
  steps: Step[]
  expect: { object: JsonValue; managers: Record<string, JsonObject> }
}

const type = typedSchemaFromSmd({
  types: [
    {
      name: 'root',
      map: {
        fields: [
          { name: 'm', type: { map: { elementType: { scalar: 'string' } } } },
          {
            name: 'list',
            type: { list: { elementType: { namedType: 'item' }, elementRelationship: 'associative', keys: ['name'] } },
          },
          { name: 'set', type: { list: { elementType: { scalar: 'string' }, elementRelationship: 'associative' } } },
          { name: 'atoms', type: { list: { elementType: { scalar: 'string' }, elementRelationship: 'atomic' } } },
        ],
      },
    },
    { name: 'item', map: { fields: ['name', 'v', 'w'].map((name) => ({ name, type: { scalar: 'string' } })) } },
  ],
}).type('root')

describe('histories of one object', () => {
  for (const history of readOwnVectors<History>('histories.json')) {
    it(history.name, () => {
      let live: TypedValue = { value: null, type }
      let managers: Managers = new Map()
      for (const step of history.steps) {
        const next: TypedValue = { value: deepFreeze(step.object), type }
        const write = { live, managers, apiVersion: 'v1', manager: (step.apply ?? step.update) as string }
        if (step.update !== undefined) {
          managers = updateManagers(write, next, { converter: identityConverter })
          live = next
          continue
        }
        const outcome = applyManager(write, next, step.force === true, { converter: identityConverter })
        const conflicts = outcome.kind === 'conflict' ? outcome.conflicts : []
        expect(conflicts.map(({ manager, path }) => `${manager} ${formatPath(path)}`)).toEqual(step.conflicts ?? [])
        if (outcome.kind === 'conflict') continue
        if (outcome.object !== undefined) live = deepFreeze(outcome.object)
        managers = outcome.managers
      }
      expect(live.value).toEqual(history.expect.object)
      expect(Object.fromEntries([...managers].map(([name, { set }]) => [name, encodeFieldsV1(set)]))).toEqual(
        history.expect.managers,
      )
    })
  }
})
