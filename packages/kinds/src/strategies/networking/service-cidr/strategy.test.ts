import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { serviceCidrStrategy } from './strategy.ts'

const object = (...cidrs: readonly string[]) =>
  ({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
    metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
    spec: { cidrs },
  }) as unknown as ApiObject

it('a range of the other family may be added', () => {
  const update = (old: readonly string[], ...next: readonly string[]) =>
    runValidation(serviceCidrStrategy.validateUpdate?.(object(...next), object(...old), testContext())).map(
      ({ field, message }) => `${field.slice('spec.cidrs'.length)}: ${message}`,
    )
  const [four, six] = ['10.0.0.0/16', 'fd00::/64']
  expect(update([four], four, six)).toEqual([])
  expect(update([four], six, four)).toEqual([`[0]: Invalid value: "${six}": field is immutable`])
  expect(update([four], '10.1.0.0/16')).toEqual(['[0]: Invalid value: "10.1.0.0/16": field is immutable'])
  expect(update([four], four, '10.1.0.0/16')).toEqual([
    expect.stringContaining('may specify no more than one IP for each IP family'),
  ])
  expect(update([four, six], four)).toEqual([`: Invalid value: []string{"${four}"}: field is immutable`])
})
