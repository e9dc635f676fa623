/** Members of pods that matter when they are empty. */

const ofEphemeralContainers = ['ports', 'resizePolicy', 'resources']
const ofProjectedSources = ['configMap', 'secret', 'downwardAPI']

/**
 * Members of a pod whose empty lists and maps rules distinguish from absent ones: those that an ephemeral container must not set, and
 * the items of projected volumes, whose paths may overlap, and the claims that the resources of a pod must not have.
 *
 * @param place of the specification, such as `['spec', 'template', 'spec']`
 * @see Strategy.distinctEmpties
 */
export function podEmpties(...place: readonly string[]): readonly (readonly string[])[] {
  return [
    ...ofEphemeralContainers.map((name) => [...place, 'ephemeralContainers', name]),
    [...place, 'resources', 'claims'],
    ...ofProjectedSources.map((name) => [...place, 'volumes', 'projected', 'sources', name, 'items']),
  ]
}
