import { describe, expect, it } from 'vitest'
import { advertised, certificateHosts, clusterAddress, firstAddress } from './addresses.ts'
import type { ServeOptions } from './serve-options.ts'

const options = (more: Partial<ServeOptions>) =>
  ({ bindAddress: '127.0.0.1', serviceClusterIpRange: '10.96.0.0/12', ...more }) as ServeOptions

describe('addresses', () => {
  it.each([
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.0.0.77/24', '10.0.0.1'],
    ['10.0.255.255/8', '10.0.0.1'],
    ['192.168.1.255/32', '192.168.2.0'],
    ['fd00:1::/108', 'fd00:1:0:0:0:0:0:1'],
  ])('the first address of %s is %s', (range, first) => {
    expect(firstAddress(range)).toBe(first)
  })

  it('the certificate names the bound and the advertised addresses', () => {
    expect(certificateHosts(options({ externalHostname: 'api.example.com', advertiseAddress: '192.0.2.1' }))).toEqual([
      '127.0.0.1',
      '192.0.2.1',
      'api.example.com',
      '10.96.0.1',
    ])
    expect(certificateHosts(options({ bindAddress: '0.0.0.0' }))).not.toContain('0.0.0.0')
  })

  it('excludes loopback addresses from endpoints', () => {
    expect(clusterAddress(options({ bindAddress: '192.0.2.7' }))).toBe('192.0.2.7')
    expect(clusterAddress(options({ bindAddress: '0.0.0.0', advertiseAddress: '192.0.2.1' }))).toBe('192.0.2.1')
    for (const bindAddress of ['127.0.0.1', '::1', '0.0.0.0', '::'])
      expect(clusterAddress(options({ bindAddress })) ?? '').not.toMatch(/^127\.|^::1?$|^0\.0/)
  })

  it('discovery prefers the external name, then the advertised and the bound address', () => {
    expect(advertised(options({}), 1)).toBe('127.0.0.1:1')
    expect(advertised(options({ advertiseAddress: 'fd00::1' }), 2)).toBe('[fd00::1]:2')
    expect(advertised(options({ advertiseAddress: '192.0.2.1', externalHostname: 'api' }), 3)).toBe('api:3')
  })
})
