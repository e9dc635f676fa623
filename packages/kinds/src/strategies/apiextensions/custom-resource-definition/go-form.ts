import type { DeepReadonly } from '@krmkit/meta'
import { type GoText, goQuote, goStrings, goSyntax, goText, joinFormatted } from '@krmkit/meta/go-text'
import type { Rule } from '@krmkit/schema/rules'
import type { CustomResourceDefinitionVersion } from '../../../types/apiextensions-v1.generated.ts'
import { goStruct } from '../../shared/go-form.ts'
import type { VersionParts } from './internal-form.ts'
import type { Schema } from './schema.ts'

/** Parts of definitions as Go prints them in messages of kube-apiserver. Addresses, which vary, are printed as zero. */

const pointer = (type: string, value: unknown): string =>
  `(*${type})(${value === undefined || value === null ? 'nil' : '0xc000000000'})`

type Version = DeepReadonly<CustomResourceDefinitionVersion>

/** The versions of a definition, without what they share. */
export function goVersions(versions: readonly Version[] | null, own: readonly VersionParts[]): GoText {
  if (versions === null) return goText('[]apiextensions.CustomResourceDefinitionVersion(nil)')
  const texts = joinFormatted(versions.entries(), ([index, version]) => goVersion(version, own[index]))
  return goText(`[]apiextensions.CustomResourceDefinitionVersion{${texts}}`)
}

function goVersion({ name, served, storage, deprecated, deprecationWarning }: Version, parts: VersionParts | undefined): string {
  const columns = goList('apiextensions.CustomResourceColumnDefinition', parts?.columns, (column) =>
    goStruct('apiextensions.CustomResourceColumnDefinition', {
      Name: goQuote(column.name),
      Type: goQuote(column.type),
      Format: goQuote(column.format ?? ''),
      Description: goQuote(column.description ?? ''),
      Priority: String(column.priority ?? 0),
      JSONPath: goQuote(column.jsonPath),
    }),
  )
  const fields = goList('apiextensions.SelectableField', parts?.selectableFields, ({ jsonPath }) =>
    goStruct('apiextensions.SelectableField', { JSONPath: goQuote(jsonPath) }),
  )
  return goStruct('apiextensions.CustomResourceDefinitionVersion', {
    Name: goQuote(name),
    Served: String(served ?? false),
    Storage: String(storage ?? false),
    Deprecated: String(deprecated ?? false),
    DeprecationWarning: pointer('string', deprecationWarning),
    Schema: pointer('apiextensions.CustomResourceValidation', parts?.schema),
    Subresources: pointer('apiextensions.CustomResourceSubresources', parts?.subresources),
    AdditionalPrinterColumns: columns,
    SelectableFields: fields,
  })
}

function goList<T>(type: string, items: readonly T[] | undefined, print: (item: T) => string): string {
  return items === undefined ? `[]${type}(nil)` : `[]${type}{${joinFormatted(items, print)}}`
}

type Print = (value: unknown) => string

const schemaType = 'apiextensions.JSONSchemaProps'
const schemaMap = `map[string]${schemaType}`
const text: Print = (value) => goQuote((value as string | undefined) ?? '')
const flag: Print = (value) => String(value ?? false)
const strings: Print = (value) => (value === undefined ? '[]string(nil)' : goStrings(value as string[]))
const goJson = (value: unknown): string => (value === null ? 'apiextensions.JSON(nil)' : goSyntax(value))
const values: Print = (value) => goList('apiextensions.JSON', value as unknown[] | undefined, goJson)
const schemas: Print = (value) => goList(schemaType, value as Schema[] | undefined, goSchemaText)
const to = (type: string): Print => {
  return (value) => pointer(type, value)
}
const mapOf =
  (type: string, print: Print): Print =>
  (value) => {
    if (value === undefined) return `${type}(nil)`
    const members = value as Record<string, unknown>
    return `${type}{${joinFormatted(Object.keys(members).sort(), (key) => `${goQuote(key)}:${print(members[key])}`)}}`
  }

const goDependency: Print = (value) =>
  goStruct('apiextensions.JSONSchemaPropsOrStringArray', {
    Schema: pointer(schemaType, Array.isArray(value) ? undefined : value),
    Property: strings(Array.isArray(value) ? value : undefined),
  })

