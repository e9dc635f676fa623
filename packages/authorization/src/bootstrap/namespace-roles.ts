/** Default roles and bindings in the system namespaces, as data. */

import { events, type RuleLine, read, when } from './rule-shorthand.ts'

export interface NamespaceRoleData {
  readonly namespace: 'system' | 'public'
  readonly name: string
  readonly rules: readonly RuleLine[]
  /** Name of the binding. Default: the name of the role. */
  readonly binding?: string
  readonly users?: string
  /** Service accounts in the system namespace. */
  readonly accounts?: string
  /** Service accounts that a release adds. */
  readonly laterAccounts?: { readonly since: string; readonly accounts: string }
}

function leaderLocking(component: string): readonly RuleLine[] {
  return [
    ...when({ removed: '1.35' }, ['watch', 'core', 'configmaps'], ['get update', 'core', 'configmaps', component]),
    ...when(
      { since: '1.31' },
      [`create update ${read}`, 'coordination', 'leases'],
      [`create update ${read}`, 'coordination', 'leasecandidates'],
    ),
  ]
}

export const namespaceRoleData: readonly NamespaceRoleData[] = [
  {
    namespace: 'system',
    name: 'extension-apiserver-authentication-reader',
    rules: [[read, 'core', 'configmaps', 'extension-apiserver-authentication']],
    binding: 'system::extension-apiserver-authentication-reader',
    users: 'system:kube-controller-manager system:kube-scheduler',
  },
  {
    namespace: 'system',
    name: 'system:controller:bootstrap-signer',
    rules: [[read, 'core', 'secrets']],
    accounts: 'bootstrap-signer',
  },
  {
    namespace: 'system',
    name: 'system:controller:cloud-provider',
    rules: [[`create ${read}`, 'core', 'configmaps']],
    accounts: 'cloud-provider',
  },
  {
    namespace: 'system',
    name: 'system:controller:token-cleaner',
    rules: [[`delete ${read}`, 'core', 'secrets'], events],
    accounts: 'token-cleaner',
  },
  {
    namespace: 'system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: leaderLocking('kube-controller-manager'),
    users: 'system:kube-controller-manager',
    accounts: 'kube-controller-manager',
    laterAccounts: { since: '1.31', accounts: 'leader-election-controller' },
  },
  {
    namespace: 'system',
    name: 'system::leader-locking-kube-scheduler',
    rules: leaderLocking('kube-scheduler'),
    users: 'system:kube-scheduler',
    accounts: 'kube-scheduler',
  },
  {
    namespace: 'public',
    name: 'system:controller:bootstrap-signer',
    rules: [[read, 'core', 'configmaps'], ['update', 'core', 'configmaps', 'cluster-info'], events],
    accounts: 'bootstrap-signer',
  },
]
