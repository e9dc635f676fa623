import type { Attributes, Authorizer } from '@krmkit/authorization'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission, type TestRequest } from '../testing/run-admission.ts'
import { nodeRestriction } from './node-restriction.ts'

const plugin = nodeRestriction({ profile: stockProfile })
const agent = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
const cluster = clusterOf({
  'nodes//n1': {},
  'pods/ns/own': {
    spec: {
      nodeName: 'n1',
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { serviceAccountToken: { audience: 'vault' } }] },
        },
        { name: 'csi', csi: { driver: 'd' } },
        { name: 'p', persistentVolumeClaim: { claimName: 'c' } },
      ],
    },
  },
  'pods/ns/other': { spec: { nodeName: 'n2' } },
  'pods/ns/made': { spec: { nodeName: 'n1', volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: {} } }] } },
  'pods/ns/old': { spec: { nodeName: 'n1', volumes: [{ name: 'v', azureFile: { shareName: 's' } }] } },
  'pods/ns/lost-driver': { spec: { nodeName: 'n1', volumes: [{ name: 'v', csi: { driver: 'lost' } }] } },
  'pods/ns/lost-claim': { spec: { nodeName: 'n1', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'lost' } }] } },
  'pods/ns/lost-volume': { spec: { nodeName: 'n1', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'free' } }] } },
  'pods/ns/lost-both': {
    spec: {
      nodeName: 'n1',
      volumes: [
        { name: 'v', csi: { driver: 'lost' } },
        { name: 'w', persistentVolumeClaim: { claimName: 'lost' } },
        { name: 'x', csi: { driver: 'lost' } },
      ],
    },
  },
  'persistentvolumeclaims/ns/made-v': { spec: { volumeName: 'v' } },
  'persistentvolumeclaims/ns/free': { spec: {} },
  'storage.k8s.io/csidrivers//file.csi.azure.com': { spec: { tokenRequests: [{ audience: 'filed' }] } },
  'persistentvolumeclaims/ns/c': { spec: { volumeName: 'v' } },
  'persistentvolumes//v': { spec: { csi: { driver: 'e' } } },
  'storage.k8s.io/csidrivers//d': { spec: { tokenRequests: [{ audience: 'inline' }] } },
  'storage.k8s.io/csidrivers//e': { spec: { tokenRequests: [{ audience: 'claimed' }] } },
})
const refused = async (resource: string, sent: TestRequest) => {
  const message = refusalOf(await runAdmission(plugin, resource, { user: agent, ...sent }, cluster))
  return message.replace(/^\S+ "[^"]*" is forbidden: /, '')
}

