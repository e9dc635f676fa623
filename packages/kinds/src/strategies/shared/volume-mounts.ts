/** Volume mounts and devices of containers. */
import type { Work } from '@krmkit/base/work'
import { done } from '../../preparation.ts'
import type { Container, Volume, VolumeDevice, VolumeMount } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { hasBackstep, validateDescendingPath } from './paths.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** The volumes of a pod by name. */
export type VolumesByName = ReadonlyMap<string, R<Volume>>

const propagations = ['Bidirectional', 'HostToContainer', 'None']
const recursiveModes = ['Disabled', 'Enabled', 'IfPossible']

/** The names, and the last path of each. */
function pathsByName(uses: readonly (readonly [name: string, path: string])[]): { names: Set<string>; paths: Set<string> } {
  const byName = new Map(uses)
  return { names: new Set(byName.keys()), paths: new Set(byName.values()) }
}

/** `volumeMounts` of a container. */
export function validateVolumeMounts(container: R<Container>, at: FieldPath, volumes: VolumesByName): Work {
  return isSet(container.volumeMounts) ? validateMounts(container, at, volumes) : done
}

function* validateMounts(container: R<Container>, at: FieldPath, volumes: VolumesByName): Work {
  const paths = new Set<string>()
  const devices = pathsByName((container.volumeDevices ?? []).map((device) => [device.name, device.devicePath]))
  yield* forEachItem(container.volumeMounts, (mount, i) => {
    const here = at.index(i)
    if (isEmpty(mount.name)) here.child('name').required()
    if (!volumes.has(mount.name)) here.child('name').notFound(mount.name)
    if (isEmpty(mount.mountPath)) here.child('mountPath').required()
    if (paths.has(mount.mountPath)) here.child('mountPath').invalid(mount.mountPath, 'must be unique')
    paths.add(mount.mountPath)
    if (devices.names.has(mount.name)) here.child('name').invalid(mount.name, 'must not already exist in volumeDevices')
    if (devices.paths.has(mount.mountPath)) {
      here.child('mountPath').invalid(mount.mountPath, 'must not already exist as a path in volumeDevices')
    }
    validateSubPaths(mount, here, at)
    if (isSet(mount.mountPropagation)) validatePropagation(mount.mountPropagation, container, at.child('mountPropagation'))
    // kube-apiserver leaves out the index.
    validateRecursiveReadOnly(mount, at.child('recursiveReadOnly'))
  })
}

/** Errors of the sub-path have the path of the list, as on kube-apiserver. */
function validateSubPaths(mount: R<VolumeMount>, here: FieldPath, list: FieldPath): void {
  if (!isEmpty(mount.subPath)) validateDescendingPath(mount.subPath, list.child('subPath'))
  if (isEmpty(mount.subPathExpr)) return
  if (!isEmpty(mount.subPath)) {
    here.child('subPathExpr').invalid(mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive')
  }
  validateDescendingPath(mount.subPathExpr, list.child('subPathExpr'))
}

function validatePropagation(mode: string, container: R<Container>, at: FieldPath): void {
  if (!propagations.includes(mode)) at.notSupported(mode, propagations)
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    at.forbidden('Bidirectional mount propagation is available only to privileged containers')
  }
}

function validateRecursiveReadOnly(mount: R<VolumeMount>, at: FieldPath): void {
  const mode = mount.recursiveReadOnly
  if (!isSet(mode) || mode === 'Disabled') return
  if (!recursiveModes.includes(mode)) {
    at.notSupported(mode, recursiveModes)
    return
  }
  if (mount.readOnly !== true) at.forbidden('may only be specified when readOnly is true')
  if (isSet(mount.mountPropagation) && mount.mountPropagation !== 'None') {
    at.forbidden('may only be specified when mountPropagation is None or not specified')
  }
}

/** `volumeDevices` of a container. */
export function validateVolumeDevices(container: R<Container>, at: FieldPath, volumes: VolumesByName): void {
  if (!isSet(container.volumeDevices)) return
  const names = new Set<string>()
  const paths = new Set<string>()
  const mounts = pathsByName((container.volumeMounts ?? []).map((mount) => [mount.name, mount.mountPath]))
  for (const [i, device] of container.volumeDevices.entries()) {
    const here = at.index(i)
    const volume = volumes.get(device.name)
    if (isEmpty(device.name)) here.child('name').required()
    if (names.has(device.name)) here.child('name').invalid(device.name, 'must be unique')
    if (volume !== undefined && !isSet(volume.persistentVolumeClaim) && !isSet(volume.ephemeral)) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      here.child('name').invalid(device.name, detail)
    }
    if (volume === undefined) here.child('name').notFound(device.name)
    validateDevicePath(device, here.child('devicePath'), paths)
    if (mounts.names.has(device.name)) {
      here.child('name').invalid(device.name, 'must not already exist in volumeMounts')
    }
    if (mounts.paths.has(device.devicePath)) {
      here.child('devicePath').invalid(device.devicePath, 'must not already exist as a path in volumeMounts')
    }
    if (!isEmpty(device.name)) names.add(device.name)
  }
}

function validateDevicePath(device: R<VolumeDevice>, at: FieldPath, paths: Set<string>): void {
  const path = device.devicePath
  if (isEmpty(path)) at.required()
  if (paths.has(path)) at.invalid(path, 'must be unique')
  if (!isEmpty(path) && hasBackstep(path)) at.invalid(path, "can not contain backsteps ('..')")
  else paths.add(path)
}
