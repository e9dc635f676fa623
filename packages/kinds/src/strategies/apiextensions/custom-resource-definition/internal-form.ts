import type { DeepReadonly } from '@krmkit/meta'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from '../../../types/apiextensions-v1.generated.ts'
import { semanticEqual } from '../../shared/values.ts'
import { sameSchema } from './schema.ts'

/** Parts that all versions may share: the stock server reports errors of a shared part once, at the top level. */
export interface VersionParts {
  readonly schema: DeepReadonly<CustomResourceValidation> | undefined
  readonly subresources: DeepReadonly<CustomResourceSubresources> | undefined
  readonly columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined
  readonly selectableFields: DeepReadonly<SelectableField[]> | undefined
}

export interface InternalForm {
  readonly shared: VersionParts
  /** In the order of the versions, without shared parts. */
  readonly own: readonly VersionParts[]
}

type Version = DeepReadonly<CustomResourceDefinitionVersion>

export function internalForm({ spec }: DeepReadonly<CustomResourceDefinition>): InternalForm {
  const versions = spec.versions ?? []
  const schema = sharedPart(versions, ({ schema }) => schema, sameValidation)
  const subresources = sharedPart(versions, ({ subresources }) => subresources)
  const columns = sharedPart(versions, ({ additionalPrinterColumns }) => additionalPrinterColumns)
  const selectableFields = sharedPart(versions, ({ selectableFields }) => selectableFields)
  return {
    shared: {
      schema: schema.value,
      subresources: subresources.value,
      columns: columns.value,
      selectableFields: selectableFields.value,
    },
    own: versions.map((version) => ({
      schema: schema.same ? undefined : version.schema,
      subresources: subresources.same ? undefined : version.subresources,
      columns: columns.same ? undefined : version.additionalPrinterColumns,
      selectableFields: selectableFields.same ? undefined : version.selectableFields,
    })),
  }
}

function sameValidation(a: VersionParts['schema'], b: VersionParts['schema']): boolean {
  return (a === undefined) === (b === undefined) && sameSchema(a?.openAPIV3Schema, b?.openAPIV3Schema)
}

function sharedPart<T>(
  versions: readonly Version[],
  read: (version: Version) => T | undefined,
  equal: (a: T | undefined, b: T | undefined) => boolean = semanticEqual,
): { readonly same: boolean; readonly value: T | undefined } {
  const [first] = versions
  const value = first === undefined ? undefined : read(first)
  const same = versions.every((version) => equal(read(version), value))
  return { same, value: same ? value : undefined }
}
