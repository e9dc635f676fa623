import { type ApiObject, createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import { runValidation } from '../../../validation.ts'
import { priorityLevelConfigurationStrategy } from '../../flowcontrol/priority-level-configuration/strategy.ts'
import { testContext } from '../../testing/context.ts'
import { serviceCidrStrategy } from './strategy.ts'

const at = (release: string) => testContext({ features: createFeatures(release) })

it('writes of service ranges leave their status alone since 1.36', () => {
  const range = (status: object) =>
    ({ metadata: { name: 'x' }, spec: { cidrs: ['10.0.0.0/24'] }, status }) as unknown as ApiObject
  const written = (release: string) => {
    const [created, updated] = [range({ a: 1 }), range({ a: 1 })]
    runPreparation(serviceCidrStrategy.prepareForCreate?.(created, at(release)))
    runPreparation(serviceCidrStrategy.prepareForUpdate?.(updated, range({ b: 2 }), at(release)))
    return [created['status'], updated['status']]
  }
  expect([written('1.35'), written('1.36')]).toEqual([
    [{ a: 1 }, { a: 1 }],
    [{}, { b: 2 }],
  ])
})

it('priority levels require a type since 1.36', () => {
  const level = { metadata: { name: 'x' }, spec: {} } as unknown as ApiObject
  const reasons = (release: string) =>
    runValidation(priorityLevelConfigurationStrategy.validate?.(level, at(release))).map(
      ({ field, reason }) => `${field} ${reason}`,
    )
  expect([reasons('1.35'), reasons('1.36')]).toEqual([['spec.type FieldValueNotSupported'], ['spec.type FieldValueRequired']])
})
