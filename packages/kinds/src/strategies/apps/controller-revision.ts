/** Controller revisions: what a controller's specification once was. */
import { type DeepReadonly, goText } from '@krmkit/meta'
import type { ControllerRevision } from '../../types/apps-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet, semanticEqual } from '../shared/values.ts'

function check(revision: DeepReadonly<ControllerRevision>, report: Report): void {
  checkMetadata(revision, report, { namespaced: true })
  const data: unknown = revision.data
  if (!isSet(data)) report.at('data').required('data is mandatory')
  else if (typeof data !== 'object' || Array.isArray(data)) report.at('data').required('data must be a valid JSON object')
  checkNotNegative(revision.revision, report.at('revision'))
}

function printBytes(data: unknown): string {
  const bytes = [...new TextEncoder().encode(JSON.stringify(data))].map((byte) => `0x${byte.toString(16)}`)
  return `runtime.RawExtension{Raw:[]uint8{${bytes.join(', ')}}, Object:runtime.Object(nil)}`
}

export const controllerRevisionStrategy = defineStrategy<ControllerRevision>({
  validate(revision, context) {
    return findings(context, (report) => check(revision, report))
  },
  validateUpdate(revision, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(revision, old, report)
      check(revision, report)
      if (!semanticEqual(revision.data, old.data))
        report.at('data').invalid(goText(printBytes(revision.data)), 'field is immutable')
    })
  },
})
