import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { ServiceNetwork, StrategyContext } from '../../../interfaces.ts'
import type { Service, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { allocateService, serviceUse } from './allocation.ts'

const network: ServiceNetwork = { ranges: ['10.0.0.0/29'], nodePorts: { from: 30_000, to: 30_002 } }
const dual: ServiceNetwork = { ...network, ranges: ['10.0.0.0/24', 'fd00::/112'] }

function context(): StrategyContext {
  return { clock: fakeClock(0), random: seededRandom(7), profile: stockProfile, features: createFeatures('1.33') }
}

function service(spec: ServiceSpec, uid = 'u'): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', uid }, spec: { type: 'ClusterIP', ...spec } }
}

function allocate(subject: Service, others: Service[] = [], on: ServiceNetwork = network, old?: Service) {
  const use = serviceUse(others, subject.metadata.uid)
  return allocateService(subject, old, { network: on, use, context: context() })
}

function allocateDry(subject: Service, others: Service[] = []) {
  const use = serviceUse(others, subject.metadata.uid)
  return allocateService(subject, undefined, { network, use, context: { ...context(), dryRun: true } })
}

describe('cluster IPs of services', () => {
  it('gives every service a different address, and never that of the network', () => {
    const made: Service[] = []
    for (let i = 0; i < 6; i++) {
      const next = service({}, String(i))
      expect(allocate(next, made)).toEqual([])
      made.push(next)
    }
    const addresses = made.map(({ spec }) => spec?.clusterIP)
    expect(new Set(addresses).size).toBe(6)
    expect(addresses).not.toContain('10.0.0.0')
    expect(addresses).not.toContain('10.0.0.7')
    expect(allocate(service({}, 'x'), made)).toMatchObject([{ field: 'spec.clusterIPs', reason: 'FieldValueInvalid' }])
  })

  it('grants a requested address unless it is taken or outside the range', () => {
    const first = service({ clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] })
    expect(allocate(first)).toEqual([])
    const detail = 'failed to allocate IP 10.0.0.3: provided IP is already allocated'
    expect(allocate(service({ clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] }, 'v'), [first])).toEqual([
      { field: 'spec.clusterIPs', reason: 'FieldValueInvalid', message: `Invalid value: []string{"10.0.0.3"}: ${detail}` },
    ])
    const outside = 'the provided network does not match the current range'
    expect(allocate(service({ clusterIP: '192.168.0.1', clusterIPs: ['192.168.0.1'] }))).toMatchObject([
      { message: `Invalid value: []string{"192.168.0.1"}: failed to allocate IP 192.168.0.1: ${outside}` },
    ])
  })

  it('compares the addresses of a dry run with the range, not with those in use', () => {
    const first = service({ clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] })
    expect(allocateDry(service({ clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] }, 'v'), [first])).toEqual([])
    const outside = 'the provided IP (192.168.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/29'
    expect(allocateDry(service({ clusterIP: '192.168.0.1', clusterIPs: ['192.168.0.1'] }))).toMatchObject([
      { message: `Invalid value: []string{"192.168.0.1"}: failed to allocate IP 192.168.0.1: ${outside}` },
    ])
  })

  it('names an address that cannot be allocated before the ports', () => {
    const refused = { type: 'NodePort', clusterIP: '10.9.0.1', clusterIPs: ['10.9.0.1'], ports: [{ port: 1, nodePort: 80 }] }
    expect(allocate(service(refused))).toMatchObject([{ field: 'spec.clusterIPs' }])
  })

  it('skips headless and ExternalName services', () => {
    const headless = service({ clusterIP: 'None', clusterIPs: ['None'] })
    expect(allocate(headless)).toEqual([])
    expect(headless.spec?.clusterIPs).toEqual(['None'])
    const outside = service({ type: 'ExternalName', externalName: 'a.example.com' })
    expect(allocate(outside)).toEqual([])
    expect(outside.spec?.clusterIP).toBeUndefined()
  })

  it('gives headless services without selector both families, also on single-stack clusters', () => {
    const families = (spec: object) => {
      const subject = service({ clusterIP: 'None', clusterIPs: ['None'], ...spec })
      expect(allocate(subject)).toEqual([])
      return [subject.spec?.ipFamilyPolicy, ...(subject.spec?.ipFamilies ?? [])]
    }
    expect(families({})).toEqual(['RequireDualStack', 'IPv4', 'IPv6'])
    expect(families({ ipFamilies: ['IPv6'] })).toEqual(['RequireDualStack', 'IPv6', 'IPv4'])
    expect(families({ ipFamilyPolicy: 'SingleStack' })).toEqual(['SingleStack', 'IPv4'])
    expect(families({ selector: { app: 'a' } })).toEqual(['SingleStack', 'IPv4'])
  })

  it('gives an address of each family on dual-stack clusters', () => {
    const subject = service({ ipFamilyPolicy: 'PreferDualStack' })
    expect(allocate(subject, [], dual)).toEqual([])
    expect(subject.spec?.ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(subject.spec?.clusterIPs?.[0]).toMatch(/^10\.0\.0\.\d+$/)
    expect(subject.spec?.clusterIPs?.[1]).toMatch(/^fd00::[0-9a-f]+$/)
  })

  it('rejects families that the cluster does not have', () => {
    expect(allocate(service({ ipFamilies: ['IPv6'] }))).toMatchObject([{ field: 'spec.ipFamilies[0]' }])
    expect(allocate(service({ ipFamilyPolicy: 'RequireDualStack' }))).toMatchObject([{ field: 'spec.ipFamilyPolicy' }])
  })
})

