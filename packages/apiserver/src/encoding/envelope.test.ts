import { builtInTypes } from '@krmkit/kinds'
import { decode } from '@krmkit/schema'
import { encodeMessage, writeEnvelope } from '@krmkit/schema/protobuf'
import { describe, expect, it } from 'vitest'
import { requestOf, sampleServer } from '../testing/sample-server.ts'

const configMap = builtInTypes().struct('core/v1.ConfigMap')

async function post(envelope: { readonly apiVersion: string; readonly kind: string }) {
  const { server } = await sampleServer()
  const raw = encodeMessage(configMap, decode(configMap, { metadata: { name: 'a' } }).object)
  const bytes = writeEnvelope({ contentEncoding: '', contentType: '', raw, ...envelope })
  const user = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const request = requestOf('/api/v1/namespaces/default/configmaps', { method: 'POST', headers, user })
  const { status, body } = await server.handle({ ...request, body: () => Promise.resolve(bytes) })
  return { status, text: body.kind === 'bytes' ? new TextDecoder().decode(body.bytes) : '' }
}

describe('the envelope of a protobuf body', () => {
  it('takes kind and apiVersion from the path when they are absent or malformed', async () => {
    expect((await post({ apiVersion: '', kind: '' })).status).toBe(201)
    expect((await post({ apiVersion: 'a/b/c', kind: 'ConfigMap' })).status).toBe(201)
  })

  it('is refused with another kind', async () => {
    const refused = await post({ apiVersion: 'v1', kind: 'Nothing' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('no kind')
    expect((await post({ apiVersion: 'v1', kind: 'Status' })).text).toContain(
      'converting (v1.Status) to (core.ConfigMap): unknown conversion',
    )
  })
})
