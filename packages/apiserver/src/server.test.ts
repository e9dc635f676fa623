import { describe, expect, it } from 'vitest'
import { sampleServer } from './testing/sample-server.ts'

describe('answers', () => {
  it.each(['/', '/healthz', '/api', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/metrics', '/api/v1/namespaces', '/nowhere'])(
    'of %s are not kept by shared caches',
    async (path) => {
      const { ask } = await sampleServer()
      const { headers } = await ask(path)
      expect(headers['cache-control']).toContain('private')
    },
  )
})
