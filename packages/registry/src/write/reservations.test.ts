import type { AdmissionPlugin } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'

/** Reservations of validating admission end with the write: committed when it stores the object, rolled back otherwise. */

function watching(): { readonly plugin: AdmissionPlugin; readonly outcomes: boolean[] } {
  const outcomes: boolean[] = []
  const reservation = { commit: () => void outcomes.push(true), rollback: () => void outcomes.push(false) }
  return { outcomes, plugin: { name: 'Watching', handles: () => true, validate: () => reservation } }
}
const renamed = (current: unknown, label: string): ApiObject => {
  const next = structuredClone(current) as ApiObject
  next.metadata.labels = { label }
  return next
}

it('commits reservations of stored writes and rolls back those of conflicts and dry runs', async () => {
  const { plugin, outcomes } = watching()
  const { create, update } = sampleRegistry({ admission: [plugin] })
  const newOutcomes = () => outcomes.splice(0)
  await create('configmaps', { metadata: { name: 'a' } })
  expect(newOutcomes()).toEqual([true])
  await expect(create('configmaps', { metadata: { name: 'a' } })).rejects.toMatchObject({ reason: 'AlreadyExists' })
  expect(newOutcomes()).toEqual([false])
  await create('configmaps', { metadata: { name: 'b' } }, { dryRun: true })
  expect(newOutcomes()).toEqual([false])
  await update('configmaps', { name: 'a', change: (current) => renamed(current, 'x') })
  expect(newOutcomes()).toEqual([true])
  await update('configmaps', { name: 'a', change: (current) => renamed(current, 'x') })
  expect(newOutcomes()).toEqual([true])
})

it('commits or rolls back the reservation of each attempt of a race', async () => {
  const { plugin, outcomes } = watching()
  const { create, update } = sampleRegistry({ admission: [plugin] })
  await create('configmaps', { metadata: { name: 'a' } })
  outcomes.splice(0)
  const labels = Array.from({ length: 8 }, (_, i) => `l${i}`)
  await Promise.all(labels.map((label) => update('configmaps', { name: 'a', change: (current) => renamed(current, label) })))
  expect(outcomes.filter((written) => written)).toHaveLength(8)
})
