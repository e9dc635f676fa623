import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbeddedServer } from '@krmkit/apiserver'
import {
  type ObjectLookup,
  type ServiceAccountIssuer,
  type ServiceAccountKeys,
  serviceAccountIssuer,
  serviceAccountTokens,
  type TokenAuthenticator,
} from '@krmkit/authentication'
import type { Clock, Random } from '@krmkit/meta'
import { CliError } from './cli-error.ts'
import { readText, writeSecret } from './files.ts'
import type { ServeOptions } from './serve-options.ts'

/** Issues tokens of service accounts and knows them again. */
export interface ServiceAccounts {
  readonly issuer: ServiceAccountIssuer
  readonly tokens: TokenAuthenticator
  /** Until it is told of the server no token is believed: accounts are looked up there. */
  attach(server: EmbeddedServer): void
}

const plurals = {
  ServiceAccount: 'serviceaccounts',
  Namespace: 'namespaces',
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
} as const

/** Without a key file a key is made, and kept in the folder of certificates. */
export async function serviceAccounts(
  options: ServeOptions,
  environment: { readonly clock: Clock; readonly random: Random },
): Promise<ServiceAccounts> {
  const { serviceAccountSigningKeyFile, serviceAccountKeyFile } = options
  const signingKey =
    serviceAccountSigningKeyFile === undefined
      ? await ownKey(join(options.certDir ?? join(options.dataDir, 'pki'), 'sa.key'))
      : privateKey(await readText(serviceAccountSigningKeyFile, 'service-account-signing-key-file'), serviceAccountSigningKeyFile)
  const believedKeys: KeyObject[] = []
  for (const path of serviceAccountKeyFile) believedKeys.push(publicKey(await readText(path, 'service-account-key-file'), path))
  const [audience, ...more] = options.apiAudiences
  const keys: ServiceAccountKeys = {
    ...environment,
    issuer: options.serviceAccountIssuer,
    signingKey,
    believedKeys,
    ...(audience === undefined ? {} : { audiences: [audience, ...more] }),
  }
  let server: EmbeddedServer | undefined
  const lookup: ObjectLookup = (kind, namespace, name) => {
    const uid = server?.registry.reader.get({ group: '', resource: plurals[kind] }, namespace, name)?.metadata.uid
    return uid === undefined ? undefined : { uid }
  }
  return {
    issuer: serviceAccountIssuer(keys),
    tokens: serviceAccountTokens(keys, lookup),
    attach: (made) => {
      server = made
    },
  }
}

async function ownKey(path: string): Promise<KeyObject> {
  try {
    return privateKey(await readFile(path, 'utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const made = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  await writeSecret(path, made.export({ type: 'pkcs8', format: 'pem' }) as string)
  return made
}

function privateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `${path} holds no private key in PEM`, cause })
  }
}

/** Of a private key the public half is taken. */
function publicKey(pem: string, path: string): KeyObject {
  try {
    return createPublicKey(pem)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `${path} holds no key in PEM`, cause })
  }
}
