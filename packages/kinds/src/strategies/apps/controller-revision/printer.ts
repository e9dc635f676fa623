import { parseApiVersion } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ControllerRevision } from '../../../types/apps-v1.generated.ts'

export const controllerRevisionPrinter: Printer<ControllerRevision> = /* @__PURE__ */ agedPrinter(
  [
    column('Controller', 'string', 'Controller that owns the revision.'),
    column('Revision', 'string', 'Revision number; newer revisions are higher.'),
  ],
  ({ metadata, revision }) => {
    const owner = controllerOf(metadata.ownerReferences)
    return [owner === undefined ? '<none>' : ownerText(owner), Number(revision ?? 0)]
  },
)

/** `daemonset.apps/name`. */
function ownerText({
  apiVersion,
  kind,
  name,
}: {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}): string {
  const slashes = apiVersion.split('/').length - 1
  const group = slashes > 1 ? '' : parseApiVersion(apiVersion).group
  return `${(group === '' ? kind : `${kind}.${group}`).toLowerCase()}/${name}`
}
