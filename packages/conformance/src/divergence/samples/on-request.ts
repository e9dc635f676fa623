import type { JsonObject } from '@krmkit/meta'
import type { Sample } from './index.ts'

/** Kinds that are served on request only. */

const selectors = [{ cel: { expression: 'device.driver == "d.example.com"' } }]
const parameters = { driver: 'd.example.com', parameters: { a: 1, b: { c: ['d'] } } }
const constraints = [{ requests: ['r'], matchAttribute: 'd.example.com/model' }]
const tolerations = [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }]
const capacitySelector = [{ cel: { expression: 'device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) >= 0' } }]

/** Specifications of claims before and after the members of a request had a level of their own. */
const claims: Readonly<Record<string, readonly JsonObject[]>> = {
  v1beta1: [
    { devices: { requests: [{ name: 'r', deviceClassName: 'c' }] } },
    {
      devices: {
        requests: [
          { name: 'r', deviceClassName: 'c', allocationMode: 'ExactCount', count: 2, selectors, tolerations },
          { name: 's', deviceClassName: 'c', allocationMode: 'All', adminAccess: false },
          {
            name: 't',
            firstAvailable: [
              { name: 'a', deviceClassName: 'c', count: 3 },
              { name: 'b', deviceClassName: 'e', selectors },
            ],
          },
        ],
        constraints,
        config: [{ requests: ['r', 't/a'], opaque: parameters }],
      },
    },
  ],
  v1beta2: [
    { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
    {
      devices: {
        requests: [
          {
            name: 'r',
            exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 2, selectors: capacitySelector, tolerations },
          },
          { name: 's', exactly: { deviceClassName: 'c', allocationMode: 'All', adminAccess: false } },
          {
            name: 't',
            firstAvailable: [
              { name: 'a', deviceClassName: 'c', count: 3 },
              { name: 'b', deviceClassName: 'e', selectors },
            ],
          },
        ],
        constraints,
        config: [{ requests: ['r', 't/a'], opaque: parameters }],
      },
    },
  ],
}

const attributes = { model: { string: 'm' }, cores: { int: 4 }, ready: { bool: true }, driverVersion: { version: '1.2.3' } }
const capacity = { memory: { value: '1Gi' }, 'other.example.com/x': { value: '2' } }
const taints = [{ key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2020-01-01T00:00:00Z' }]
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }

const slices: Readonly<Record<string, readonly JsonObject[]>> = {
  v1beta1: [
    {
      driver: 'd.example.com',
      nodeName: 'n',
      pool,
      devices: [
        { name: 'd0', basic: { attributes, capacity, taints } },
        { name: 'd1', basic: {} },
      ],
    },
    { driver: 'd.example.com', allNodes: true, pool },
    {
      driver: 'd.example.com',
      pool,
      perDeviceNodeSelection: true,
      sharedCounters: [{ name: 's', counters: { memory: { value: '8Gi' } } }],
      devices: [
        { name: 'd0', basic: { nodeName: 'n', consumesCounters: [{ counterSet: 's', counters: { memory: { value: '1Gi' } } }] } },
        { name: 'd1', basic: { allNodes: true } },
      ],
    },
  ],
  v1beta2: [
    { driver: 'd.example.com', nodeName: 'n', pool, devices: [{ name: 'd0', attributes, capacity, taints }, { name: 'd1' }] },
    {
      driver: 'd.example.com',
      pool,
      nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['z'] }] }] },
      devices: [{ name: 'd0' }],
    },
    {
      driver: 'd.example.com',
      pool,
      perDeviceNodeSelection: true,
      sharedCounters: [{ name: 's', counters: { memory: { value: '8Gi' } } }],
      devices: [
        { name: 'd0', nodeName: 'n', consumesCounters: [{ counterSet: 's', counters: { memory: { value: '1Gi' } } }] },
        { name: 'd1', allNodes: true },
      ],
    },
  ],
}

const device = { driver: 'd.example.com', pool: 'p', device: 'd0' }
const condition = { type: 'Ready', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z' }

/** Writes of the status take it from here. */
const claimStatus: JsonObject = {
  allocation: {
    devices: {
      results: [{ request: 'r', ...device, tolerations }],
      config: [{ source: 'FromClass', requests: ['r'], opaque: parameters }],
    },
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] },
  },
  reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }],
  devices: [
    {
      ...device,
      conditions: [condition],
      data: { a: 1 },
      networkData: { interfaceName: 'eth0', ips: ['10.0.0.1/24', '2001:db8::1/64'], hardwareAddress: '00:00:5e:00:53:01' },
    },
  ],
}

