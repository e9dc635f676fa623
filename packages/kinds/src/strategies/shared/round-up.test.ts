import { stockProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { PersistentVolume, PersistentVolumeClaim, Pod } from '../../group-versions/core-v1.generated.ts'
import { persistentVolumeClaimStrategy } from '../core/persistent-volume-claim/strategy.ts'
import { printAmount } from './quantities.ts'
import { roundUp } from './round-up.direct.ts'

/** Amounts as kube-apiserver rounds and prints them. */
const rounded = {
  '1n': '1m',
  '1500u': '2m',
  '100e-9': '1e-3',
  '100e-6': '1e-3',
  '1500e-6': '2e-3',
  '2500e-6': '3e-3',
  '-1500e-6': '-2e-3',
  '100e-3': '100e-3',
  '12e6': '12e6',
  '1Gi': '1Gi',
}

it.each(Object.entries(rounded))('rounds %s up to %s', (given, expected) => {
  const amounts = { cpu: given }
  roundUp(amounts)
  expect(amounts.cpu).toBe(expected)
})

it.each([
  ['1e-7', '1e-3'],
  ['1e-4', '1e-3'],
  ['15e-4', '2e-3'],
  ['2500e-6', '3e-3'],
  [1e-7, '1e-3'],
  ['100n', '1m'],
])('a claim, a volume and a container of %s have %s', (given, expected) => {
  const type = { apiVersion: 'v1', metadata: { name: 'a' } }
  const amounts = { storage: given }
  const claim = PersistentVolumeClaim.default(
    PersistentVolumeClaim.decode({ ...type, kind: 'PersistentVolumeClaim', spec: { resources: { requests: amounts } } }),
  )
  expect(claim.spec?.resources?.requests).toEqual({ storage: expected })
  const volume = PersistentVolume.decode({ ...type, kind: 'PersistentVolume', spec: { capacity: amounts } })
  expect(PersistentVolume.default(volume).spec?.capacity).toEqual({ storage: expected })
  const pod = Pod.decode({ ...type, kind: 'Pod', spec: { containers: [{ name: 'c', resources: { limits: { cpu: given } } }] } })
  expect(Pod.default(pod).spec?.containers[0]?.resources?.limits).toEqual({ cpu: expected })
  expect(persistentVolumeClaimStrategy.warnings?.(claim as never, undefined, { profile: stockProfile } as never)).toEqual([
    `spec.resources.requests[storage]: fractional byte value "${expected}" is invalid, must be an integer`,
  ])
})

it('amounts with an exponent are printed as Go prints them', () => {
  expect(printAmount('1e-3')).toBe(
    'resource.Quantity{i:resource.int64Amount{value:1, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1e-3", Format:"DecimalExponent"}',
  )
})
