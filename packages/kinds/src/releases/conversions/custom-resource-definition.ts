import { type ApiObject, type DeepReadonly, formatApiVersion } from '@krmkit/meta'
import { type ConvertFactory, type Loose, omitUndefined } from '../../conversions/convert.ts'
import { internalForm } from '../../strategies/apiextensions/custom-resource-definition/internal-form.ts'
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.generated.ts'

/**
 * Conversion of custom resource definitions between `v1beta1` and `v1`.
 *
 * | `v1beta1` | `v1` |
 * |---|---|
 * | spec.validation, subresources, additionalPrinterColumns | the same members of every version |
 * | spec.version | the first of spec.versions |
 * | column.JSONPath | column.jsonPath |
 * | conversion.webhookClientConfig, conversionReviewVersions | conversion.webhook.clientConfig, conversionReviewVersions |
 *
 * On the way back, members that are equal in all versions move to the top.
 *
 * @see API protocol specification, 9.4
 */
export const betaDefinitionToV1: ConvertFactory = (to) => (object) => {
  const { spec = {} } = object as { spec?: Loose }
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, versions, conversion, ...rest } = spec
  const listed = Array.isArray(versions) && versions.length > 0 ? (versions as Loose[]) : impliedVersions(version)
  const members = {
    ...rest,
    versions: listed.map((each) =>
      omitUndefined({
        ...each,
        schema: each.schema ?? validation,
        subresources: each.subresources ?? subresources,
        additionalPrinterColumns: columns(each.additionalPrinterColumns ?? additionalPrinterColumns, 'JSONPath', 'jsonPath'),
        selectableFields: each.selectableFields ?? selectableFields,
      }),
    ),
    conversion: conversion === undefined ? undefined : newConversion(conversion as Loose),
  }
  return { ...(object as ApiObject), apiVersion: formatApiVersion(to), spec: omitUndefined(members) } as ApiObject
}

/** The reverse of {@link betaDefinitionToV1}. */
export const v1DefinitionToBeta: ConvertFactory = (to) => (object) => {
  const definition = object as unknown as DeepReadonly<CustomResourceDefinition>
  const { shared, own } = internalForm(definition)
  const { versions, conversion, preserveUnknownFields = false, ...rest } = definition.spec
  const members = {
    ...rest,
    version: versions?.[0]?.name,
    validation: shared.schema,
    subresources: shared.subresources,
    additionalPrinterColumns: columns(shared.columns, 'jsonPath', 'JSONPath'),
    selectableFields: shared.selectableFields,
    versions: (versions ?? []).map((each, at) =>
      omitUndefined({
        ...each,
        schema: own[at]?.schema,
        subresources: own[at]?.subresources,
        additionalPrinterColumns: columns(own[at]?.columns, 'jsonPath', 'JSONPath'),
        selectableFields: own[at]?.selectableFields,
      }),
    ),
    conversion: conversion === undefined ? undefined : oldConversion(conversion as Loose),
    preserveUnknownFields,
  }
  return { ...(object as ApiObject), apiVersion: formatApiVersion(to), spec: omitUndefined(members) } as unknown as ApiObject
}

function impliedVersions(version: unknown): Loose[] {
  return typeof version === 'string' && version !== '' ? [{ name: version, served: true, storage: true }] : []
}

function columns(list: unknown, from: string, to: string): unknown {
  if (!Array.isArray(list)) return list
  return list.map((column: Loose) => {
    const { [from]: path, ...rest } = column
    return omitUndefined({ ...rest, [to]: path })
  })
}

function newConversion({ strategy, webhookClientConfig, conversionReviewVersions }: Loose): unknown {
  const hasWebhook = webhookClientConfig !== undefined || (Array.isArray(conversionReviewVersions) && strategy === 'Webhook')
  return omitUndefined({
    strategy,
    webhook: hasWebhook ? omitUndefined({ clientConfig: webhookClientConfig, conversionReviewVersions }) : undefined,
  })
}

function oldConversion({ strategy, webhook }: Loose): unknown {
  const { clientConfig, conversionReviewVersions } = (webhook ?? {}) as Loose
  return omitUndefined({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions })
}