describe('NodeRestriction', () => {
  it('restricts kubelets only [P280]', async () => {
    const object = { metadata: { name: 'n2' } }
    for (const user of [
      { username: 'jane', groups: ['system:nodes'] },
      { username: 'system:node:n1', groups: [] },
    ])
      expect(await refused('nodes', { object, user })).toBe('')
    expect(await refused('nodes', { object, user: { username: 'system:node:', groups: ['system:nodes'] } })).toBe(
      'could not determine node from user "system:node:"',
    )
  })

  describe('nodes', () => {
    const node = (labels = {}, spec = {}, name = 'n1') => ({ metadata: { name, labels }, spec })

    it('allows a kubelet to write its own Node only [P280]', async () => {
      expect(await refused('nodes', { object: node() })).toBe('')
      expect(await refused('nodes', { object: node({}, {}, 'n2') })).toBe('node "n1" is not allowed to modify node "n2"')
      expect(await refused('nodes', { object: { metadata: { generateName: 'n', name: '' } } })).toBe(
        'node "n1" is not allowed to modify node ""',
      )
      expect(await refused('nodes', { operation: 'DELETE', name: 'n2' })).toBe('node "n1" is not allowed to modify node "n2"')
    })

    it.each([
      'node-restriction.kubernetes.io/x',
      'team.node-restriction.kubernetes.io/x',
      'foo.kubernetes.io/bar',
      'k8s.io/x',
      'node-role.kubernetes.io/master',
    ])('forbids a kubelet to set the label %s [P281]', async (label) => {
      expect(await refused('nodes', { object: node({ [label]: '' }) })).toBe(
        `node "n1" is not allowed to set the following labels: ${label}`,
      )
      expect(await refused('nodes', { oldObject: node(), object: node({ [label]: '' }) })).toBe(
        `is not allowed to modify labels: ${label}`,
      )
      expect(await refused('nodes', { oldObject: node({ [label]: '' }), object: node() })).toBe(
        `is not allowed to modify labels: ${label}`,
      )
      expect(await refused('nodes', { oldObject: node({ [label]: '' }), object: node({ [label]: '', own: 'x' }) })).toBe('')
    })

    it.each([
      'kubernetes.io/hostname',
      'kubernetes.io/os',
      'beta.kubernetes.io/instance-type',
      'topology.kubernetes.io/zone',
      'failure-domain.beta.kubernetes.io/region',
      'node.kubernetes.io/anything',
      'x.kubelet.kubernetes.io/y',
      'example.com/x',
      'x',
    ])('allows a kubelet to set the label %s [P281]', async (label) => {
      expect(await refused('nodes', { object: node({ [label]: 'x' }) })).toBe('')
    })

    it('forbids changes of taints, owners and configSource [P280]', async () => {
      const taints = [{ key: 'a', effect: 'NoSchedule' }]
      expect(await refused('nodes', { oldObject: node(), object: node({}, { taints }) })).toBe(
        'node "n1" is not allowed to modify taints',
      )
      expect(await refused('nodes', { object: node({}, { taints }) })).toBe('')
      const source = { configSource: { configMap: {} } }
      expect(await refused('nodes', { object: node({}, source) })).toBe(
        'node "n1" is not allowed to create pods with a non-nil configSource',
      )
      expect(await refused('nodes', { oldObject: node(), object: node({}, source) })).toBe(
        'node "n1" is not allowed to update configSource to a new non-nil configSource',
      )
      const owned = { ...node(), metadata: { name: 'n1', ownerReferences: [{ uid: 'u' }] } }
      expect(await refused('nodes', { oldObject: node(), object: owned })).toBe(
        'node "n1" is not allowed to modify ownerReferences',
      )
    })
  })

  describe('pods', () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-of-n1', controller: true }
    const mirror = (spec: object = {}, owners: object[] = [owner]) => ({
      metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: owners },
      spec: { nodeName: 'n1', containers: [], ...spec },
    })

    it('allows mirror pods on the own node [P280]', async () => {
      expect(await refused('pods', { object: mirror() })).toBe('')
    })

    it.each([
      [
        { spec: { nodeName: 'n1' } },
        'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
      ],
      [mirror({ nodeName: 'n2' }), 'node "n1" can only create pods with spec.nodeName set to itself'],
      [mirror({}, []), 'node "n1" can only create pods with an owner reference set to itself'],
      [mirror({}, [owner, owner]), 'node "n1" can only create pods with a single owner reference set to itself'],
      [mirror({}, [{ ...owner, name: 'n2' }]), 'node "n1" can only create pods with an owner reference set to itself'],
      [
        mirror({}, [{ ...owner, controller: false }]),
        'node "n1" can only create pods with a controller owner reference set to itself',
      ],
      [mirror({}, [{ ...owner, blockOwnerDeletion: true }]), 'node "n1" must not set blockOwnerDeletion on an owner reference'],
      [mirror({}, [{ ...owner, uid: 'x' }]), 'node n1 UID mismatch: expected x got uid-of-n1'],
      [mirror({ serviceAccountName: 'x' }), 'node "n1" can not create pods that reference a service account'],
      [mirror({ imagePullSecrets: [{ name: 'x' }] }), 'node "n1" can not create pods that reference secrets'],
      [mirror({ volumes: [{ name: 'v', configMap: { name: 'x' } }] }), 'node "n1" can not create pods that reference configmaps'],
      [
        mirror({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: {} }] } }] }),
        'node "n1" can not create pods that reference clustertrustbundles',
      ],
      [
        mirror({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }] }),
        'node "n1" can not create pods that reference persistentvolumeclaims',
      ],
      [mirror({ resourceClaims: [{ name: 'x' }] }), 'node "n1" can not create pods that reference resourceclaims'],
    ])('refuses the pod %j [P280]', async (object, sentence) => {
      expect(await refused('pods', { object })).toBe(sentence)
    })

    it('allows deletion and status updates of pods on the own node [P280]', async () => {
      const own = { spec: { nodeName: 'n1' } }
      const other = { spec: { nodeName: 'n2' } }
      expect(await refused('pods', { operation: 'DELETE', name: 'own' })).toBe('')
      expect(await refused('pods', { operation: 'DELETE', name: 'other' })).toBe(
        'node "n1" can only delete pods with spec.nodeName set to itself',
      )
      expect(await refused('pods', { operation: 'DELETE', name: 'none' })).toBe('pod "none" not found')
      expect(await refused('pods', { object: own, oldObject: own, subresource: 'status' })).toBe('')
      expect(await refused('pods', { object: other, oldObject: other, subresource: 'status' })).toBe(
        'node "n1" can only update pod status for pods with spec.nodeName set to itself',
      )
      const labelled = { ...own, metadata: { labels: { a: 'b' } } }
      expect(await refused('pods', { object: labelled, oldObject: own, subresource: 'status' })).toBe(
        'node "n1" cannot update labels through pod status',
      )
      expect(await refused('pods', { object: {}, name: 'own', subresource: 'eviction' })).toBe('')
      expect(await refused('pods', { object: {}, name: 'other', subresource: 'eviction' })).toBe(
        'node n1 can only evict pods with spec.nodeName set to itself',
      )
    })

    it('refuses other operations and subresources [P280]', async () => {
      const pod = { spec: { nodeName: 'n1' } }
      expect(await refused('pods', { object: pod, oldObject: pod })).toBe(
        'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
      )
      expect(await refused('pods', { object: pod, subresource: 'binding' })).toBe(
        `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
      )
    })
  })

  describe('tokens', () => {
    const token = (boundObjectRef: object | null, audiences: string[] = []) => ({ spec: { boundObjectRef, audiences } })
    const bound = (name: string, uid = `uid-of-${name}`) => ({ apiVersion: 'v1', kind: 'Pod', name, uid })
    const sent = (object: object) => refused('serviceaccounts', { object, subresource: 'token' })

    it('allows tokens for pods on the own node and audiences of their volumes [P280]', async () => {
      for (const audience of ['', 'vault', 'inline', 'claimed'])
        expect(await sent(token(bound('own'), audience === '' ? [] : [audience]))).toBe('')
      expect(await sent(token(bound('own'), ['other']))).toBe(
        'audience "other" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
      )
      expect(await sent(token(bound('own'), ['vault', 'inline']))).toBe('node may only request 0 or 1 audiences')
    })

    it.each([
      ['made', ['claimed']],
      ['old', ['filed']],
    ])('finds the audiences of %s volumes [P280]', async (name, audiences) => {
      expect(await sent(token(bound(name), audiences))).toBe('')
    })

    it.each([
      ['lost-driver', 'csidriver.storage.k8s.io "lost" not found'],
      ['lost-claim', 'persistentvolumeclaim "lost" not found'],
      ['lost-volume', 'persistentvolume "" not found'],
      ['lost-both', '[csidriver.storage.k8s.io "lost" not found, persistentvolumeclaim "lost" not found]'],
    ])('reports failed lookups for %s [P280]', async (name, problem) => {
      expect(await sent(token(bound(name), ['x']))).toBe(`error validating audience "x": ${problem}`)
    })

    it('allows further audiences that the authorizer permits [P280]', async () => {
      const rights: Attributes[] = []
      const authorizer: Authorizer = {
        authorize(attributes) {
          rights.push(attributes)
          return { decision: attributes.resource === 'granted' ? 'allow' : 'noOpinion', reason: '' }
        },
      }
      const withRights = nodeRestriction({ profile: stockProfile, authorizer })
      const ends = async (audience: string) => {
        const object = { metadata: { name: 'account' }, ...token(bound('own'), [audience]) }
        return refusalOf(
          await runAdmission(withRights, 'serviceaccounts', { user: agent, object, subresource: 'token' }, cluster),
        )
      }
      expect(await ends('granted')).toBe('')
      expect(await ends('other')).toContain('is not authorized to request tokens for this audience')
      const right = { verb: 'request-serviceaccounts-token-audience', group: '', namespace: 'ns', isResource: true }
      expect(rights[0]).toMatchObject({ ...right, resource: 'granted', user: agent })
    })

    it.each([
      [null, 'node requested token not bound to a pod'],
      [{ ...bound('own'), kind: 'Secret' }, 'node requested token not bound to a pod'],
      [bound('own', ''), 'node requested token with a pod binding without a uid'],
      [
        bound('own', 'x'),
        'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
      ],
      [bound('other'), 'node requested token bound to a pod scheduled on a different node'],
      [bound('none'), 'pod "none" not found'],
    ])('refuses a token bound to %j [P280]', async (reference, sentence) => {
      expect(await sent(token(reference))).toBe(sentence)
    })
  })

  describe('other objects', () => {
    it('allows the own lease, CSINode and resource slices [P280]', async () => {
      const named = (name: string) => ({ metadata: { name } })
      const lease = (name: string, namespace = 'kube-node-lease') =>
        refused('coordination.k8s.io/leases', { object: { metadata: { name, namespace } }, namespace })
      expect([await lease('n1'), await lease('n2'), await lease('n1', 'ns')]).toEqual([
        '',
        'can only access node lease with the same name as the requesting node',
        'can only access leases in the "kube-node-lease" system namespace',
      ])
      expect(await refused('storage.k8s.io/csinodes', { object: named('n1') })).toBe('')
      expect(await refused('storage.k8s.io/csinodes', { object: named('n2') })).toBe(
        'can only access CSINode with the same name as the requesting node',
      )
      expect(await refused('storage.k8s.io/csinodes', { operation: 'DELETE', name: 'n2' })).toContain('can only access CSINode')
      expect(await refused('resource.k8s.io/resourceslices', { object: { spec: { nodeName: 'n2' } } })).toBe(
        'can only create ResourceSlice with the same NodeName as the requesting node',
      )
    })

    it('allows only capacity changes in the status of claims [P280]', async () => {
      const claim = (status: object, labels = {}) => ({ metadata: { labels }, status })
      const change = (object: object, subresource = 'status') =>
        refused('persistentvolumeclaims', { oldObject: claim({ phase: 'Bound' }), object, subresource })
      expect(await change(claim({ phase: 'Bound', capacity: { storage: '2Gi' }, conditions: [{}] }))).toBe('')
      expect(await change(claim({ phase: 'Lost' }))).toContain(
        'may not update fields other than status.quantity and status.conditions',
      )
      expect(await change(claim({ phase: 'Bound' }, { a: 'b' }))).toContain('may not update fields')
      expect(await change(claim({}), '')).toBe('may only update PVC status')
    })

    it('allows certificate requests for the own user name [P280]', async () => {
      const spec = { signerName: 'kubernetes.io/kubelet-serving', request: 'YQ==' }
      expect(await refused('certificates.k8s.io/certificatesigningrequests', { object: { spec } })).toBe(
        'unable to parse csr: PEM block type must be CERTIFICATE REQUEST',
      )
      expect(await refused('certificates.k8s.io/certificatesigningrequests', { object: { spec: { signerName: 'a.b/c' } } })).toBe(
        '',
      )
      expect(await refused('configmaps', { object: {} })).toBe('')
    })
  })
})
