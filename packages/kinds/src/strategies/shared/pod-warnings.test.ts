import { createFeatures, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { ContainerPort, EnvVar, PodSpec } from '../../types/core-v1.generated.ts'
import { podWarnings } from './pod-warnings.ts'

const warningsOf = (spec: Partial<PodSpec>) =>
  podWarnings(
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }], ...spec } },
    { profile: stockProfile, features: createFeatures() },
  )

const withPorts = (...ports: ContainerPort[]) => warningsOf({ containers: [{ name: 'c', ports }] })
const withVariables = (...env: EnvVar[]) => warningsOf({ containers: [{ name: 'c', env }] })

describe('podWarnings', () => {
  it('warns of deprecated labels of the node selector, sorted', () => {
    const names = [
      'node-role.kubernetes.io/master',
      'beta.kubernetes.io/os',
      'app',
      'app.kubernetes.io/created-by',
      'beta.kubernetes.io/arch',
    ]
    expect(warningsOf({ nodeSelector: Object.fromEntries(names.map((name) => [name, 'v'])) })).toEqual([
      'spec.nodeSelector[app.kubernetes.io/created-by]: deprecated since v1.9',
      'spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      'spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead',
    ])
  })

  it('warns of an address of the host without its port', () => {
    expect(withPorts({ name: 'web', containerPort: 80, protocol: 'TCP', hostIP: '::1' })).toEqual([
      'spec.containers[0].ports[0]: hostIP set without hostPort: {Name:web HostPort:0 ContainerPort:80 Protocol:TCP HostIP:::1}',
    ])
    expect(withPorts({ containerPort: 80, hostPort: 80, protocol: 'TCP', hostIP: '::1' })).toEqual([])
  })

  it('accepts variables that extend an earlier definition', () => {
    const first = { name: 'PATH', value: '/bin' }
    const hidden = 'spec.containers[0].env[1]: hides previous definition of "PATH", which may be dropped when using apply'
    expect(withVariables(first, { name: 'PATH', value: '$(PATH):/sbin' })).toEqual([])
    expect(withVariables(first, { name: 'PATH', value: '$(PATH)' })).toEqual([hidden])
    expect(withVariables(first, { name: 'PATH', value: '/sbin' })).toEqual([hidden])
  })

  it('warns of fractions of bytes in the claims of ephemeral volumes', () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100m' } } }
    expect(warningsOf({ volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }] })).toEqual([
      'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer',
    ])
  })

  it('reads slashes inside of paths in linear time', () => {
    const path = `a${'/'.repeat(200_000)}b`
    expect(warningsOf({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path }] } }] })).toEqual([])
  })

  it('warns once of sources that repeat others', () => {
    const items = ['p0', 'p1'].map((path) => ({ key: 'k', path }))
    const sources = [{ secret: { name: 's', items } }, ...Array.from({ length: 3 }, () => ({ configMap: { name: 'c' } }))]
    expect(warningsOf({ volumes: [{ name: 'v', projected: { sources } }] })).toEqual([
      'volume "v" (Projected): overlapping paths: "p0" (Secret "s") with "p0" (Secret "s")',
      'volume "v" (Projected): overlapping paths: "p1" (Secret "s") with "p1" (Secret "s")',
    ])
  })

  it('compares a limited number of characters', () => {
    const volumeOf = (path: string) => {
      const paths = [...Array.from({ length: 300 }, (_, i) => `${path}${i}`), `${path}0`]
      return { name: 'v', secret: { secretName: 's', items: paths.map((each) => ({ key: 'k', path: each })) } }
    }
    expect(warningsOf({ volumes: [volumeOf('a/')] })).toHaveLength(1)
    expect(warningsOf({ volumes: [volumeOf('a/'.repeat(2500))] })).toEqual([])
  })

  it('compares no paths again for many sources that repeat them', () => {
    const first = { secret: { name: 's', items: Array.from({ length: 20_000 }, (_, i) => ({ key: 'k', path: `p${i}` })) } }
    const sources = [first, ...Array.from({ length: 20_000 }, () => ({ configMap: { name: 'c' } }))]
    expect(warningsOf({ volumes: [{ name: 'v', projected: { sources } }] })).toEqual([])
  })

  it('lists no more repeated and long warnings than a response shows', () => {
    const empty = warningsOf({ volumes: [{ name: 'v', projected: { sources: Array.from({ length: 200_000 }, () => ({})) } }] })
    expect(empty).toEqual(['volume "v" (Projected) has no sources provided'])
    const secrets = Array.from({ length: 100_000 }, () => ({ name: 'same' }))
    const repeated = warningsOf({ imagePullSecrets: secrets })
    expect(repeated.length).toBeLessThan(200)
    expect(repeated.join('').length).toBeGreaterThan(2 * 4096)
  })

  it('lists warnings in the order of kube-apiserver', () => {
    const texts = warningsOf({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] } },
      hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }],
      imagePullSecrets: [{}, { name: 'a' }, { name: 'a' }],
      volumes: [{ name: 'v', gitRepo: { repository: 'r' } }],
    })
    expect(texts.map((text) => text.replace(/: .*/, ''))).toEqual([
      'spec.volumes[0].gitRepo',
      'spec.hostAliases[1].ip',
      'spec.imagePullSecrets[2].name',
      'spec.imagePullSecrets[0].name',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector',
    ])
  })
})
