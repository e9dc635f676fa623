import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'

/** Resources and subresources that are served only while a feature gate is on. */

/** Key: stock group and plural, of every version. */
const gateByResource: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['/pods/resize', 'InPlacePodVerticalScaling'],
  ['certificates.k8s.io/clustertrustbundles', 'ClusterTrustBundle'],
  ['storagemigration.k8s.io/storageversionmigrations', 'StorageVersionMigrator'],
])

/** Whether the gate of a resource, if it has one, is on. @param group with its stock name. @param name such as `pods/resize`. */
export function resourceGateEnabled(group: string, name: string, features: Features): boolean {
  const gate = gateByResource.get(`${group}/${name}`)
  return gate === undefined || gateEnabled(gate, features)
}
