import { type ApiObject, createFeatures, createNamingProfile, fakeClock, seededRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import type { StrategyContext } from '../interfaces.ts'
import { runPreparation } from '../preparation.ts'
import { runValidation } from '../validation.ts'
import { strategies } from './index.ts'

const profile = createNamingProfile({ domain: 'example.org', apiDomain: 'api.example.org' })
const context: StrategyContext = { clock: fakeClock(0), random: seededRandom(1), profile, features: createFeatures('1.33') }

it('names labels, annotations and groups after the profile', () => {
  const namespace: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }
  runPreparation(strategies['/Namespace']?.canonicalize?.(namespace, context))
  expect(namespace.metadata.labels).toEqual({ 'example.org/metadata.name': 'a' })

  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' }, type: 'example.org/tls' }
  expect(runValidation(strategies['/Secret']?.validate?.(secret, context)).map(({ field }) => field)).toEqual([
    'data[tls.crt]',
    'data[tls.key]',
  ])

  const runtime = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'r' }, handler: 'h' }
  const scheduled = { ...runtime, scheduling: { nodeSelector: { 'beta.example.org/os': 'linux' } } }
  expect(strategies['node.k8s.io/RuntimeClass']?.warnings?.(scheduled, undefined, context)).toEqual([
    'scheduling.nodeSelector: deprecated since v1.14; use "example.org/os" instead',
  ])

  const source = { apiGroup: 'snapshot.storage.api.example.org', kind: 'VolumeSnapshot', name: 's' }
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' }, spec: { dataSource: source } }
  runPreparation(strategies['/PersistentVolumeClaim']?.prepareForCreate?.(claim, context))
  expect(claim.spec).toEqual({ dataSource: source, dataSourceRef: source })
})
