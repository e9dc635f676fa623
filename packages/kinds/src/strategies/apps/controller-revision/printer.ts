import { parseApiVersion } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ControllerRevision } from '../../../types/apps-v1.generated.ts'

export const controllerRevisionPrinter: Printer<ControllerRevision> = {
  columns: [
    nameColumn,
    column('Controller', 'string', 'Controller that owns the revision.'),
    column('Revision', 'string', 'Revision number; newer revisions are higher.'),
    ageColumn,
  ],
  cells({ metadata, revision }, { now }) {
    const owner = controllerOf(metadata.ownerReferences)
    return [
      metadata.name ?? '',
      owner === undefined ? '<none>' : ownerText(owner),
      Number(revision ?? 0),
      since(metadata.creationTimestamp, now),
    ]
  },
}

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