function resources(version: 'v1beta1' | 'v1beta2'): Record<string, readonly Sample[]> {
  const specs = claims[version] ?? []
  return {
    [`resource.k8s.io/${version}/deviceclasses`]: [{ spec: {} }, { spec: { selectors, config: [{ opaque: parameters }] } }],
    [`resource.k8s.io/${version}/resourceclaims`]: specs.flatMap((spec) => [{ spec }, { spec, status: claimStatus }]),
    [`resource.k8s.io/${version}/resourceclaimtemplates`]: specs.map((spec) => ({
      spec: { metadata: { labels: { a: 'b' } }, spec },
    })),
    [`resource.k8s.io/${version}/resourceslices`]: (slices[version] ?? []).map((spec) => ({ spec })),
  }
}

const match = {
  resourceRules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
}
const validatingPolicy: JsonObject = {
  spec: {
    failurePolicy: 'Ignore',
    matchConstraints: match,
    validations: [{ expression: 'object.spec.x > 1', message: 'm', reason: 'Invalid' }],
    variables: [{ name: 'v', expression: '1' }],
  },
}
const validatingBinding: JsonObject = { spec: { policyName: 'p-{id}', validationActions: ['Audit'] } }

const leaseCandidate = { leaseName: 'l', pingTime: '2020-01-01T00:00:00.000000Z', renewTime: '2020-01-01T00:00:00.000000Z' }
const trustBundle =
  '-----BEGIN CERTIFICATE-----\nMIIBdjCCARugAwIBAgIUT+cuXcOpSnrK2dqrmdPokko3TVUwCgYIKoZIzj0EAwIw\nDzENMAsGA1UEAwwEamFuZTAgFw0yNjExMjEwOTM4MDBaGA8yMTI2MTAyODA5Mzgw\nMFowDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPOb\n3uClWtzrHhGxTeyQf9cm8NKkN8AUxI4i/potfUbxpv4aRUNa2twSidNo7AKxXJce\nHjFTWYY629Vqu2XOXZGjUzBRMB0GA1UdDgQWBBSE2C4QQyCFv0K76hTG2REdc4+i\npTAfBgNVHSMEGDAWgBSE2C4QQyCFv0K76hTG2REdc4+ipTAPBgNVHRMBAf8EBTAD\nAQH/MAoGCCqGSM49BAMCA0kAMEYCIQD+QAahoIgClmkG+tbiCUR4TrZa+pxkSje8\nyQkNGQ/wkwIhAPs/iqnOG+W8mYYLbJQKWvDCellWIsZKnT+llOOnJNTo\n-----END CERTIFICATE-----\n'

export const onRequest: Readonly<Record<string, readonly Sample[]>> = {
  ...resources('v1beta1'),
  ...resources('v1beta2'),
  'resource.k8s.io/v1alpha3/devicetaintrules': [
    {
      spec: {
        deviceSelector: { driver: 'd.example.com', pool: 'p', device: 'd' },
        taint: { key: 'k', value: 'v', effect: 'NoSchedule' },
      },
    },
    { spec: { deviceSelector: { deviceClassName: 'c', selectors }, taint: { key: 'k', effect: 'NoExecute' } } },
    { spec: { taint: { key: 'k', effect: 'NoExecute', timeAdded: '2020-01-01T00:00:00Z' } } },
  ],
  'storage.k8s.io/v1alpha1/volumeattributesclasses': [{ driverName: 'd.example.com', parameters: { a: 'b' } }],
  'storage.k8s.io/v1beta1/volumeattributesclasses': [{ driverName: 'd.example.com', parameters: { a: 'b' } }],
  'storagemigration.k8s.io/v1alpha1/storageversionmigrations': [
    { spec: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } } },
    { spec: { resource: { version: 'v1', resource: 'pods' }, continueToken: 'c' } },
  ],
  'internal.apiserver.k8s.io/v1alpha1/storageversions': [{ metadata: { name: 'apps.x{id}' }, spec: {} }],
  'certificates.k8s.io/v1alpha1/clustertrustbundles': [{ spec: { trustBundle } }],
  'certificates.k8s.io/v1beta1/clustertrustbundles': [{ spec: { trustBundle } }],
  'coordination.k8s.io/v1alpha2/leasecandidates': [
    { spec: { ...leaseCandidate, binaryVersion: '1.33.0', emulationVersion: '1.32.0', strategy: 'OldestEmulationVersion' } },
  ],
  'coordination.k8s.io/v1beta1/leasecandidates': [
    { spec: { ...leaseCandidate, binaryVersion: '1.33.0', strategy: 'OldestEmulationVersion' } },
  ],
  'admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicies': [validatingPolicy],
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies': [validatingPolicy],
  'admissionregistration.k8s.io/v1alpha1/validatingadmissionpolicybindings': [validatingBinding],
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicybindings': [validatingBinding],
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies': [
    {
      spec: {
        matchConstraints: match,
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{x: 1}}' } },
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/spec/x", value: 1}]' } },
        ],
        variables: [{ name: 'v', expression: '1' }],
        matchConditions: [{ name: 'c', expression: 'true' }],
      },
    },
  ],
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings': [
    { spec: { policyName: 'p-{id}', matchResources: { namespaceSelector: { matchLabels: { 'no-such-namespace': '{id}' } } } } },
  ],
}
