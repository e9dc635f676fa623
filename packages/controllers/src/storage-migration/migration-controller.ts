import { resourceType } from '@krmkit/client'
import { type ApiObject, type DeepReadonly, formatTime } from '@krmkit/meta'
import { ignoreReasons } from '../framework/api-errors.ts'
import { discover } from '../framework/discovery.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type MigrationProgress, migrateResource } from './migrate-resource.ts'

type Condition = {
  type: string
  status: string
  reason: string
  message?: string
  lastUpdateTime: string
}

interface Migration extends ApiObject {
  spec?: { resource: { group?: string; version?: string; resource?: string } }
  status?: { conditions?: Condition[]; resourceVersion?: string }
}

const migrations = resourceType<Migration>({
  group: 'storagemigration.k8s.io',
  version: 'v1alpha1',
  resource: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  namespaced: false,
})

const reason = 'StorageVersionMigrationInProgress'

/**
 * Executes StorageVersionMigration objects: rewrites every object of the named resource.
 *
 *     created --> Running --> Succeeded
 *                         \-> Failed: the resource is not served, or a write was refused
 *
 * Not enabled by default, because the kind is not served by default.
 */
export const storageVersionMigrator: Controller = {
  name: 'storage-version-migrator-controller',
  isDefault: false,
  start(context) {
    const known = context.informers.of(migrations)
    const work = context.queue<string>({
      workers: 1,
      async sync(name) {
        const migration = known.get(name)
        if (migration !== undefined && !isDone(migration)) await migrate(context, migration)
        return undefined
      },
    })
    const enqueue = (migration: DeepReadonly<Migration>) => {
      if (!isDone(migration)) work.add(migration.metadata.name ?? '')
    }
    return disposeSubscriptions([known.on({ added: enqueue, updated: enqueue })])
  },
}

function isDone({ status }: DeepReadonly<Migration>): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => value === 'True' && type !== 'Running')
}

async function migrate(context: ControllerContext, migration: DeepReadonly<Migration>): Promise<void> {
  const { client, metadata, profile, signal, fieldManager } = context
  const { group = '', version = '', resource = '' } = migration.spec?.resource ?? {}
  const { all } = await discover(client, { profile, signal })
  const found = all.find((each) => each.group === group && each.version === version && each.resource === resource)
  const name = migration.metadata.name ?? ''
  if (found === undefined) {
    await report(context, name, { type: 'Failed', message: `resource ${resource} of ${group}/${version} is not served` })
    return
  }
  const onProgress = (progress: MigrationProgress) =>
    report(context, name, { type: 'Running', message: textOf(progress), progress })
  await report(context, name, { type: 'Running', message: 'listing objects' })
  try {
    const progress = await migrateResource({ client, metadata }, found, { signal, fieldManager, onProgress })
    await report(context, name, { type: 'Succeeded', message: textOf(progress), progress })
  } catch (error) {
    if (signal.aborted) throw error
    await report(context, name, { type: 'Failed', message: error instanceof Error ? error.message : String(error) })
  }
}

function textOf({ migrated, remaining }: MigrationProgress): string {
  return remaining === undefined ? `${migrated} objects migrated` : `${migrated} objects migrated, ${remaining} left`
}

interface Report {
  readonly type: 'Running' | 'Succeeded' | 'Failed'
  readonly message: string
  readonly progress?: MigrationProgress
}

/** Writes the conditions: one of them is true, and a migration that ended is no longer running. */
async function report({ client, clock, signal, fieldManager }: ControllerContext, name: string, own: Report): Promise<void> {
  const { type, message, progress } = own
  const lastUpdateTime = formatTime(clock.now())
  const condition = (each: string, status: string): Condition => ({ type: each, status, reason, message, lastUpdateTime })
  const conditions = [
    condition('Running', type === 'Running' ? 'True' : 'False'),
    ...(type === 'Running' ? [] : [condition(type, 'True')]),
  ]
  const version = progress?.resourceVersion ?? ''
  const status = { conditions, ...(version === '' ? {} : { resourceVersion: version }) }
  const write = client.patch(migrations, name, { type: 'merge', patch: { status }, subresource: 'status', fieldManager, signal })
  await ignoreReasons(write, ['NotFound'])
}
