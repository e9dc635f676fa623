import { describe, expect, it } from 'vitest'
import { anonymousAuthenticator, createAnonymousAuthenticator } from './anonymous.ts'

const ask = (paths: readonly string[], path?: string) =>
  createAnonymousAuthenticator(paths).authenticate({ headers: {}, peer: {}, ...(path === undefined ? {} : { path }) })

describe('createAnonymousAuthenticator', () => {
  it('allows anonymous requests on the configured paths, and everywhere without paths [P248]', () => {
    expect(ask(['/livez', '/readyz'], '/livez')).toMatchObject({ kind: 'authenticated', user: { username: 'system:anonymous' } })
    for (const path of ['/healthz', '/livez/', '/livez/etcd', '/LIVEZ', '//livez', undefined])
      expect(ask(['/livez', '/readyz'], path), String(path)).toEqual({ kind: 'noOpinion' })
    expect(createAnonymousAuthenticator([])).toBe(anonymousAuthenticator)
  })
})
