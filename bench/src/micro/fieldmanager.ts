/** Field management alone, without decoding and storage. */
import { type ApplyResult, applyPatch, createTypeConverter, type TypeConverter, trackUpdate } from '@krmkit/fieldmanager'
import { builtInTypes } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { applyDefaults, decode, normalize, type StructType } from '@krmkit/schema'
import { entriesConfigMap, manyContainers, sixtyFields } from '../fieldmanager-objects.ts'

export interface FieldManagerRow {
  readonly object: string
  /** Number of leaf values. */
  readonly leaves: number
  readonly create: number
  readonly change: number
  readonly noop: number
  /** Tracking of an ordinary create and update. */
  readonly trackCreate: number
  readonly trackUpdate: number
}

interface Subject {
  readonly object: string
  readonly type: string
  readonly apiVersion: string
  readonly configuration: object
  readonly changed: object
}

const subjects: readonly Subject[] = [
  {
    object: 'Deployment, 60 fields',
    type: 'apps/v1.Deployment',
    apiVersion: 'apps/v1',
    configuration: sixtyFields(1),
    changed: sixtyFields(2),
  },
  ...[100, 1000].map((entries) => ({
    object: `ConfigMap, ${entries} entries`,
    type: 'core/v1.ConfigMap',
    apiVersion: 'v1',
    configuration: entriesConfigMap(entries, '1'),
    changed: entriesConfigMap(entries, '2'),
  })),
  ...[10, 100].map((containers) => ({
    object: `Pod, ${containers} containers`,
    type: 'core/v1.Pod',
    apiVersion: 'v1',
    configuration: manyContainers(containers, '1'),
    changed: manyContainers(containers, '2'),
  })),
]

/** Microseconds per operation. @param milliseconds of each measurement. */
export function fieldManagerRows(milliseconds: number): FieldManagerRow[] {
  const types = builtInTypes()
  return subjects.map((subject) => {
    const type = types.struct(subject.type)
    return row(subject, type, createTypeConverter({ [subject.apiVersion]: () => type }), milliseconds)
  })
}

function row(subject: Subject, type: StructType, types: TypeConverter, milliseconds: number): FieldManagerRow {
  const { apiVersion, object } = subject
  const configuration = subject.configuration as ApiObject
  const changed = subject.changed as ApiObject
  const fixed = { manager: 'bench', force: false, apiVersion, types }
  const stored = (value: object): ApiObject => frozen(normalize(type, applyDefaults(type, decode<ApiObject>(type, value).object)))
  const live = stored(applied(applyPatch({ ...fixed, applied: configuration, now: 0 })))
  const next = stored(changed)
  const tracked = stored(trackUpdate({ ...fixed, next: stored(configuration), now: 0 }))
  // Each object has its own text, as requests do, so that caches by identity do not apply.
  const fresh = copies(configuration)
  const freshChanged = copies(changed)
  return {
    object,
    leaves: leavesOf(configuration) - 2,
    create: time(milliseconds, () => applyPatch({ ...fixed, applied: fresh(), now: 0 })),
    change: time(milliseconds, () => applyPatch({ ...fixed, live, applied: freshChanged(), now: 5000 })),
    noop: time(milliseconds, () => applyPatch({ ...fixed, live, applied: fresh(), now: 5000 })),
    trackCreate: time(milliseconds, () => trackUpdate({ ...fixed, next, now: 0 })),
    trackUpdate: time(milliseconds, () => trackUpdate({ ...fixed, live: tracked, next, now: 5000 })),
  }
}

function copies(object: ApiObject): () => ApiObject {
  const text = JSON.stringify(object)
  const made = Array.from({ length: 64 }, () => JSON.parse(text) as ApiObject)
  let at = 0
  return () => made[at++ % made.length] as ApiObject
}

function applied(result: ApplyResult): ApiObject {
  if (result.kind !== 'applied') throw new Error('unexpected apply conflict')
  return result.object
}

/** CPU time, which load on the machine does not increase: best of three runs, after a warm-up of the same length. */
function time(milliseconds: number, run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 4; round++) {
    const before = process.cpuUsage()
    const from = performance.now()
    let runs = 0
    do {
      for (let i = 0; i < 8; i++) run()
      runs += 8
    } while (performance.now() - from < milliseconds)
    const { user, system } = process.cpuUsage(before)
    if (round > 0) best = Math.min(best, (user + system) / runs)
  }
  return best
}

function leavesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, member) => sum + leavesOf(member), 0)
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}
