import { unmaskedProc } from './baseline.ts'
import {
  type Check,
  type CheckedPod,
  type CheckVersion,
  containersOf,
  named,
  plural,
  quoted,
  sorted,
  type Violation,
} from './check.ts'
import { seccompRestricted } from './seccomp.ts'

/** The checks that the restricted standard adds to baseline. */

const isWindows = ({ spec }: CheckedPod): boolean => spec.os?.name === 'windows'

/** A check version that exempts Windows pods. */
function exceptWindows(since: number, run: CheckVersion['run'], replaces: readonly string[] = []): CheckVersion {
  return { since, replaces, run: (pod) => (isWindows(pod) ? undefined : run(pod)) }
}

const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  versions: [{ since: 8, run: escalation }, exceptWindows(25, escalation)],
}

function escalation(pod: CheckedPod): Violation | undefined {
  const bad = containersOf(pod)
    .filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
    .map(({ name }) => name)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named('container', bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

const overridden = ['capabilities_baseline']

const capabilities: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  versions: [{ since: 22, replaces: overridden, run: dropsAll }, exceptWindows(25, dropsAll, overridden)],
}

/** Containers must drop all capabilities and may add back only NET_BIND_SERVICE. */
function dropsAll(pod: CheckedPod): Violation | undefined {
  const keeping: string[] = []
  const adding: string[] = []
  const added = new Set<string>()
  for (const { name, securityContext } of containersOf(pod)) {
    const { add = [], drop = [] } = securityContext?.capabilities ?? {}
    if (!drop.includes('ALL')) keeping.push(name)
    const wrong = add.filter((capability) => capability !== 'NET_BIND_SERVICE')
    if (wrong.length > 0) adding.push(name)
    for (const each of wrong) added.add(each)
  }
  const details = [
    ...(keeping.length === 0 ? [] : [`${named('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${named('container', adding)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`]),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  versions: [
    { since: 0, run: (pod) => (pod.usesUserNamespace ? undefined : mayRunAsRoot(pod)) },
    { since: 35, run: (pod) => (pod.spec.hostUsers === false ? undefined : mayRunAsRoot(pod)) },
  ],
}

function mayRunAsRoot(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.runAsNonRoot
  const wrong: string[] = []
  const unset: string[] = []
  for (const { name, securityContext } of containersOf(pod)) {
    if (securityContext?.runAsNonRoot === undefined) {
      if (ofPod !== true) unset.push(name)
    } else if (!securityContext.runAsNonRoot) wrong.push(name)
  }
  const reason = 'runAsNonRoot != true'
  if (ofPod === false || wrong.length > 0) {
    const who = [...(ofPod === false ? ['pod'] : []), ...(wrong.length > 0 ? [named('container', wrong)] : [])]
    return { reason, detail: `${who.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  }
  if (unset.length === 0) return undefined
  return { reason, detail: `pod or ${named('container', unset)} must set securityContext.runAsNonRoot=true` }
}

const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  versions: [
    { since: 23, run: (pod) => (pod.usesUserNamespace ? undefined : runsAsRoot(pod)) },
    { since: 35, run: (pod) => (pod.spec.hostUsers === false ? undefined : runsAsRoot(pod)) },
  ],
}

function runsAsRoot(pod: CheckedPod): Violation | undefined {
  const bad = containersOf(pod)
    .filter(({ securityContext }) => securityContext?.runAsUser === 0)
    .map(({ name }) => name)
  const who = [
    ...(pod.spec.securityContext?.runAsUser === 0 ? ['pod'] : []),
    ...(bad.length > 0 ? [named('container', bad)] : []),
  ]
  return who.length === 0 ? undefined : { reason: 'runAsUser=0', detail: `${who.join(' and ')} must not set runAsUser=0` }
}

/** From 1.35 on, baseline admits an unmasked `/proc` in user namespaces; restricted does not. */
const procMount: Check = {
  id: 'procMount_restricted',
  level: 'restricted',
  versions: [{ since: 35, replaces: ['procMount'], run: unmaskedProc }],
}

/** Volume sources that the restricted standard allows. */
const allowedSources = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** The other volume sources, in kube-apiserver's visiting order. */
const restrictedSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'photonPersistentDisk',
]

const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  versions: [
    {
      since: 0,
      replaces: ['hostPathVolumes'],
      run({ spec }) {
        const bad: string[] = []
        const types = new Set<string>()
        for (const volume of spec.volumes ?? []) {
          const isPresent = (source: string): boolean => volume[source] !== undefined && volume[source] !== null
          if ([...allowedSources].some(isPresent)) continue
          bad.push(volume.name)
          types.add(restrictedSources.find(isPresent) ?? 'unknown')
        }
        if (bad.length === 0) return undefined
        const what = `restricted volume ${plural('type', types.size)} ${quoted(sorted(types))}`
        return {
          reason: 'restricted volume types',
          detail: `${named('volume', bad)} ${plural('uses', bad.length, 'use')} ${what}`,
        }
      },
    },
  ],
}

export const restrictedChecks: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  procMount,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
]
