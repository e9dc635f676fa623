/** Environment variables read from files: `fileKeyRef` of 1.34. */

import { validateDns1123Label, validateRelaxedEnvVarName } from '@krmkit/meta/names'
import type { Container, EnvVarSource, PodSpec } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { validateNoBackstep } from './paths.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** A key of a file in a volume. */
export interface FileKeyRef {
  readonly volumeName?: string
  readonly path?: string
  readonly key?: string
  readonly optional?: boolean
}

/** The reference of a variable; undefined for other sources. */
export function fileKeyRefOf(source: R<EnvVarSource> | null | undefined): FileKeyRef | undefined {
  const { fileKeyRef } = (source ?? {}) as { readonly fileKeyRef?: FileKeyRef | null }
  return fileKeyRef ?? undefined
}

export function validateFileKeyRef({ key, volumeName, path }: FileKeyRef, at: FieldPath): void {
  if (isEmpty(key)) at.child('key').required()
  else at.child('key').invalidAll(key, validateRelaxedEnvVarName(key))
  if (isEmpty(volumeName)) at.child('volumeName').required()
  else at.child('volumeName').invalidAll(volumeName, validateDns1123Label(volumeName))
  if (isEmpty(path)) at.child('path').required()
  else validateNoBackstep(path, at.child('path'))
}

/** The volumes of these files are empty directories. */
export function validateFileVolumes(spec: R<PodSpec>, at: FieldPath): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [i, container] of ((spec[list] ?? []) as R<Container>[]).entries()) {
      for (const [j, { valueFrom }] of (container.env ?? []).entries()) {
        const ref = fileKeyRefOf(valueFrom)
        if (ref === undefined) continue
        const here = at.child(list).index(i).child('env').index(j).child('valueFrom').child('fileKeyRef').child('volumeName')
        // The last one of volumes with the same name counts.
        const volume = spec.volumes?.findLast(({ name }) => name === ref.volumeName)
        if (volume === undefined) here.notFound(ref.volumeName ?? '')
        else if (!isSet(volume.emptyDir)) here.invalid(ref.volumeName, 'referenced volume must be of type emptyDir')
      }
    }
  }
}
