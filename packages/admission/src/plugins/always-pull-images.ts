import { type DeepReadonly, field, formatFieldError, Path } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionPlugin } from '../interfaces.ts'
import { allContainers, containerKinds, type Pod, withContainers } from '../pod.ts'
import { forbidden, joinedTexts } from '../refusals.ts'
import { onResource } from '../targets.ts'

const always = 'Always'

/** Every container asks the registry for its image, so that nobody runs what others have pulled without a right to it. */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: 'AlwaysPullImages',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    admit(object, attributes) {
      const pod = object as Pod
      if (bringsNoNewImage(pod, attributes)) return
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
      if (bringsNoNewImage(pod, attributes)) return
      const errors = containerKinds.flatMap((kind) =>
        (pod.spec[kind] ?? []).flatMap(({ imagePullPolicy = '' }, i) =>
          imagePullPolicy === always
            ? []
            : [field.notSupported(Path.of('spec').child(kind).index(i).child('imagePullPolicy'), imagePullPolicy, [always])],
        ),
      )
      if (errors.length > 0) throw forbidden(attributes, pod, joinedTexts(errors.map(formatFieldError)))
    },
  }
}

function bringsNoNewImage(pod: DeepReadonly<Pod>, { operation, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE' || oldObject === undefined) return false
  const known = new Set(allContainers((oldObject as DeepReadonly<Pod>).spec).map(({ image }) => image))
  return allContainers(pod.spec).every(({ image }) => known.has(image))
}
