import { type Draft, type ResourceType, resourceType } from '@krmkit/client'
import { type ApiObject, type DeepReadonly, formatTime, type NamingProfile } from '@krmkit/meta'
import { ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { ensureObject } from './ensure-object.ts'
import { type FlowSchema, flowSchemas, mandatoryNames, type PriorityLevel, priorityLevels } from './flow-control-objects.ts'
import { resyncMs, type ServerFacts } from './interfaces.ts'

const group = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false }
const schemas = resourceType<FlowSchema>({ ...group, resource: 'flowschemas', kind: 'FlowSchema' })
const levels = resourceType<PriorityLevel>({
  ...group,
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
})
const dangling = 'Dangling'
/** Field managers of the spec and the status, as on kube-apiserver. */
const specManager = 'api-priority-and-fairness-config-producer-v1'
const statusManager = 'api-priority-and-fairness-config-consumer-v1'

/**
 * Maintains the default flow schemas and priority levels, and the Dangling condition of all flow schemas. Mandatory objects
 * are always restored; others only while their auto-update annotation allows it.
 */
export function flowControl(facts: Pick<ServerFacts, 'features'>): Controller {
  return {
    name: 'flow-control',
    start(context) {
      const knownSchemas = context.informers.of(schemas)
      const knownLevels = context.informers.of(levels)
      const work = context.queue<string>({
        async sync(key) {
          if (key === '') {
            await ensureAll(context, facts)
            return { requeueAfterMs: resyncMs }
          }
          await Promise.all([knownSchemas.synced, knownLevels.synced])
          const schema = knownSchemas.get(key)
          if (schema === undefined) return undefined
          const level = schema.spec?.priorityLevelConfiguration.name ?? ''
          await writeDanglingCondition(context, schema, { level, exists: knownLevels.get(level) !== undefined })
          return undefined
        },
      })
      work.add('')
      const enqueue = ({ metadata }: DeepReadonly<ApiObject>) => work.add(metadata.name ?? '')
      const enqueueSchemasOf = ({ metadata }: DeepReadonly<ApiObject>) => {
        for (const schema of knownSchemas.list()) {
          if (schema.spec?.priorityLevelConfiguration.name === metadata.name) enqueue(schema)
        }
      }
      const subscriptions = [
        knownSchemas.on({ added: enqueue, updated: enqueue }),
        knownLevels.on({ added: enqueueSchemasOf, deleted: enqueueSchemasOf }),
      ]
      return disposeSubscriptions(subscriptions)
    },
  }
}

async function ensureAll(context: ControllerContext, { features }: Pick<ServerFacts, 'features'>): Promise<void> {
  for (const level of priorityLevels()) await ensureOne(context, levels, level)
  for (const schema of flowSchemas(context.profile, features)) await ensureOne(context, schemas, schema)
}

async function ensureOne<T extends ApiObject & { spec?: object }>(
  context: ControllerContext,
  resource: ResourceType<T>,
  { name, spec }: { readonly name: string; readonly spec: T['spec'] },
): Promise<void> {
  const annotation = autoUpdate(context.profile)
  const metadata = { name, annotations: { [annotation]: 'true' } }
  await ensureObject(
    { ...context, fieldManager: specManager },
    resource,
    { metadata, spec } as unknown as Draft<T>,
    (current) => {
      const mark = current.metadata.annotations?.[annotation]
      const isOurs =
        mandatoryNames.has(name) || mark === 'true' || (mark === undefined && (current.metadata.generation ?? 1) === 1)
      return !isOurs || hasAll(current.spec, spec) ? undefined : { ...current, spec }
    },
  )
}

function autoUpdate({ domain }: NamingProfile): string {
  return `apf.${domain}/autoupdate-spec`
}

/** Whether an object has all the desired fields. Additional fields, such as defaults, are ignored. */
function hasAll(found: unknown, wanted: unknown): boolean {
  if (found === wanted) return true
  if (typeof found !== 'object' || typeof wanted !== 'object' || found === null || wanted === null) return false
  if (Array.isArray(wanted) && (found as readonly unknown[]).length !== wanted.length) return false
  return Object.entries(wanted).every(([key, value]) => {
    return Object.hasOwn(found, key) && hasAll((found as Record<string, unknown>)[key], value)
  })
}

async function writeDanglingCondition(
  { client, clock, signal }: ControllerContext,
  schema: DeepReadonly<FlowSchema>,
  { level, exists }: { readonly level: string; readonly exists: boolean },
): Promise<void> {
  const current = schema.status?.conditions?.find(({ type }) => type === dangling)
  const status = exists ? 'False' : 'True'
  const reason = exists ? 'Found' : 'NotFound'
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  const message = exists ? `${named} and it exists` : `${named} but there is no such object`
  if (current?.status === status && current.reason === reason && current.message === message) return
  const condition = { type: dangling, status, reason, message, lastTransitionTime: formatTime(clock.now()) }
  const applied = { metadata: { name: schema.metadata.name ?? '' }, status: { conditions: [condition] } }
  const options = { subresource: 'status', fieldManager: statusManager, force: true, signal }
  await ignoreReasons(client.apply(schemas, applied, options), ['NotFound', 'Conflict'])
}
