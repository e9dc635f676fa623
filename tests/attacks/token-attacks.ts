import { createPublicKey } from 'node:crypto'
import { expect } from 'vitest'
import { type AttackedServer, startAttackedServer } from './attacked-server.ts'

/** The target of attacks with tokens: a server with the service account `robot`. */
export async function startTokenTarget(): Promise<AttackedServer> {
  const target = await startAttackedServer()
  await target.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot' },
  })
  return target
}

/** Requires that no token authenticates. */
export async function expectRefused(target: AttackedServer, ...tokens: string[]): Promise<void> {
  for (const token of tokens) {
    const { status, username } = await target.authenticate({ token })
    expect({ token, status, username }).toEqual({ token, status: 401, username: undefined })
  }
}

/** The time of the server, in seconds since the epoch. */
export function seconds({ clock }: AttackedServer): number {
  return Math.floor(clock.now() / 1000)
}

/** The public key of service account tokens. */
export function publicKeyPem({ signingKey }: AttackedServer): string {
  return createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }) as string
}

/** The uid of the service account `robot`. */
export async function robotUid(target: AttackedServer): Promise<string> {
  return (await target.request('GET', '/api/v1/namespaces/default/serviceaccounts/robot')).json.metadata.uid
}

/** Claims as the server writes them. */
export async function accountClaims(target: AttackedServer, more: object = {}) {
  return {
    iss: target.issuer,
    aud: [target.issuer],
    iat: seconds(target),
    nbf: seconds(target),
    exp: seconds(target) + 3600,
    sub: 'system:serviceaccount:default:robot',
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: await robotUid(target) } },
    ...more,
  }
}

/** The `kid` of a token. */
export function keyIdOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid
}
