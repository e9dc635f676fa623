import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from '../../../types/apiextensions-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import { areSameSchemas } from './schema.ts'

/** Parts that all versions may share: kube-apiserver reports errors of a shared part once, at the top level. */
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

export function* internalForm({ spec }: DeepReadonly<CustomResourceDefinition>): Work<InternalForm> {
  const versions = spec.versions ?? []
  const schema = yield* sharedSchema(versions)
  const subresources = yield* sharedPart(versions, ({ subresources }) => subresources)
  const columns = yield* sharedPart(versions, ({ additionalPrinterColumns }) => additionalPrinterColumns)
  const selectableFields = yield* sharedPart(versions, ({ selectableFields }) => selectableFields)
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

interface SharedPart<T> {
  readonly same: boolean
  readonly value: T | undefined
}

function* sharedSchema(versions: readonly Version[]): Work<SharedPart<VersionParts['schema']>> {
  const value = versions[0]?.schema
  const schemas = versions.map(({ schema }) => schema?.openAPIV3Schema)
  const areSet = versions.every(({ schema }) => (schema === undefined) === (value === undefined))
  const same = areSet && (yield* areSameSchemas(schemas))
  return { same, value: same ? value : undefined }
}

function* sharedPart<T>(versions: readonly Version[], read: (version: Version) => T | undefined): Work<SharedPart<T>> {
  const [first] = versions
  const value = first === undefined ? undefined : read(first)
  for (const version of versions) if (!(yield* semanticEqual(read(version), value))) return { same: false, value: undefined }
  return { same: true, value }
}