/** Members in the order of the Go type. */
export const schemaMembers: readonly (readonly [go: string, json: keyof Schema & string, print: Print])[] = [
  ['ID', 'id', text],
  ['Schema', '$schema', text],
  ['Ref', '$ref', to('string')],
  ['Description', 'description', text],
  ['Type', 'type', text],
  ['Nullable', 'nullable', flag],
  ['Format', 'format', text],
  ['Title', 'title', text],
  ['Default', 'default', to('apiextensions.JSON')],
  ['Maximum', 'maximum', to('float64')],
  ['ExclusiveMaximum', 'exclusiveMaximum', flag],
  ['Minimum', 'minimum', to('float64')],
  ['ExclusiveMinimum', 'exclusiveMinimum', flag],
  ['MaxLength', 'maxLength', to('int64')],
  ['MinLength', 'minLength', to('int64')],
  ['Pattern', 'pattern', text],
  ['MaxItems', 'maxItems', to('int64')],
  ['MinItems', 'minItems', to('int64')],
  ['UniqueItems', 'uniqueItems', flag],
  ['MultipleOf', 'multipleOf', to('float64')],
  ['Enum', 'enum', values],
  ['MaxProperties', 'maxProperties', to('int64')],
  ['MinProperties', 'minProperties', to('int64')],
  ['Required', 'required', strings],
  ['Items', 'items', to('apiextensions.JSONSchemaPropsOrArray')],
  ['AllOf', 'allOf', schemas],
  ['OneOf', 'oneOf', schemas],
  ['AnyOf', 'anyOf', schemas],
  ['Not', 'not', to(schemaType)],
  ['Properties', 'properties', mapOf(schemaMap, (value) => goSchemaText(value as Schema))],
  ['AdditionalProperties', 'additionalProperties', to('apiextensions.JSONSchemaPropsOrBool')],
  ['PatternProperties', 'patternProperties', mapOf(schemaMap, (value) => goSchemaText(value as Schema))],
  ['Dependencies', 'dependencies', mapOf('apiextensions.JSONSchemaDependencies', goDependency)],
  ['AdditionalItems', 'additionalItems', to('apiextensions.JSONSchemaPropsOrBool')],
  ['Definitions', 'definitions', mapOf('apiextensions.JSONSchemaDefinitions', (value) => goSchemaText(value as Schema))],
  ['ExternalDocs', 'externalDocs', to('apiextensions.ExternalDocumentation')],
  ['Example', 'example', to('apiextensions.JSON')],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', to('bool')],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', flag],
  ['XIntOrString', 'x-kubernetes-int-or-string', flag],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', strings],
  ['XListType', 'x-kubernetes-list-type', to('string')],
  ['XMapType', 'x-kubernetes-map-type', to('string')],
  ['XValidations', 'x-kubernetes-validations', (value) => goRules(value as Schema['x-kubernetes-validations'])],
]

/** Whether the value of a keyword is the zero value of its Go type; a pointer to a zero value is not. */
export function isGoZero(print: Print, value: unknown): boolean {
  if (value === undefined || value === null) return true
  return (print === text && value === '') || (print === flag && value === false)
}

function goRules(rules: Schema['x-kubernetes-validations']): string {
  if (rules === undefined) return 'apiextensions.ValidationRules(nil)'
  return `apiextensions.ValidationRules{${joinFormatted(rules, goRule)}}`
}

export function goRule(rule: Rule): string {
  return goStruct('apiextensions.ValidationRule', {
    Rule: goQuote(rule.rule),
    Message: goQuote(rule.message ?? ''),
    MessageExpression: goQuote(rule.messageExpression ?? ''),
    Reason: pointer('apiextensions.FieldValueErrorReason', rule.reason),
    FieldPath: goQuote(rule.fieldPath ?? ''),
    OptionalOldSelf: pointer('bool', rule.optionalOldSelf),
  })
}

function goSchemaText(schema: Schema): string {
  return `${schemaType}{${schemaMembers.map(([go, json, print]) => `${go}:${print(schema[json])}`).join(', ')}}`
}

/** Items that are no single schema: several ones, or a value of another type, which counts as none. */
export function goItems(items: unknown): GoText {
  const several = schemas(Array.isArray(items) ? items : undefined)
  return goText(`apiextensions.JSONSchemaPropsOrArray{Schema:(*${schemaType})(nil), JSONSchemas:${several}}`)
}

export function goSchema(schema: Schema): GoText {
  return goText(goSchemaText(schema))
}
