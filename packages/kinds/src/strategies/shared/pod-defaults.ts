/** Defaults of pods and pod templates that the data of the types does not carry. */

import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type {
  Container,
  EphemeralContainer,
  HTTPGetAction,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  Volume,
} from '../../types/core-v1.generated.ts'
import { imageTag } from './image-name.ts'
import { completesLater, defaultPodResources } from './pod-resources.ts'
import { roundUp } from './round-up.direct.ts'
import { isEmpty, isSet } from './values.ts'

/** Default mode of files in volumes: `rw-r--r--`. */
const fileMode = 0o644
const gracePeriodSeconds = 30
const tokenSeconds = 3600

/** Defaults of a pod template. */
export function defaultPodTemplate(template: PodTemplateSpec | undefined, features: Features | undefined): void {
  if (isSet(template)) {
    template.spec ??= { containers: [] }
    defaultPodSpec(template.spec, features)
  }
}

/** Defaults of pods and templates. */
export function defaultPodSpec(spec: PodSpec, features: Features | undefined): void {
  if (isEmpty(spec.serviceAccountName) && !isEmpty(spec.serviceAccount)) spec.serviceAccountName = spec.serviceAccount
  if (!isEmpty(spec.serviceAccountName)) spec.serviceAccount = spec.serviceAccountName
  if (isEmpty(spec.dnsPolicy)) spec.dnsPolicy = 'ClusterFirst'
  if (isEmpty(spec.restartPolicy)) spec.restartPolicy = 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= gracePeriodSeconds
  if (isEmpty(spec.schedulerName)) spec.schedulerName = 'default-scheduler'
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
  if (features !== undefined && gateEnabled('ImageVolume', features)) defaultPullPolicies(spec)
  for (const container of spec.containers ?? []) defaultContainer(container)
  for (const container of spec.initContainers ?? []) defaultContainer(container)
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container)
  roundUp(spec.overhead)
}

/** Defaults of pods only. */
export function defaultPodOnly(spec: PodSpec, features: Features | undefined): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    requestLimits(container)
    if (spec.hostNetwork === true) {
      for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort
    }
  }
  if (features !== undefined && gateEnabled('PodLevelResources', features) && !completesLater(features))
    defaultPodResources(spec, features)
  spec.enableServiceLinks ??= true
  // Stored templates may have negative values; a pod gets the shortest period instead.
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1
}

/** Requests default to limits. */
function requestLimits(container: Container): void {
  const resources = container.resources
  if (!isSet(resources?.limits)) return
  const requests: Record<string, string> = { ...resources.requests }
  for (const [name, limit] of Object.entries(resources.limits)) if (!Object.hasOwn(requests, name)) requests[name] = limit
  if (Object.keys(requests).length > 0) resources.requests = requests
}

function defaultContainer(container: Container | EphemeralContainer): void {
  if (isEmpty(container.imagePullPolicy)) {
    container.imagePullPolicy = pullPolicyOf(container.image)
  }
  if (isEmpty(container.terminationMessagePath)) container.terminationMessagePath = '/dev/termination-log'
  if (isEmpty(container.terminationMessagePolicy)) container.terminationMessagePolicy = 'File'
  for (const port of container.ports ?? []) if (isEmpty(port.protocol)) port.protocol = 'TCP'
  for (const variable of container.env ?? []) {
    const fieldRef = variable.valueFrom?.fieldRef
    if (isSet(fieldRef) && isEmpty(fieldRef.apiVersion)) fieldRef.apiVersion = 'v1'
  }
  roundUpAll(container.resources)
  defaultProbe(container.livenessProbe)
  defaultProbe(container.readinessProbe)
  defaultProbe(container.startupProbe)
  defaultHttpGet(container.lifecycle?.postStart?.httpGet)
  defaultHttpGet(container.lifecycle?.preStop?.httpGet)
}

function defaultProbe(probe: Probe | undefined): void {
  if (!isSet(probe)) return
  if (!probe.timeoutSeconds) probe.timeoutSeconds = 1
  if (!probe.periodSeconds) probe.periodSeconds = 10
  if (!probe.successThreshold) probe.successThreshold = 1
  if (!probe.failureThreshold) probe.failureThreshold = 3
  if (isSet(probe.grpc)) probe.grpc.service ??= ''
  defaultHttpGet(probe.httpGet)
}

function defaultHttpGet(action: HTTPGetAction | undefined): void {
  if (!isSet(action)) return
  if (isEmpty(action.path)) action.path = '/'
  if (isEmpty(action.scheme)) action.scheme = 'HTTP'
}

/** Defaults of a volume; without a source it is an `emptyDir`. */
function defaultVolume(volume: Volume): void {
  if (!Object.entries(volume).some(([name, source]) => name !== 'name' && isSet(source))) volume.emptyDir = {}
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) {
    if (isSet(source)) source.defaultMode ??= fileMode
  }
  for (const file of volume.downwardAPI?.items ?? []) if (isSet(file.fieldRef)) file.fieldRef.apiVersion ||= 'v1'
  for (const projection of volume.projected?.sources ?? []) {
    if (isSet(projection.serviceAccountToken)) projection.serviceAccountToken.expirationSeconds ??= tokenSeconds
    for (const file of projection.downwardAPI?.items ?? []) if (isSet(file.fieldRef)) file.fieldRef.apiVersion ||= 'v1'
  }
  if (isSet(volume.hostPath)) volume.hostPath.type ??= ''
  if (isSet(volume.ephemeral?.volumeClaimTemplate)) {
    const { spec } = volume.ephemeral.volumeClaimTemplate
    if (isSet(spec)) {
      spec.volumeMode ??= 'Filesystem'
      roundUpAll(spec.resources)
    }
  }
  defaultVendorSource(volume)
}

/** Sources that pods and persistent volumes share. `awsElasticBlockStore.fsType`: S39. */
export function defaultVendorSource(source: {
  iscsi?: { iscsiInterface?: string }
  rbd?: { pool?: string; user?: string; keyring?: string }
  azureDisk?: { cachingMode?: string; kind?: string; fsType?: string; readOnly?: boolean }
  scaleIO?: { storageMode?: string; fsType?: string }
  awsElasticBlockStore?: { fsType?: string }
}): void {
  const { iscsi, rbd, azureDisk, scaleIO, awsElasticBlockStore } = source
  if (isSet(iscsi)) iscsi.iscsiInterface ||= 'default'
  if (isSet(rbd)) {
    rbd.pool ||= 'rbd'
    rbd.user ||= 'admin'
    rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (isSet(azureDisk)) {
    azureDisk.cachingMode ??= 'ReadWrite'
    azureDisk.kind ??= 'Shared'
    azureDisk.fsType ??= 'ext4'
    azureDisk.readOnly ??= false
  }
  if (isSet(scaleIO)) {
    scaleIO.storageMode ||= 'ThinProvisioned'
    scaleIO.fsType ||= 'xfs'
  }
  if (isSet(awsElasticBlockStore)) awsElasticBlockStore.fsType ||= 'ext4'
}

function roundUpAll(resources: Pick<ResourceRequirements, 'limits' | 'requests'> | undefined): void {
  roundUp(resources?.limits)
  roundUp(resources?.requests)
}

/** A tag that may move is pulled each time. */
function pullPolicyOf(image: string | undefined): string {
  return imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

function defaultPullPolicies(spec: PodSpec): void {
  for (const { image } of spec.volumes ?? []) {
    if (!isSet(image) || !isEmpty(image.pullPolicy)) continue
    image.pullPolicy = pullPolicyOf(image.reference)
  }
}
