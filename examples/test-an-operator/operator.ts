/**
 * A small operator: it creates a ConfigMap `team` with the team name in every namespace with the label `example.com/team`, and deletes
 * namespaces after the hours of their annotation `example.com/expires-after-hours`.
 */
import { type Client, createInformer } from '@krmkit/client'
import { ConfigMap, Namespace } from '@krmkit/kinds/core/v1'
import { ApiError, type Clock, type DeepReadonly, parseTime } from '@krmkit/meta'

export const teamLabel = 'example.com/team'
export const expiryAnnotation = 'example.com/expires-after-hours'
const retryMs = 1000

export interface Operator extends AsyncDisposable {
  /** Resolves when all existing namespaces are reconciled. */
  readonly started: Promise<void>
}

/** The clock is an argument, so that tests can advance it. */
export function startOperator(client: Client, clock: Clock): Operator {
  const alarms = new Map<string, () => void>()
  const namespaces = createInformer(client, Namespace, { clock, labelSelector: teamLabel })
  const maps = createInformer(client, ConfigMap, { clock, fieldSelector: 'metadata.name=team' })

  const later = (name: string, ms: number) => {
    alarms.get(name)?.()
    alarms.set(
      name,
      clock.setTimeout(() => look(name), ms),
    )
  }
  const look = (name: string) => void reconcile(name).catch(() => later(name, retryMs))

  const reconcile = async (name: string): Promise<void> => {
    const namespace = namespaces.get(name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return
    const left = expiresAt(namespace) - clock.now()
    if (left <= 0) {
      await client.delete(Namespace, name)
      return
    }
    if (Number.isFinite(left)) later(name, left)
    const team = namespace.metadata.labels?.[teamLabel] ?? ''
    if (maps.get('team', name)?.data?.team === team) return
    try {
      const map = { metadata: { name: 'team', namespace: name }, data: { team } }
      await client.apply(ConfigMap, map, { fieldManager: 'team-operator', force: true })
    } catch (error) {
      // The namespace is terminating.
      if (!(ApiError.is(error) && (error.reason === 'Forbidden' || error.reason === 'NotFound'))) throw error
    }
  }

  const started = Promise.all([namespaces.synced, maps.synced]).then(() => {
    namespaces.on({ added: ({ metadata }) => look(metadata.name ?? ''), updated: ({ metadata }) => look(metadata.name ?? '') })
    const changed = ({ metadata }: DeepReadonly<ConfigMap>) => look(metadata.namespace ?? '')
    maps.on({ updated: changed, deleted: changed })
  })
  started.catch(() => undefined)
  return {
    started,
    async [Symbol.asyncDispose]() {
      for (const cancel of alarms.values()) cancel()
      await Promise.all([namespaces.stop(), maps.stop()])
    },
  }
}

/** Milliseconds since the epoch; infinite without expiration. */
function expiresAt({ metadata }: DeepReadonly<Namespace>): number {
  const hours = Number(metadata.annotations?.[expiryAnnotation] ?? Number.NaN)
  return Number.isNaN(hours) ? Number.POSITIVE_INFINITY : parseTime(metadata.creationTimestamp ?? '') + hours * 3_600_000
}
