import { type DeepReadonly, field, Path } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import { formatFieldError } from '@krmkit/meta/validation'
import type { AdmissionAttributes, AdmissionPlugin } from '../interfaces.ts'
import { allContainers, containerKinds, type Pod, withContainers } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

const always = 'Always'

/**
 * Sets the pull policy `Always`, so that a pod cannot run a private image that is cached on its node without registry access.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { alwaysPullImages } from '@krmkit/admission/plugins'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const result = await admit({ ...pods, object }, [alwaysPullImages()], new ObjectSet())
 * result.object?.['spec'] // { containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'Always' }] }
 * ```
 */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: 'AlwaysPullImages',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    admit(object, attributes) {
      const pod = object as Pod
      if (hasKnownImages(pod, attributes)) return
      const spec = withContainers(pod.spec, (container) =>
        container.imagePullPolicy === always ? container : { ...container, imagePullPolicy: always },
      )
      const volumes = spec.volumes?.map((volume) =>
        volume.image === undefined || volume.image.pullPolicy === always
          ? volume
          : { ...volume, image: { ...volume.image, pullPolicy: always } },
      )
      pod.spec = volumes === undefined ? spec : { ...spec, volumes }
    },
    validate(object, attributes) {
      const pod = object as DeepReadonly<Pod>
      if (hasKnownImages(pod, attributes)) return
      const errors = containerKinds.flatMap((kind) =>
        (pod.spec[kind] ?? []).flatMap(({ imagePullPolicy = '' }, i) =>
          imagePullPolicy === always
            ? []
            : [field.notSupported(Path.of('spec').child(kind).index(i).child('imagePullPolicy'), imagePullPolicy, [always])],
        ),
      )
      if (errors.length > 0) throw forbidden(attributes, pod, aggregateMessages(errors.map(formatFieldError)))
    },
  }
}

/** Whether an update brings no image that the old pod did not have. */
function hasKnownImages(pod: DeepReadonly<Pod>, { operation, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE' || oldObject === undefined) return false
  const known = new Set(allContainers((oldObject as DeepReadonly<Pod>).spec).map(({ image }) => image))
  return allContainers(pod.spec).every(({ image }) => known.has(image))
}
