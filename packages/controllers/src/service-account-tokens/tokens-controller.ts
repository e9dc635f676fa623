import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext, LegacyTokenIssuer } from '../interfaces.ts'
import {
  accountRefOf,
  base64,
  belongsTo,
  type Secret,
  type ServiceAccount,
  secrets,
  serviceAccounts,
  tokenType,
} from './token-secrets.ts'

type NamespacedObject = { readonly metadata: { readonly namespace?: string; readonly name?: string } }

/**
 * Fills Secrets of type `<domain>/service-account-token` with token, certificate authority and namespace. Deletes these
 * Secrets with their service account, and removes deleted Secrets from `secrets` of the account. Disabled without
 * `legacyToken`.
 *
 * @see API protocol specification, 2.12
 */
export const serviceAccountTokensController: Controller = {
  name: 'serviceaccount-token-controller',
  start(context) {
    const { informers, profile, legacyToken, queue } = context
    if (legacyToken === undefined) return disposeSubscriptions([])
    const known = informers.of(secrets, { fieldSelector: `type=${tokenType(profile)}` })
    const accounts = informers.of(serviceAccounts)
    const work = queue<string>({
      async sync(key) {
        const { namespace, name } = parseKey(key)
        if (!accounts.hasSynced) {
          work.addAfterSync(key, accounts.synced)
          return undefined
        }
        const secret = known.get(name, namespace)
        if (secret !== undefined && isAlive(secret)) await syncSecret(context, legacyToken, secret)
        return undefined
      },
    })
    const references = queue<string>({
      async sync(key) {
        await dropReferences(context, { ...parseKey(key), isGone: (name, namespace) => known.get(name, namespace) === undefined })
        return undefined
      },
    })
    const enqueueSecretsOf = (account: NamespacedObject) => {
      for (const secret of known.list({ namespace: account.metadata.namespace ?? '' })) {
        if (accountRefOf(secret, profile).name === account.metadata.name) work.add(keyOf(secret))
      }
    }
    const subscriptions = [
      known.on({
        added: (secret) => work.add(keyOf(secret)),
        updated: (secret) => work.add(keyOf(secret)),
        deleted: ({ metadata, ...secret }) => {
          const account = accountRefOf({ ...secret, metadata }, profile).name
          references.add(keyOf({ metadata: { namespace: metadata.namespace ?? '', name: account } }))
        },
      }),
      accounts.on({ added: enqueueSecretsOf, updated: enqueueSecretsOf, deleted: enqueueSecretsOf }),
    ]
    return disposeSubscriptions(subscriptions)
  },
}

/** Fills a Secret, or deletes it when its service account does not exist. */
async function syncSecret(
  context: ControllerContext,
  legacyToken: LegacyTokenIssuer,
  secret: DeepReadonly<Secret>,
): Promise<void> {
  const { client, profile, signal } = context
  const { namespace = '', name = '', uid } = secret.metadata
  const account = await accountOf(context, secret)
  if (account === undefined) {
    await ignoreNotFound(
      client.delete(secrets, name, { namespace, signal, ...(uid === undefined ? {} : { preconditions: { uid } }) }),
    )
    return
  }
  if (!isLacking(secret, context)) return
  const live = await ignoreNotFound(client.get(secrets, name, { namespace, signal }))
  // A newer version causes another event.
  if (live === undefined || live.metadata.resourceVersion !== secret.metadata.resourceVersion) return
  const { name: accountName = '', uid: accountUid = '' } = account.metadata
  const data = { ...live.data }
  if (context.rootCA !== undefined) data['ca.crt'] = base64(context.rootCA)
  if ((data.namespace ?? '') === '') data.namespace = base64(namespace)
  if ((data.token ?? '') === '') data.token = base64(await legacyToken({ namespace, secretName: name, accountName, accountUid }))
  const annotations = {
    ...live.metadata.annotations,
    [`${profile.domain}/service-account.name`]: accountName,
    [`${profile.domain}/service-account.uid`]: accountUid,
  }
  const filled: Secret = { ...live, metadata: { ...live.metadata, annotations }, data }
  await ignoreNotFound(client.update(secrets, filled, { fieldManager: context.fieldManager, signal }))
}

/** Returns the service account of a Secret from the informer, or from the server if the informer does not have it. */
async function accountOf(
  { client, informers, profile, signal }: ControllerContext,
  secret: DeepReadonly<Secret>,
): Promise<DeepReadonly<ApiObject> | undefined> {
  const { namespace = '' } = secret.metadata
  const { name } = accountRefOf(secret, profile)
  if (name === '') return undefined
  const known = informers.of(serviceAccounts).get(name, namespace)
  if (known !== undefined && belongsTo(secret, known, profile)) return known
  const live = await ignoreNotFound(client.get(serviceAccounts, name, { namespace, signal }))
  return live !== undefined && belongsTo(secret, live, profile) ? live : undefined
}

function isLacking({ data = {} }: DeepReadonly<Secret>, { rootCA }: ControllerContext): boolean {
  if ((data.token ?? '') === '' || (data.namespace ?? '') === '') return true
  return rootCA !== undefined && data['ca.crt'] !== base64(rootCA)
}

async function dropReferences(
  { client, fieldManager, signal }: ControllerContext,
  options: {
    readonly namespace: string
    readonly name: string
    readonly isGone: (name: string, namespace: string) => boolean
  },
): Promise<void> {
  const { namespace, name, isGone } = options
  const account = await ignoreNotFound(client.get(serviceAccounts, name, { namespace, signal }))
  if (account?.secrets === undefined || !isAlive(account)) return
  const kept: ServiceAccount['secrets'] = []
  for (const reference of account.secrets) {
    // The informer has only Secrets of the token type.
    const stays =
      !isGone(reference.name ?? '', namespace) ||
      (await ignoreNotFound(client.get(secrets, reference.name ?? '', { namespace, signal }))) !== undefined
    if (stays) kept.push(reference)
  }
  if (kept.length === account.secrets.length) return
  await ignoreNotFound(client.update(serviceAccounts, { ...account, secrets: kept }, { fieldManager, signal }))
}

function isAlive({ metadata }: DeepReadonly<ApiObject>): boolean {
  return metadata.deletionTimestamp === undefined || metadata.deletionTimestamp === null
}

function keyOf({ metadata }: NamespacedObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

function parseKey(key: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}
