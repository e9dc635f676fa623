import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { PodSpec } from '../../types/core-v1.generated.ts'
import { testContext } from '../testing/context.ts'
import type { FieldPath } from './field-path.ts'
import { podQos } from './pod-qos.ts'
import { defaultPodResources, validatePodClaims, validatePodResources } from './pod-resources.ts'
import { validateWith } from './strategy.direct.ts'

const features = createFeatures('1.33', { PodLevelResources: true })
const container = (requests: object, limits: object = {}, restartPolicy?: string) => {
  return { name: 'c', image: 'i', resources: { requests, limits }, ...(restartPolicy === undefined ? {} : { restartPolicy }) }
}
const spec = (resources: object, containers: readonly object[] = [], initContainers: readonly object[] = []) =>
  ({ containers, initContainers, resources }) as unknown as PodSpec
const found = (validate: (at: FieldPath) => void) =>
  validateWith(testContext({ features }), (errors) => validate(errors.child('x'))).map(
    ({ field, message }) => `${field.slice(1)}: ${message}`,
  )

describe('resources of a pod', () => {
  it('default to those of its containers, and requests to limits', () => {
    const pod = spec({ limits: { cpu: '4', memory: '3Gi' } }, [
      container({ cpu: '100m' }, { 'hugepages-2Mi': '4Mi' }),
      container({ cpu: '0.5' }, { 'hugepages-2Mi': '2Mi' }),
    ])
    defaultPodResources(pod, createFeatures())
    expect(pod.resources).toEqual({
      limits: { cpu: '4', memory: '3Gi', 'hugepages-2Mi': '6Mi' },
      requests: { cpu: '600m', memory: '3Gi', 'hugepages-2Mi': '6Mi' },
    })
    for (const resources of [{}, { requests: { cpu: '1' } }]) {
      const other = spec(resources, [container({ memory: '1Gi' })])
      defaultPodResources(other, createFeatures())
      expect(other.resources).toEqual(resources)
    }
  })

  it('suffice for init containers beside sidecars', () => {
    const pod = spec(
      { limits: { cpu: '9' } },
      [container({ cpu: '1' })],
      [container({ cpu: '1' }, {}, 'Always'), container({ cpu: '3', memory: '1Gi' })],
    )
    defaultPodResources(pod, createFeatures())
    expect(pod.resources?.requests).toEqual({ cpu: '4', memory: '1Gi' })
  })

  it('are computed ones that suffice for the containers', () => {
    const faults = (resources: object, ...containers: object[]) =>
      found((at) => validatePodResources(spec(resources, containers), at, new Set()))
    expect(faults({ requests: { cpu: '1' } }, container({ cpu: '1' }))).toEqual([])
    expect(faults({ limits: { 'ephemeral-storage': '1Gi', x: '1' }, claims: [] })).toEqual([
      '.claims: Forbidden: claims cannot be set for Resources at pod-level',
      '.limits[ephemeral-storage]: Unsupported value: ephemeral-storage: supported values: "cpu", "hugepages-", "memory"',
      '.limits[x]: Invalid value: x: must be a standard resource type or fully qualified',
    ])
    expect(faults({ requests: { cpu: '100m' } }, container({ cpu: '1' }))).toEqual([
      '.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container requests of 1',
    ])
    expect(faults({ limits: { memory: '1Gi' } }, container({}, { memory: '2Gi', cpu: '1' }))).toEqual([
      '.containers[0][memory].limits: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
    ])
  })

  it('decide about its quality of service', () => {
    const full = { cpu: '1', memory: '1Gi' }
    const best = [container({ cpu: '1' })]
    expect(podQos(spec({ limits: full, requests: full }, best), features)).toBe('Guaranteed')
    expect(podQos(spec({ requests: full }, best), features)).toBe('Burstable')
    expect(podQos(spec({}, best), features)).toBe('BestEffort')
    expect(podQos(spec({}, best), createFeatures())).toBe('Burstable')
  })
})

it('the claims of a pod have different names and one source', () => {
  const claims = [
    { name: 'a' },
    { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' },
    { name: '', resourceClaimName: 'z' },
  ]
  const printed = (name: string, pointer: string) =>
    `core.PodResourceClaim{Name:"${name}", ResourceClaimName:(*string)(${pointer}), ResourceClaimTemplateName:(*string)(${pointer})}`
  expect(found((at) => validatePodClaims(claims, at))).toEqual([
    `[0]: Invalid value: ${printed('a', 'nil')}: must specify one of: \`resourceClaimName\`, \`resourceClaimTemplateName\``,
    '[1].name: Duplicate value: "a"',
    `[1]: Invalid value: ${printed('a', '0x0')}: at most one of \`resourceClaimName\` or \`resourceClaimTemplateName\` may be specified`,
    '[2].name: Required value',
  ])
  expect(
    found((at) =>
      validatePodClaims(
        [
          { name: 'a', resourceClaimName: 'x' },
          { name: 'b', resourceClaimTemplateName: 'x' },
        ],
        at,
      ),
    ),
  ).toEqual([])
})
