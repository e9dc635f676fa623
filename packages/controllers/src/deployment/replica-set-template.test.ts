import { turnsDuring } from '@krmkit/base/testing'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type AnnotationKeys, annotationKeysOf, type Deployment, hashLabel } from './objects.ts'
import { buildReplicaSet, findNewSet, sameTemplate, templateHash, withRevision } from './replica-set-template.ts'
import { rollBackTo } from './rollback.ts'

const keys: AnnotationKeys = annotationKeysOf(stockProfile)
const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'v']))

function deploymentWith(labels: Record<string, string>, annotations: Record<string, string> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', annotations },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  }
}

it('the hash of a template is stable', async () => {
  expect(await templateHash(deploymentWith({ app: 'web' }).spec?.template)).toBe('794686fc5b')
  expect(await templateHash(deploymentWith({ app: 'web', ...wide }).spec?.template)).toBe('987f9687d')
})

describe.each([
  ['small', { app: 'web' }],
  ['large', { app: 'web', ...wide }],
])('a replica set of a %s template', (_, labels) => {
  const annotations = { note: 'x', [keys.lastApplied]: '{}' }

  it('has the labels of the template and its hash', async () => {
    const deployment = deploymentWith(labels, annotations)
    const set = await buildReplicaSet(deployment, keys, 3n)
    const hash = await templateHash(deployment.spec?.template)
    expect(set.metadata.name).toBe(`web-${hash}`)
    expect(set.metadata.labels).toEqual({ ...labels, [hashLabel]: hash })
    expect(set.spec?.template?.metadata?.labels).toEqual({ ...labels, [hashLabel]: hash })
    expect(set.spec?.selector?.matchLabels).toEqual({ app: 'web', [hashLabel]: hash })
    expect(set.metadata.annotations).toEqual({ note: 'x', [keys.revision]: '3', [keys.desired]: '1', [keys.max]: '1' })
    expect(await templateHash(set.spec?.template)).toBe(hash)
  })

  it('is found by its template', async () => {
    const deployment = deploymentWith(labels)
    const [set, other] = [
      await buildReplicaSet(deployment, keys, 1n),
      await buildReplicaSet(deploymentWith({ ...labels, app: 'api' }), keys, 2n),
    ]
    expect(await sameTemplate(other, deployment)).toBe(false)
    expect(await findNewSet(deployment, [other, set])).toBe(set)
    expect(await findNewSet(deployment, [other])).toBeUndefined()
  })

  it('keeps its earlier revisions in an annotation', async () => {
    const deployment = deploymentWith(labels, { ...annotations, ...labels })
    const set = await buildReplicaSet(deployment, keys, 2n)
    const next = await withRevision(deployment, set, keys, 5n)
    expect(next).toEqual({ ...set.metadata.annotations, [keys.history]: '2', [keys.revision]: '5' })
    expect(await withRevision(deployment, set, keys, 2n)).toEqual(set.metadata.annotations)
  })

  it('returns its template and annotations for a rollback', async () => {
    const [before, now] = [
      deploymentWith(labels, annotations),
      deploymentWith({ app: 'api' }, { [keys.rollbackTo]: '2', kept: 'no' }),
    ]
    const set = await buildReplicaSet(before, keys, 2n)
    const back = await rollBackTo(now, [set], 2n, keys)
    expect(back.spec?.template).toEqual(before.spec?.template)
    expect(back.metadata.annotations).toEqual({ note: 'x' })
    const unchanged = await rollBackTo(now, [set], 7n, keys)
    expect(unchanged).toEqual({ ...now, metadata: { ...now.metadata, annotations: { kept: 'no' } } })
  })
})

it('hashes, copies and compares a large template in several turns of the event loop', async () => {
  const turnsFor = async (deployment: Deployment) =>
    (await turnsDuring(async () => sameTemplate(await buildReplicaSet(deployment, keys, 1n), deployment))).turns
  expect(await turnsFor(deploymentWith({ app: 'web' }))).toBe(0)
  expect(await turnsFor(deploymentWith(wide))).toBeGreaterThan(2)
})
