import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signClusterInfo, verifyClusterInfo } from './cluster-info.ts'

const kubeconfig = (name: string) =>
  `apiVersion: v1\nkind: Config\nclusters:\n- name: ""\n  cluster: {server: "https://${name}.example.com"}\n`
const token = { id: 'wtc001', secret: '0123456789abcdef' }
const header = 'eyJhbGciOiJIUzI1NiIsImtpZCI6Ind0YzAwMSJ9'
const one = { kubeconfig: kubeconfig('one') }
const signature = async (data: Record<string, string>, key?: 'full-token') =>
  (await signClusterInfo(data, [token], key === undefined ? {} : { key }))?.['jws-kubeconfig-wtc001']

describe('signClusterInfo', () => {
  it('adds the same detached HS256 signature as kube-controller-manager [P121] [P122]', async () => {
    expect(await signature({ kubeconfig: kubeconfig('two') })).toBe(`${header}..XoNzu7wBqlRiXFOcLbPPvqrSJDjtqnREp0YizysPWLU`)
    const payload = Buffer.from(one.kubeconfig).toString('base64').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    const own = createHmac('sha256', token.secret).update(`${header}.${payload}`).digest('base64url')
    expect(await signature(one)).toBe(`${header}..${own}`)
  })

  it('signs with the full token when configured to [P123]', async () => {
    expect(await signature(one, 'full-token')).toBe(`${header}..EowUsIJi9k7boRawovsrumRtwxvQ3C-kd9fjtjsbPOE`)
    const two = await signature({ kubeconfig: kubeconfig('two') }, 'full-token')
    expect(two).toBe(`${header}..7SYFfhG6nEAw_yPMARCfCd938Z5bneXY6YUIdJQUe0g`)
  })

  it('removes signatures of other tokens and keeps other keys', async () => {
    const stale = { ...one, other: 'kept', 'jws-kubeconfig-gone00': 'x..y', 'jws-kubeconfig-wtc001': 'old' }
    const signed = await signClusterInfo(stale, [token])
    expect(Object.keys(signed ?? {}).sort()).toEqual(['jws-kubeconfig-wtc001', 'kubeconfig', 'other'])
    expect(await signClusterInfo({ ...one, 'jws-kubeconfig-gone00': 'x..y' }, [])).toEqual(one)
  })

  it('returns undefined when nothing changes, and without a kubeconfig', async () => {
    const signed = await signClusterInfo(one, [token])
    expect(await signClusterInfo(signed!, [token])).toBeUndefined()
    expect(await signClusterInfo({ other: 'x', 'jws-kubeconfig-gone00': 'x..y' }, [token])).toBeUndefined()
  })
})

describe('verifyClusterInfo', () => {
  it('accepts a signature by the token [P124]', async () => {
    const signed = await signClusterInfo({ ...one, other: 'x' }, [token, { id: 'wtc002', secret: 'fedcba9876543210' }])
    expect(await verifyClusterInfo(signed!, token)).toBe(one.kubeconfig)
    const full = await signClusterInfo(one, [token], { key: 'full-token' })
    expect(await verifyClusterInfo(full!, token, { key: 'full-token' })).toBe(one.kubeconfig)
    await expect(verifyClusterInfo(full!, token)).rejects.toMatchObject({ code: 'Untrusted' })
  })

  it('distinguishes unsigned from untrusted data', async () => {
    await expect(verifyClusterInfo(one, token)).rejects.toMatchObject({ code: 'Unsigned' })
    await expect(verifyClusterInfo({}, token)).rejects.toMatchObject({ code: 'Unsigned' })
    const signed = await signClusterInfo(one, [token])
    const failure = await verifyClusterInfo(signed!, { ...token, secret: 'aaaaaaaaaaaaaaaa' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'Untrusted' })
    expect((failure as Error).message).not.toContain('aaaa')
    await expect(verifyClusterInfo({ ...signed, kubeconfig: kubeconfig('evil') }, token)).rejects.toMatchObject({
      code: 'Untrusted',
    })
  })

  const forged = (head: object, hash = 'sha256') => {
    const first = Buffer.from(JSON.stringify(head)).toString('base64url')
    const content = `${first}.${Buffer.from(one.kubeconfig).toString('base64url')}`
    return `${first}..${createHmac(hash, token.secret).update(content).digest('base64url')}`
  }

  it.each([
    ['no algorithm', `${Buffer.from('{"alg":"none","kid":"wtc001"}').toString('base64url')}..`],
    ['another algorithm', forged({ alg: 'HS512', kid: 'wtc001' }, 'sha512')],
    ['an algorithm name in lower case', forged({ alg: 'hs256', kid: 'wtc001' })],
    ['another key id', forged({ alg: 'HS256', kid: 'wtc002' })],
    ['no key id', forged({ alg: 'HS256' })],
    ['a critical header', forged({ alg: 'HS256', kid: 'wtc001', crit: ['x'], x: 1 })],
    ['a payload that is not encoded', forged({ alg: 'HS256', kid: 'wtc001', b64: false, crit: ['b64'] })],
    ['an attached payload', forged({ alg: 'HS256', kid: 'wtc001' }).replace('..', '.e30.')],
    ['too many parts', `${forged({ alg: 'HS256', kid: 'wtc001' })}.x`],
    ['no parts', 'x'],
  ])('rejects a signature with %s [P124]', async (_, text) => {
    await expect(verifyClusterInfo({ ...one, 'jws-kubeconfig-wtc001': text }, token)).rejects.toMatchObject({ code: 'Untrusted' })
  })
})
