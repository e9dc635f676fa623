import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreCreateConflict, ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { belongsTo, type Secret, secrets, serviceAccounts, tokenType } from './token-secrets.ts'

interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

interface Pod extends ApiObject {
  spec?: { volumes?: { secret?: { secretName?: string } }[] }
}

const configMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
/** ConfigMap with the start of token usage tracking. A fixed name in every naming profile. */
const trackingName = 'kube-apiserver-legacy-service-account-token-tracking'
const dayMs = 24 * 60 * 60 * 1000
/** Time without use after which a token is marked as invalid, and again after which it is deleted. */
const cleanUpMs = 365 * dayMs

/**
 * Deletes unused auto-generated token Secrets: marks them as invalid first, which users can revert, and deletes them a year
 * later. Manually created Secrets are kept. Runs once a day.
 */
export const legacyTokenCleaner: Controller = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  start(context) {
    const { legacyToken, queue } = context
    if (legacyToken === undefined) return disposeSubscriptions([])
    const work = queue<'sync'>({
      async sync() {
        await clean(context)
        return { requeueAfterMs: dayMs }
      },
    })
    work.add('sync')
    return disposeSubscriptions([])
  },
}

async function clean(context: ControllerContext): Promise<void> {
  const { client, clock, profile, signal } = context
  const now = clock.now()
  if (Date.parse(await ensureTrackingStart(context)) + cleanUpMs > now) return
  const lastUsed = `${profile.domain}/legacy-token-last-used`
  const invalidSince = `${profile.domain}/legacy-token-invalid-since`
  const limit = now - cleanUpMs
  const limitDate = dateOf(limit)
  const { items } = await client.list(secrets, { fieldSelector: `type=${tokenType(profile)}`, signal })
  const mounted = items.length === 0 ? new Set<string>() : await mountedSecrets(context)
  for (const secret of items) {
    const { namespace = '', name = '', uid = '', creationTimestamp, resourceVersion, labels = {} } = secret.metadata
    if (Date.parse(creationTimestamp ?? '') >= limit || (labels[lastUsed] ?? '') >= limitDate) continue
    if (mounted.has(`${namespace}/${name}`) || !(await isGenerated(context, secret))) continue
    const marked = labels[invalidSince] ?? ''
    if (marked === '') {
      const patch = { metadata: { uid, labels: { [invalidSince]: dateOf(now) } } }
      await ignoreNotFound(
        client.patch(secrets, name, { type: 'merge', patch, namespace, fieldManager: context.fieldManager, signal }),
      )
    } else if (marked < limitDate) {
      const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
      await ignoreNotFound(client.delete(secrets, name, { namespace, preconditions, signal }))
    }
  }
}

/** Returns the date on which usage tracking started; records today if none is set. */
export async function ensureTrackingStart({ client, clock, profile, fieldManager, signal }: ControllerContext): Promise<string> {
  const namespace = profile.systemNamespace
  const found = await ignoreNotFound(client.get(configMaps, trackingName, { namespace, signal }))
  const since = found?.data?.since ?? ''
  if (!Number.isNaN(Date.parse(since))) return since
  const today = dateOf(clock.now())
  const wanted = { metadata: { name: trackingName, namespace }, data: { since: today } }
  if (found === undefined) await ignoreCreateConflict(client.create(configMaps, wanted, { fieldManager, signal }))
  return today
}

/** Whether a Secret was auto-generated for a service account that still refers to it. */
async function isGenerated({ client, profile, signal }: ControllerContext, secret: DeepReadonly<Secret>): Promise<boolean> {
  const { namespace = '', name = '', annotations = {} } = secret.metadata
  const accountName = annotations[`${profile.domain}/service-account.name`] ?? ''
  if (accountName === '') return false
  const account = await ignoreNotFound(client.get(serviceAccounts, accountName, { namespace, signal }))
  if (account === undefined || !belongsTo(secret, account, profile)) return false
  return account.secrets?.some((reference) => reference.name === name) === true
}

async function mountedSecrets({ client, signal }: ControllerContext): Promise<Set<string>> {
  const mounted = new Set<string>()
  for await (const { items } of client.listPages(pods, { signal })) {
    for (const { metadata, spec } of items) {
      for (const { secret } of spec?.volumes ?? []) {
        if (secret?.secretName !== undefined) mounted.add(`${metadata.namespace}/${secret.secretName}`)
      }
    }
  }
  return mounted
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
