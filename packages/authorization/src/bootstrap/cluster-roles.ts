/** Default ClusterRoles and ClusterRoleBindings, as data; those of controllers are in `controller-roles.ts`. */

import type { PolicyRule } from '../interfaces.ts'
import {
  type ConditionalRule,
  type Conditions,
  changed,
  events,
  expandRules,
  type RoleSettings,
  type RuleLine,
  type RuleShorthand,
  read,
  readWrite,
  when,
  write,
} from './rule-shorthand.ts'

/** A role and its binding, which exist under the conditions. */
export interface ClusterRoleData extends Conditions {
  readonly name: string
  readonly rules?: readonly RuleLine[]
  /** Aggregated role that includes these rules. */
  readonly aggregatesTo?: string
  /** Whether the rules are aggregated from other roles. */
  readonly isAggregated?: true
  /** Subjects of the binding with the name of the role. Without subjects there is no binding. */
  readonly users?: string
  readonly groups?: string
  /** Service accounts in the system namespace. */
  readonly accounts?: string
  /** Whether the binding is created even without subjects. */
  readonly bound?: true
}

/** Rules that a feature gate enables. */
const gated = (gates: string, ...rules: RuleShorthand[]): ConditionalRule[] => when({ gates }, ...rules)
const allocation = 'DynamicResourceAllocation'
const workload = 'GenericWorkload'
const composite = 'CompositePodGroup'
const evictionRequest = 'EvictionRequestAPI'

