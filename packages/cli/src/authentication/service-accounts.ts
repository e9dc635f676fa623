import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import type { EmbeddedServer } from '@krmkit/apiserver'
import type { TokenAuthenticator } from '@krmkit/authentication'
import {
  createOpenIdMetadata,
  createServiceAccountIssuer,
  createServiceAccountTokenAuthenticator,
  type FoundObject,
  type ObjectLookup,
  type OpenIdMetadata,
  type ServiceAccountIssuer,
  type ServiceAccountKeys,
} from '@krmkit/authentication/service-account'
import { pemBlocks } from '@krmkit/base/pem'
import { createInProcessClient, resourceType } from '@krmkit/client'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { apiServerUser } from '../api-server-user.ts'
import { CliError } from '../cli-error.ts'
import { readSecret, readText, writeSecret } from '../files.ts'
import type { AuthenticatorOptions } from './options.ts'

/** Issues and authenticates service account tokens. */
export interface ServiceAccounts {
  readonly issuer: ServiceAccountIssuer
  readonly tokens: TokenAuthenticator
  /** The discovery document and key set; undefined for an issuer that is not an https URL. */
  documents(serverAddress: string): OpenIdMetadata | undefined
  /** Connects the server that stores the accounts. Before that, every token is rejected. */
  attach(server: EmbeddedServer): void
}

export const defaultIssuer = 'https://kubernetes.default.svc'

const plurals = { ServiceAccount: 'serviceaccounts', Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const
const secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })

/** Without a key file, a key is generated and stored in the certificate folder. @throws CliError for a key that cannot be read. */
export async function createServiceAccounts(
  options: AuthenticatorOptions,
  environment: {
    readonly clock: Clock
    readonly random: Random
    readonly profile: NamingProfile
    readonly features: Features
    readonly onError: (error: unknown) => void
  },
): Promise<ServiceAccounts> {
  const keys = await keysOf(options, environment)
  const { features } = environment
  requireNodeTokens(features)
  const tokenIds = gateEnabled('ServiceAccountTokenJTI', features)
  const { serviceAccountMaxTokenExpiration: maxMs } = options
  let server: EmbeddedServer | undefined
  const lookup: ObjectLookup = (kind, namespace, name) => {
    const found = server?.registry.reader.get({ group: '', resource: plurals[kind] }, namespace, name)
    return found === undefined ? undefined : toFoundObject(found as StoredObject)
  }
  return {
    issuer: createServiceAccountIssuer(keys, {
      tokenIds,
      extendMountedTokens: options.serviceAccountExtendTokenExpiration,
      ...(maxMs === 0 ? {} : { maxExpirationSeconds: Math.floor(maxMs / 1000) }),
    }),
    tokens: createServiceAccountTokenAuthenticator(keys, lookup, {
      tokenIds,
      podNodes: gateEnabled('ServiceAccountTokenPodNodeInfo', features),
      nodeTokens: gateEnabled('ServiceAccountTokenNodeBindingValidation', features),
      onUse: (use) => server !== undefined && recordLastUse(server, use, environment),
    }),
    documents: (serverAddress) =>
      createOpenIdMetadata(keys, options.serviceAccountJwksUri ?? `https://${serverAddress}/openid/v1/jwks`),
    attach: (attached) => {
      server = attached
    },
  }
}

/** @throws CliError when tokens of nodes are issued and not accepted. */
function requireNodeTokens(features: Features): void {
  const [issues, accepts] = ['ServiceAccountTokenNodeBinding', 'ServiceAccountTokenNodeBindingValidation']
  if (!gateEnabled(issues!, features) || gateEnabled(accepts!, features)) return
  const message = `the "${issues}" feature gate can only be enabled if the "${accepts}" feature gate is also enabled`
  throw new CliError({ code: 'InvalidFlag', message })
}

async function keysOf(
  options: AuthenticatorOptions,
  environment: { readonly clock: Clock; readonly random: Random; readonly profile: NamingProfile },
): Promise<ServiceAccountKeys> {
  const { serviceAccountSigningKeyFile, serviceAccountKeyFile } = options
  const signingKey =
    serviceAccountSigningKeyFile === undefined
      ? await localKey(join(options.certDir ?? join(options.dataDir, 'pki'), 'sa.key'))
      : privateKey(await readText(serviceAccountSigningKeyFile, 'service-account-signing-key-file'), serviceAccountSigningKeyFile)
  const verificationKeys: KeyObject[] = []
  for (const path of serviceAccountKeyFile)
    verificationKeys.push(...publicKeys(await readText(path, 'service-account-key-file'), path))
  const [issuer = defaultIssuer, ...formerIssuers] = options.serviceAccountIssuer
  return {
    ...environment,
    issuer,
    formerIssuers,
    signingKey,
    verificationKeys,
    ...(options.apiAudiences.length === 0 ? {} : { audiences: options.apiAudiences }),
  }
}

interface StoredObject {
  readonly metadata: {
    readonly uid?: string
    readonly deletionTimestamp?: string | null
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
  readonly secrets?: readonly { readonly name?: string }[]
}

function toFoundObject({ metadata, data, secrets: references }: StoredObject): FoundObject {
  const { uid = '', deletionTimestamp, labels } = metadata
  return {
    uid,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(labels === undefined ? {} : { labels }),
    ...(data === undefined ? {} : { data }),
    ...(references === undefined ? {} : { secrets: references.map(({ name = '' }) => name) }),
  }
}

/** Records the date of the last use on the Secret of a legacy token, which the token cleaner reads. */
function recordLastUse(
  server: EmbeddedServer,
  { namespace, secret, date }: { readonly namespace: string; readonly secret: string; readonly date: string },
  { profile, onError }: { readonly profile: NamingProfile; readonly onError: (error: unknown) => void },
): void {
  const patch = { metadata: { labels: { [`${profile.domain}/legacy-token-last-used`]: date } } }
  createInProcessClient(server, { user: apiServerUser })
    .patch(secrets, secret, { type: 'merge', patch, namespace, fieldManager: 'kube-apiserver' })
    .catch(onError)
}

async function localKey(path: string): Promise<KeyObject> {
  const stored = await readSecret(path)
  if (stored !== undefined) return privateKey(stored, path)
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  await writeSecret(path, key.export({ type: 'pkcs8', format: 'pem' }) as string)
  return key
}

function privateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `${path} holds no private key in PEM`, cause })
  }
}

const keyLabels = ['PUBLIC KEY', 'RSA PUBLIC KEY', 'CERTIFICATE', 'PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY']

/** All keys of a PEM file; a private key yields its public key. */
function publicKeys(pem: string, path: string): KeyObject[] {
  try {
    const keys = pemBlocks(pem, keyLabels).map((block) => createPublicKey(block))
    if (keys.length > 0) return keys
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `${path} holds a key that cannot be read`, cause })
  }
  throw new CliError({ code: 'FileFailed', message: `${path} holds no key in PEM` })
}
