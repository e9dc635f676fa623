/**
 * Recorded rejections of ConfigMaps because of invalid metadata, reproduced with the rules of this package.
 *
 * A create is validated by the rules of the kind; an update by the generic rules for new and changed metadata, then again by
 * the rules of the kind for both. `details.causes` lists all errors.
 */

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  ApiError,
  type FieldError,
  generateName,
  nameRules,
  type ObjectMeta,
  type Status,
  seededRandom,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './index.ts'
import { validateBuiltInObjectMeta } from './validation/index.ts'

interface Step {
  readonly id: string
  readonly method?: string
  readonly path: string
  readonly body?: { readonly metadata?: ObjectMeta; readonly kind?: string }
}

const folder = new URL('../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(folder)
const kind = { group: '', kind: 'ConfigMap' }
const builtIn = { namespaced: true, name: nameRules.dns1123Subdomain }
const generic = { namespaced: true, name: nameRules.pathSegment }

describe.skipIf(!present)('recorded metadata errors (skipped: ../shared is absent)', () => {
  for (const file of ['protocol/create-names', 'protocol/create-client-metadata', 'storage/metadata-names']) {
    it(`${file} [P5 P10 P11]`, () => {
      let seen = 0
      for (const { step, status } of refusals(file, 'POST')) {
        const meta: ObjectMeta = { namespace: 'ns-id', ...step.body?.metadata }
        const generated = meta.name === undefined && meta.generateName !== undefined
        if (generated) meta.name = generateName(meta.generateName as string, seededRandom(1))
        if (generated) mask(status)
        compare(meta.name ?? '', validateBuiltInObjectMeta(meta, builtIn), status)
        seen++
      }
      expect(seen).toBeGreaterThan(0)
    })
  }

  it('protocol/update-metadata [P18 P19]', () => {
    let seen = 0
    for (const { step, status } of [
      ...refusals('protocol/update-metadata', 'PUT'),
      ...refusals('protocol/update-metadata', 'PATCH'),
    ]) {
      const old: ObjectMeta = {
        name: 'a',
        namespace: 'ns-id',
        uid: 'u',
        resourceVersion: '1',
        creationTimestamp: '2001-01-01T00:00:00Z',
      }
      const meta = { ...old, ...step.body?.metadata }
      const update = validateObjectMetaUpdate(meta, old)
      const errors = [...validateObjectMeta(meta, generic), ...update, ...validateBuiltInObjectMeta(meta, builtIn), ...update]
      compare('a', errors, status)
      seen++
    }
    expect(seen).toBeGreaterThan(6)
  })
})

/** Masks a random generated name, which differs from the recorded one. */
function mask(status: Status): void {
  status.message = '<masked>'
  if (status.details?.name !== undefined) status.details.name = '<masked>'
}

/** Compares everything except masked parts. */
function compare(name: string, errors: readonly FieldError[], status: Status): void {
  const made = ApiError.invalid(kind, name, errors).status
  const expected = structuredClone(status)
  if (expected.message?.includes('<masked>')) expected.message = made.message as string
  if (expected.details?.name?.includes('<masked>')) expected.details.name = made.details?.name as string
  expected.details?.causes?.forEach((cause, i) => {
    if (cause.message?.includes('<masked>')) cause.message = made.details?.causes?.[i]?.message as string
  })
  expect(made).toEqual(expected)
}

function refusals(file: string, method: string): { step: Step; status: Status }[] {
  const text = readFileSync(new URL(`${file}.json`, folder), 'utf8').replaceAll('{id}', 'id')
  const { steps, expected } = JSON.parse(text) as {
    steps: Step[]
    expected: Record<string, { status: number; body: Status } | undefined>
  }
  return steps.flatMap((step) => {
    const answer = expected[step.id]
    if (answer?.status !== 422 || step.method !== method || !step.path.includes('/configmaps')) return []
    const ours = answer.body.details?.causes?.every((cause) => cause.field?.startsWith('metadata.'))
    return ours ? [{ step, status: answer.body }] : []
  })
}
