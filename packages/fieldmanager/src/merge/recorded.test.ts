import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import { decodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { formatFieldsV1 } from '../fieldpath/fields-v1-text.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { typedSchemaFromSmd } from '../typed/from-smd.ts'
import { validateValue } from '../typed/validate.direct.ts'
import { identityConverter, type TypedValue } from './converter.ts'
import type { Managers } from './managers.ts'
import { applyManager, updateManagers } from './updater.direct.ts'

/**
 * Random histories with the recorded results of the reference implementation: objects, owners, conflicts and errors of each step.
 */

type Expected =
  | { readonly refused: true }
  | { readonly conflicts: readonly string[] }
  | {
      readonly object?: JsonValue
      readonly unchanged?: true
      readonly managers: Readonly<Record<string, { readonly set: JsonObject; readonly applied: boolean }>>
    }

interface Step {
  readonly apply?: string
  readonly update?: string
  readonly force?: boolean
  /** Schema from this step on. */
  readonly schema?: JsonObject
  readonly value: JsonValue
  readonly expect: Expected
}

interface History {
  readonly name: string
  readonly source: string
  readonly schema: JsonObject
  readonly ignored?: JsonObject
  readonly steps: readonly Step[]
}

describe.each([{ checked: false }, { checked: true }])('recorded histories, precomputed sets: $checked', ({ checked }) => {
  it.each(readOwnVectors<History>('recorded-histories.json'))('$name', (history) => {
    let type = typedSchemaFromSmd(history.schema).type('t0')
    let live: TypedValue = { value: {}, type }
    let managers: Managers = new Map()
    const ignored = history.ignored === undefined ? undefined : { v1: { exclude: decodeFieldsV1(history.ignored) } }
    const options = { converter: identityConverter, ignored }
    history.steps.forEach((step, i) => {
      if (step.schema !== undefined) {
        type = typedSchemaFromSmd(step.schema).type('t0')
        live = { ...live, type }
      }
      const value = deepFreeze(step.value)
      const write = { live, apiVersion: 'v1', managers, manager: (step.apply ?? step.update) as string }
      const run = (): Expected => {
        if (validateValue(value, type, { allowDuplicates: step.update !== undefined }).length > 0) return { refused: true }
        if (step.update !== undefined) {
          managers = updateManagers(write, { value, type }, options)
          live = { value, type }
          return { object: value, managers: plainManagers(managers) }
        }
        const appliedSet = checked ? fieldSetOf(value, type) : undefined
        const outcome = applyManager(write, { value, type }, step.force === true, { ...options, appliedSet })
        if (outcome.kind === 'conflict') {
          return { conflicts: outcome.conflicts.map(({ manager, path }) => `${manager} ${formatPath(path)}`).sort() }
        }
        managers = outcome.managers
        if (outcome.object === undefined) return { unchanged: true, managers: plainManagers(managers) }
        live = deepFreeze(outcome.object)
        return { object: live.value ?? null, managers: plainManagers(managers) }
      }
      expect(textual(catchErrors(run)), `step ${i}`).toEqual(textual(step.expect))
    })
  })
})

function catchErrors(run: () => Expected): Expected {
  try {
    return run()
  } catch (error) {
    if (error instanceof FieldManagerError) return { refused: true }
    throw error
  }
}

function plainManagers(managers: Managers): Record<string, { set: JsonObject; applied: boolean }> {
  return Object.fromEntries(
    [...managers].map(([name, { set, applied }]) => [name, { set: JSON.parse(formatFieldsV1(set)) as JsonObject, applied }]),
  )
}

/** managers as text, because the order within a set matters. */
function textual(expected: Expected): unknown {
  if (!('managers' in expected)) return expected
  const managers = Object.entries(expected.managers).map(([name, { set, applied }]) => [name, [JSON.stringify(set), applied]])
  return { ...expected, managers: Object.fromEntries(managers) }
}
