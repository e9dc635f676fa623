import type { DeepReadonly } from '@krmkit/meta'
import { allContainers, type PodSpec, type Volume } from './pod.ts'

/** Volume sources that reference a secret by `secretRef.name`. */
const secretReferences = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

/** The names of all secrets that a pod references, in no particular order. */
export function secretNamesOf(spec: DeepReadonly<PodSpec>): string[] {
  const names: (string | undefined)[] = (spec.imagePullSecrets ?? []).map(({ name }) => name)
  for (const { env = [], envFrom = [] } of allContainers(spec)) {
    for (const { secretRef } of envFrom) names.push(secretRef?.name)
    for (const { valueFrom } of env) names.push(valueFrom?.secretKeyRef?.name)
  }
  for (const volume of spec.volumes ?? []) names.push(...secretNamesOfVolume(volume))
  return names.filter((name) => name !== undefined && name !== '') as string[]
}

function secretNamesOfVolume(volume: DeepReadonly<Volume>): (string | undefined)[] {
  const named = secretReferences.map((source) => member(member(volume[source], 'secretRef'), 'name'))
  const projected = (volume.projected?.sources ?? []).map(({ secret }) => secret?.name)
  return [
    volume.secret?.secretName,
    text(member(volume['azureFile'], 'secretName')),
    text(member(member(volume['csi'], 'nodePublishSecretRef'), 'name')),
    ...named.map(text),
    ...projected,
  ]
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
