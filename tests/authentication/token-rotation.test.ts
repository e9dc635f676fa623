import { generateKeyPairSync } from 'node:crypto'
import { createBearerTokenAuthenticator } from '@krmkit/authentication'
import { createServiceAccountIssuer, createServiceAccountTokenAuthenticator } from '@krmkit/authentication/service-account'
import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { expect, it } from 'vitest'
import { administrator, requestOf, startApi, startMs } from '../protocol/server.ts'

/** Tokens that a kubelet takes again before they expire. @see API protocol specification, 3 and 8 */

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const hourMs = 3_600_000

async function start() {
  const clock = fakeClock(startMs)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = 'https://kubernetes.default.svc'
  const keys = { issuer, signingKey: privateKey, clock, random: seededRandom(3), profile: stockProfile }
  const tokens = createServiceAccountTokenAuthenticator(keys, (kind, namespace, name) => {
    const resource = { group: '', resource: `${kind.toLowerCase()}s` }
    const found = api.server.registry.reader.get(resource, namespace, name)
    return found?.metadata.uid === undefined ? undefined : { uid: found.metadata.uid }
  })
  const api = await startApi({
    clock,
    storage: memoryStorage({ clock }),
    authenticator: createBearerTokenAuthenticator(tokens),
    serviceAccountIssuer: createServiceAccountIssuer(keys),
  })
  await api.post(accounts, { metadata: { name: 'robot' } }, { user: administrator })
  /** A token as a kubelet requests it, with the expiry that the response states. */
  const take = async (expirationSeconds: number) => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } }
    const { status, json } = await api.post(`${accounts}/robot/token`, body, { user: administrator })
    expect(status).toBe(201)
    const { token, expirationTimestamp } = json.status as { token: string; expirationTimestamp: string }
    return { token, expiresAt: Date.parse(expirationTimestamp) }
  }
  const accepts = async ({ token }: { readonly token: string }) => {
    const { user: _, ...request } = requestOf('GET', '/api', { headers: { authorization: `Bearer ${token}` } })
    return (await api.server.handle(request)).status
  }
  return { api, clock, take, accepts }
}

it.each([
  ['80 % of its lifetime', 3600, 0.8 * hourMs],
  ['24 hours', 48 * 3600, 24 * hourMs],
])('a token is replaced after %s, and both are good until the first expires [P136]', async (_, seconds, ageMs) => {
  const { api, clock, take, accepts } = await start()
  const first = await take(seconds)
  expect(first.expiresAt).toBe(clock.now() + seconds * 1000)
  clock.advance(ageMs)
  const second = await take(seconds)
  expect(second.expiresAt).toBe(first.expiresAt + ageMs)
  expect([await accepts(first), await accepts(second)]).toEqual([200, 200])
  clock.advance(first.expiresAt - clock.now() - 1000)
  expect([await accepts(first), await accepts(second)]).toEqual([200, 200])
  clock.advance(12_000)
  expect([await accepts(first), await accepts(second)]).toEqual([401, 200])
  clock.advance(second.expiresAt - clock.now() + 12_000)
  expect([await accepts(first), await accepts(second)]).toEqual([401, 401])
  await api.close()
})