const viewRules: readonly RuleLine[] = [
  [
    read,
    'core',
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
  ],
  ...changed(
    '1.35',
    [
      read,
      'core',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ],
    [
      read,
      'core',
      'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ],
  ),
  [read, 'core', 'namespaces'],
  ...when({ since: '1.35' }, [read, 'core events', 'events']),
  ...when({ since: '1.22' }, [read, 'discovery', 'endpointslices']),
  [
    read,
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ],
  [read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'],
  [read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'],
  [
    read,
    'extensions',
    'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
  ],
  [read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'],
  [read, 'networking', 'ingresses ingresses/status networkpolicies'],
  ...gated(allocation, [read, 'resource', 'resourceclaims resourceclaims/status resourceclaimtemplates']),
  ...when({ gates: workload, since: '1.36' }, [read, 'scheduling', 'podgroups podgroups/status workloads']),
  ...gated(composite, [read, 'scheduling', 'compositepodgroups compositepodgroups/status']),
  ...gated(evictionRequest, [read, 'lifecycle', 'evictionrequests evictions']),
]

const editedResources =
  'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy'

const editRules: readonly RuleLine[] = [
  [read, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'],
  ['impersonate', 'core', 'serviceaccounts'],
  [write, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'],
  ...when({ since: '1.24' }, ['create', 'core', 'pods/eviction']),
  ...when({ removed: '1.22' }, [write, 'core', `endpoints ${editedResources}`]),
  ...when({ since: '1.22', removed: '1.35' }, [write, 'core', `events ${editedResources}`]),
  ...when({ since: '1.35' }, [write, 'core', editedResources]),
  ...when({ since: '1.24' }, ['create', 'core', 'serviceaccounts/token']),
  ...when({ since: '1.35' }, [write, 'core events', 'events']),
  [
    write,
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ],
  [write, 'autoscaling', 'horizontalpodautoscalers'],
  [write, 'batch', 'cronjobs jobs'],
  [
    write,
    'extensions',
    'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
  ],
  [write, 'policy', 'poddisruptionbudgets'],
  [write, 'networking', 'ingresses networkpolicies'],
  ...when({ since: '1.24' }, [readWrite, 'coordination', 'leases']),
  ...gated(allocation, [write, 'resource', 'resourceclaims resourceclaimtemplates']),
  ...when({ gates: workload, since: '1.36' }, [write, 'scheduling', 'podgroups workloads']),
  ...gated(composite, [write, 'scheduling', 'compositepodgroups']),
  ...gated(evictionRequest, [write, 'lifecycle', 'evictionrequests']),
]

const nodeRuleLines: readonly RuleLine[] = [
  ['create', 'authentication', 'tokenreviews'],
  ['create', 'authorization', 'localsubjectaccessreviews subjectaccessreviews'],
  [read, 'core', 'services'],
  [`create ${read}`, 'core', 'nodes'],
  ['patch update', 'core', 'nodes/status'],
  ['patch update', 'core', 'nodes'],
  ...changed('1.35', ['create patch update', 'core', 'events'], events),
  [read, 'core', 'pods'],
  ['create delete', 'core', 'pods'],
  ['patch update', 'core', 'pods/status'],
  ['create', 'core', 'pods/eviction'],
  [read, 'core', 'configmaps secrets'],
  ['get', 'core', 'persistentvolumeclaims persistentvolumes'],
  ['get', 'core', 'endpoints'],
  [`create ${read}`, 'certificates', 'certificatesigningrequests'],
  ['create delete get patch update', 'coordination', 'leases'],
  ['get', 'storage', 'volumeattachments'],
  ['create', 'core', 'serviceaccounts/token'],
  ['get patch update', 'core', 'persistentvolumeclaims/status'],
  [read, 'storage', 'csidrivers'],
  ['create delete get patch update', 'storage', 'csinodes'],
  ...when({ gates: 'CSIVolumeHealth', since: '1.37' }, ['get patch update', 'storage', 'csinodes/status']),
  [read, 'node', 'runtimeclasses'],
  ...gated(allocation, ['get', 'resource', 'resourceclaims'], ['deletecollection', 'resource', 'resourceslices']),
  ...gated('ClusterTrustBundle', [read, 'certificates', 'clustertrustbundles']),
  ...gated('KubeletServiceAccountTokenForCredentialProviders', ['get', 'core', 'serviceaccounts']),
  ...gated('PodCertificateRequest', [`create ${read}`, 'certificates', 'podcertificaterequests']),
]

/** The permission to lock Endpoints for leader election. */
function endpointsLock(component: string): ConditionalRule[] {
  return when({ removed: '1.28' }, ['create', 'core', 'endpoints'], ['get update', 'core', 'endpoints', component])
}

const kubeControllerManager: readonly RuleLine[] = [
  events,
  ['create', 'coordination', 'leases'],
  ['get update', 'coordination', 'leases', 'kube-controller-manager'],
  ...endpointsLock('kube-controller-manager'),
  ['create', 'core', 'secrets serviceaccounts'],
  ['delete', 'core', 'secrets'],
  ['get', 'core', 'configmaps namespaces secrets serviceaccounts'],
  ['update', 'core', 'secrets serviceaccounts'],
  ['create', 'authentication', 'tokenreviews'],
  ['create', 'authorization', 'subjectaccessreviews'],
  ['list watch', '*', '*'],
  ['create', 'core', 'serviceaccounts/token'],
]

const taintRules: RuleShorthand = [read, 'resource', 'devicetaintrules']

const kubeScheduler: readonly RuleLine[] = [
  events,
  ['create', 'coordination', 'leases'],
  ...changed(
    '1.31',
    ['get update', 'coordination', 'leases', 'kube-scheduler'],
    ['get list update watch', 'coordination', 'leases', 'kube-scheduler'],
  ),
  ...endpointsLock('kube-scheduler'),
  ...when({ since: '1.31' }, [readWrite, 'coordination', 'leasecandidates']),
  [read, 'core', 'nodes'],
  [`delete ${read}`, 'core', 'pods'],
  ['create', 'core', 'bindings pods/binding'],
  ['patch update', 'core', 'pods/status'],
  [read, 'core', 'replicationcontrollers services'],
  [read, 'apps extensions', 'replicasets'],
  [read, 'apps', 'statefulsets'],
  [read, 'policy', 'poddisruptionbudgets'],
  [read, 'core', 'persistentvolumeclaims persistentvolumes'],
  ['create', 'authentication', 'tokenreviews'],
  ['create', 'authorization', 'subjectaccessreviews'],
  [read, 'storage', 'csinodes'],
  ...when({ since: '1.32' }, [read, 'storage', 'volumeattachments']),
  [read, 'core', 'namespaces'],
  [read, 'storage', 'csidrivers'],
  [read, 'storage', 'csistoragecapacities'],
  ...gated(
    allocation,
    [read, 'resource', 'deviceclasses'],
    [`patch update ${read}`, 'resource', 'resourceclaims'],
    [`patch update ${read}`, 'resource', 'resourceclaims/status'],
  ),
  ...when({ gates: allocation, removed: '1.34' }, [`patch update ${read}`, 'core', 'pods/finalizers']),
  ...when({ gates: allocation, since: '1.34' }, ['update', 'core', 'pods/finalizers']),
  ...gated(allocation, [read, 'resource', 'resourceslices']),
  ...gated(`${allocation} DRAExtendedResource`, ['create delete', 'resource', 'resourceclaims']),
  ...when({ gates: allocation, removed: '1.34' }, taintRules),
  ...when({ gates: `${allocation} DRADeviceTaints`, since: '1.34', removed: '1.35' }, taintRules),
  ...gated(`${allocation} DRADeviceTaintRules`, taintRules),
  ...gated(`${allocation} DRAResourceClaimGranularStatusAuthorization`, ['patch update', 'resource', 'resourceclaims/binding']),
  ...when({ gates: workload, removed: '1.36' }, [read, 'scheduling', 'workloads']),
  ...when(
    { gates: workload, since: '1.36' },
    [read, 'scheduling', 'podgroups'],
    ['patch update', 'scheduling', 'podgroups/status'],
  ),
  ...gated(composite, [read, 'scheduling', 'compositepodgroups'], ['patch update', 'scheduling', 'compositepodgroups/status']),
]

const probePaths = '/healthz /healthz/* /livez /livez/* /readyz /readyz/*'
const publicPaths = '/healthz /livez /readyz /version /version/'
const signing = 'system:certificates.<api>:'

/** `<api>` in a name stands for the API domain. */
export const clusterRoleData: readonly ClusterRoleData[] = [
  {
    name: 'cluster-admin',
    rules: [
      ['*', '*', '*'],
      ['*', '*'],
    ],
    groups: 'system:masters',
  },
  {
    name: 'system:discovery',
    rules: [['get', `/api /api/* /apis /apis/* /openapi /openapi/* ${publicPaths}`]],
    groups: 'system:authenticated',
  },
  {
    name: 'system:monitoring',
    rules: [
      ...changed('1.26', ['get', `/metrics ${probePaths}`], ['get', `/metrics /metrics/slis ${probePaths}`]),
      { gates: 'ComponentFlagz', since: '1.36', joins: true, rule: ['get', '/flagz'] },
      { gates: 'ComponentStatusz', since: '1.36', joins: true, rule: ['get', '/statusz'] },
      ...when({ since: '1.34' }, ['get', 'core', 'nodes/metrics']),
      ...when({ gates: 'ComponentFlagz', removed: '1.36' }, ['get', '/flagz']),
      ...when({ gates: 'ComponentStatusz', removed: '1.36' }, ['get', '/statusz']),
    ],
    groups: 'system:monitoring',
  },
  {
    name: 'system:basic-user',
    rules: [
      ['create', 'authorization', 'selfsubjectaccessreviews selfsubjectrulesreviews'],
      ...when({ since: '1.27' }, ['create', 'authentication', 'selfsubjectreviews']),
    ],
    groups: 'system:authenticated',
  },
  { name: 'system:public-info-viewer', rules: [['get', publicPaths]], groups: 'system:authenticated system:unauthenticated' },
  { name: 'admin', isAggregated: true },
  { name: 'edit', isAggregated: true, aggregatesTo: 'admin' },
  { name: 'view', isAggregated: true, aggregatesTo: 'edit' },
  {
    name: 'system:aggregate-to-admin',
    aggregatesTo: 'admin',
    rules: [
      ['create', 'authorization', 'localsubjectaccessreviews'],
      [readWrite, 'rbac.authorization', 'rolebindings roles'],
    ],
  },
  { name: 'system:aggregate-to-edit', aggregatesTo: 'edit', rules: editRules },
  { name: 'system:aggregate-to-view', aggregatesTo: 'view', rules: viewRules },
  {
    name: 'system:heapster',
    rules: [
      [read, 'core', 'events namespaces nodes pods'],
      [read, 'extensions', 'deployments'],
    ],
  },
  { name: 'system:node', rules: nodeRuleLines, bound: true },
  {
    name: 'system:node-problem-detector',
    rules: [['get', 'core', 'nodes'], ['patch', 'core', 'nodes/status'], events],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      [read, 'core', 'nodes'],
      ['proxy', 'core', 'nodes'],
      ...changed(
        '1.27',
        ['*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'],
        ['*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'],
      ),
      ...gated('KubeletFineGrainedAuthz', ['*', 'core', 'nodes/configz nodes/healthz nodes/pods']),
    ],
  },
  { name: 'system:node-bootstrapper', rules: [[`create ${read}`, 'certificates', 'certificatesigningrequests']] },
  {
    name: 'system:auth-delegator',
    rules: [
      ['create', 'authentication', 'tokenreviews'],
      ['create', 'authorization', 'subjectaccessreviews'],
    ],
  },
  { name: 'system:kube-aggregator', rules: [[read, 'core', 'endpoints services']] },
  { name: 'system:kube-controller-manager', rules: kubeControllerManager, users: 'system:kube-controller-manager' },
  { name: 'system:kube-dns', rules: [['list watch', 'core', 'endpoints services']], accounts: 'kube-dns' },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      [`create delete ${read}`, 'core', 'persistentvolumes'],
      [`update ${read}`, 'core', 'persistentvolumeclaims'],
      [read, 'storage', 'storageclasses'],
      ['watch', 'core', 'events'],
      events,
    ],
  },
  {
    name: `${signing}certificatesigningrequests:nodeclient`,
    rules: [['create', 'certificates', 'certificatesigningrequests/nodeclient']],
  },
  {
    name: `${signing}certificatesigningrequests:selfnodeclient`,
    rules: [['create', 'certificates', 'certificatesigningrequests/selfnodeclient']],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      [`patch update ${read}`, 'core', 'persistentvolumes'],
      [read, 'storage', 'storageclasses'],
      [`patch update ${read}`, 'core', 'persistentvolumeclaims'],
    ],
    users: 'system:kube-scheduler',
  },
  ...['legacy-unknown', 'kubelet-serving', 'kube-apiserver-client', 'kube-apiserver-client-kubelet'].map(
    (signer): ClusterRoleData => ({
      name: `${signing}${signer}-approver`,
      rules: [['approve', 'certificates', 'signers', `<domain>/${signer}`]],
    }),
  ),
  {
    name: 'system:service-account-issuer-discovery',
    rules: changed(
      '1.28',
      ['get', '/.well-known/openid-configuration /openid/v1/jwks'],
      ['get', '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'],
    ),
    groups: 'system:serviceaccounts',
  },
  {
    name: 'system:node-proxier',
    rules: [
      ['list watch', 'core', 'endpoints services'],
      [read, 'core', 'nodes'],
      events,
      ...gated('MultiCIDRServiceAllocator', ['list watch', 'networking', 'servicecidrs']),
      ['list watch', 'discovery', 'endpointslices'],
    ],
    users: 'system:kube-proxy',
  },
  { name: 'system:kube-scheduler', rules: kubeScheduler, users: 'system:kube-scheduler' },
  {
    name: 'system:cluster-trust-bundle-discovery',
    gates: 'ClusterTrustBundle',
    rules: [[read, 'certificates', 'clustertrustbundles']],
    groups: 'system:serviceaccounts',
  },
]

/** Returns the rules of the role `system:node`. */
export function nodeRules(settings: RoleSettings): readonly PolicyRule[] {
  return expandRules(nodeRuleLines, settings)
}
