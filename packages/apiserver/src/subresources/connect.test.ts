import type { Attributes, Authorizer } from '@krmkit/authorization'
import { createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const pods = '/api/v1/namespaces/default/pods'
const gate = 'AuthorizePodWebsocketUpgradeCreatePermission'

/** The status and message of a request for a stream, by a user who may create none. */
async function streamed(method: string, subresource: string, isOn: boolean) {
  const seen: string[] = []
  const isStream = ({ subresource: of }: Attributes) => ['exec', 'attach', 'portforward', 'proxy'].includes(of)
  const authorizer: Authorizer = {
    authorize(attributes) {
      if (isStream(attributes)) seen.push(attributes.verb)
      return isStream(attributes) && attributes.verb === 'create'
        ? { decision: 'noOpinion', reason: 'no role' }
        : { decision: 'allow', reason: '' }
    },
  }
  const { ask } = await sampleServer({ authorizer, features: createFeatures('1.35', { [gate]: isOn }) })
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await ask(pods, { method: 'POST', body })
  const { status, json } = await ask(`${pods}/p/${subresource}?stdout=true`, { method })
  return [status, json?.message, seen]
}

it.each(['exec', 'attach', 'portforward'])('a stream of %s needs the verb create, however it is opened', async (subresource) => {
  expect(await streamed('GET', subresource, true)).toEqual([403, 'pods "p" is forbidden: no role', ['get', 'create']])
  expect(await streamed('GET', subresource, false)).toEqual([400, 'pod p does not have a host assigned', ['get']])
})

it('a proxied request needs its own verb', async () => {
  expect((await streamed('GET', 'proxy', true))[2]).toEqual(['get'])
})
