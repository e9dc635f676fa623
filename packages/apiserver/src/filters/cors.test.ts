import { describe, expect, it } from 'vitest'
import { contextOf, done } from '../testing/sample-server.ts'
import { cors } from './cors.ts'

const from = (origin: string, method = 'GET') => contextOf('/api', { method, headers: { origin } })

describe('cors', () => {
  it('adds no filter without patterns', () => {
    expect(cors([])).toBeUndefined()
  })

  it('adds headers for allowed origins', async () => {
    const filter = cors([/^https:\/\/ui\.example\.com$/])!
    const { headers } = await filter(from('https://ui.example.com'), async () => ({ ...done, headers: { own: '1' } }))
    expect(headers).toMatchObject({
      own: '1',
      'access-control-allow-origin': 'https://ui.example.com',
      'access-control-allow-credentials': 'true',
    })
  })

  it('responds to preflight requests', async () => {
    const filter = cors([/example/])!
    const answer = await filter(from('https://example.com', 'OPTIONS'), () => Promise.reject(new Error('asked')))
    expect(answer.status).toBe(204)
    expect(answer.headers['access-control-allow-methods']).toContain('PATCH')
  })

  it('adds no headers for other origins', async () => {
    const filter = cors([/^https:\/\/ui\.example\.com$/])!
    for (const origin of ['https://ui.example.com.evil.org', `https://${'x'.repeat(3000)}`, ''])
      expect(await filter(from(origin), async () => done)).toBe(done)
    expect(await filter(contextOf('/api'), async () => done)).toBe(done)
  })

  it('gives the same result for repeated requests of an origin', async () => {
    const filter = cors([/example/g])!
    for (let i = 0; i < 4; i++) {
      const { headers } = await filter(from('https://example.com'), async () => done)
      expect(headers['access-control-allow-origin']).toBe('https://example.com')
    }
  })
})