describe('node ports', () => {
  it('allocates a free node port for each port', () => {
    const subject = service({ type: 'NodePort', ports: [{ name: 'a', port: 1, protocol: 'TCP', targetPort: 1 }] })
    expect(allocate(subject)).toEqual([])
    expect(subject.spec?.ports?.[0]?.nodePort).toBeGreaterThanOrEqual(30_000)
  })

  it('rejects node ports that are taken or outside the range', () => {
    const port = { port: 1, protocol: 'TCP', targetPort: 1 }
    const first = service({ type: 'NodePort', ports: [{ ...port, nodePort: 30_001 }] })
    expect(allocate(first)).toEqual([])
    expect(allocate(service({ type: 'NodePort', ports: [{ ...port, nodePort: 30_001 }] }, 'v'), [first])).toEqual([
      {
        field: 'spec.ports[0].nodePort',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 30001: provided port is already allocated',
      },
    ])
    const detail = 'provided port is not in the valid range. The range of valid ports is 30000-30002'
    expect(allocate(service({ type: 'NodePort', ports: [{ ...port, nodePort: 80 }] }))).toMatchObject([
      { message: `Invalid value: 80: ${detail}` },
    ])
  })

  it('gives one cause for a node port of two protocols', () => {
    const both = (nodePort: number) => [
      { name: 'a', port: 1, protocol: 'TCP', nodePort },
      { name: 'b', port: 1, protocol: 'UDP', nodePort },
    ]
    const first = service({ type: 'NodePort', ports: both(30_001) })
    expect(allocate(first)).toEqual([])
    const cause = { field: 'spec.ports[0].nodePort' }
    expect(allocate(service({ type: 'NodePort', ports: both(30_001) }, 'v'), [first])).toMatchObject([cause])
    expect(allocate(service({ type: 'NodePort', ports: both(80) }))).toMatchObject([cause])
  })

  it('refuses a node port that another service holds for another protocol', () => {
    const first = service({ type: 'NodePort', ports: [{ port: 1, protocol: 'TCP', nodePort: 30_001 }] })
    const second = service({ type: 'NodePort', ports: [{ port: 1, protocol: 'UDP', nodePort: 30_001 }] }, 'v')
    expect(allocate(second, [first])).toMatchObject([{ field: 'spec.ports[0].nodePort' }])
  })

  it('refuses one node port for two ports of a new service, and grants it to those of an update', () => {
    const ports = [
      { name: 'a', port: 1, protocol: 'TCP', nodePort: 30_001 },
      { name: 'b', port: 2, protocol: 'UDP', nodePort: 30_001 },
    ]
    expect(allocate(service({ type: 'NodePort', ports }))).toMatchObject([{ field: 'spec.ports[1].nodePort' }])
    expect(allocate(service({ type: 'NodePort', ports }), [], network, service({ ports: [{ port: 1 }] }))).toEqual([])
  })

  const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: i + 1, protocol: 'TCP' }))

  it('allocates every port of the range before it rejects one', () => {
    const made = service({ type: 'NodePort', ports: ports(3) })
    expect(allocate(made)).toEqual([])
    expect(new Set(made.spec?.ports?.map(({ nodePort }) => nodePort))).toEqual(new Set([30_000, 30_001, 30_002]))
  })

  it('rejects a service with more ports than are free', () => {
    const detail = 'Internal error: failed to allocate a nodePort: range is full'
    expect(allocate(service({ type: 'NodePort', ports: ports(5) }))).toEqual([
      { field: 'spec.ports[3].nodePort', reason: 'InternalError', message: detail },
    ])
    const full = [
      service(
        {
          type: 'NodePort',
          ports: [
            { port: 1, nodePort: 30_000 },
            { port: 2, nodePort: 30_001 },
            { port: 3, nodePort: 30_002 },
          ],
        },
        'v',
      ),
    ]
    const balancer = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      allocateLoadBalancerNodePorts: false,
      ports: ports(1),
    }
    expect(allocate(service(balancer), full)).toEqual([
      { field: 'spec.healthCheckNodePort', reason: 'InternalError', message: detail },
    ])
  })

  it('scans the range once, however many ports a service has', () => {
    let looks = 0
    const nodePorts = { has: () => ++looks > 0 && false }
    const wide = { ...network, nodePorts: { from: 30_000, to: 32_767 } }
    const made = service({ type: 'NodePort', ports: ports(20_000) })
    const use = { addresses: new Set<string>(), nodePorts }
    expect(allocateService(made, undefined, { network: wide, use, context: context() })).toHaveLength(1)
    expect(looks).toBeLessThan(3 * 2768 * 40)
  })

  it('keeps the node ports of the stored service', () => {
    const stored = service({ type: 'NodePort', ports: [{ port: 1, protocol: 'TCP', targetPort: 1, nodePort: 30_001 }] })
    const next = structuredClone(stored)
    expect(allocate(next, [stored], network, stored)).toEqual([])
    expect(next.spec?.ports?.[0]?.nodePort).toBe(30_001)
  })

  it('allocates a health check port for load balancers', () => {
    const subject = service({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      allocateLoadBalancerNodePorts: false,
      ports: [{ port: 1, protocol: 'TCP', targetPort: 1 }],
    })
    expect(allocate(subject)).toEqual([])
    expect(subject.spec?.healthCheckNodePort).toBeGreaterThanOrEqual(30_000)
    expect(subject.spec?.ports?.[0]?.nodePort).toBeUndefined()
  })
})
