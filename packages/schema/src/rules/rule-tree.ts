import { type Environment, escapeName } from '@krmkit/cel'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { own } from '../json/json-object.ts'
import { hasValidationRules } from '../schema-node.ts'
import { type DeclType, schemaDeclType } from './decl-type.ts'
import { type CompiledRule, compileRule, type Rule } from './rule-compiler.ts'
import { schemaAdapter, type ValueAdapter } from './schema-values.ts'

/** The parts of a schema that contain rules. Rules compile on first use. */
export interface RuleNode {
  readonly schema: JsonObject
  readonly rules: readonly { readonly rule: Rule; readonly compiled: CompiledRule }[]
  /** Why no rule of this part can be compiled. */
  readonly problem?: string
  /** Type name for messages; empty without a type. */
  readonly typeName: string
  readonly adapt: ValueAdapter
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly items?: RuleNode
  readonly values?: RuleNode
  /** Key names of a list of type map; empty for other lists. */
  readonly listMapKeys: readonly string[]
}

export interface RuleTreeOptions {
  environment(expression: string): Environment
  /** Whether the schema is that of a whole object. */
  readonly root: boolean
}

/**
 * The rules of a schema itself, without those of its parts.
 *
 * @see {@link createRuleTree}
 */
export function rulesOf(schema: JsonObject): readonly Rule[] {
  const rules = own(schema, 'x-kubernetes-validations')
  return Array.isArray(rules) ? (rules.filter(isJsonObject) as unknown as Rule[]) : []
}

/**
 * Creates the rule tree of a schema; `undefined` for schemas without rules.
 *
 * @example
 * import { createRuleTree, validateRules } from '@krmkit/schema/rules'
 * import { Environment } from '@krmkit/cel'
 * const schema = {
 *   type: 'object',
 *   properties: { n: { type: 'integer' } },
 *   'x-kubernetes-validations': [{ rule: 'self.n < 3', message: 'n is too large' }],
 * }
 * const environment = Environment.ofRelease('1.33')
 * const tree = createRuleTree(schema, { environment: () => environment, root: false })
 * tree && validateRules(tree, { n: 5 }).map(({ message }) => message) // [ 'Invalid value: "object": n is too large' ]
 */
export function createRuleTree(schema: JsonObject, options: RuleTreeOptions): RuleNode | undefined {
  if (!hasValidationRules(schema)) return undefined
  return nodeOf(schema, schemaDeclType(schema, 'selfType', options.root), options)
}

/**
 * As on kube-apiserver, parts without a declared type have no rules on properties, and rules on the part itself are an
 * error.
 */
function nodeOf(schema: JsonObject, declared: DeclType | undefined, options: RuleTreeOptions): RuleNode | undefined {
  const { environment, root } = options
  const rules = rulesOf(schema)
  let nodeRules: RuleNode['rules'] | undefined
  const properties = new Map<string, RuleNode>()
  const described = own(schema, 'properties')
  if (isJsonObject(described)) {
    for (const [name, property] of Object.entries(described)) {
      if (!isJsonObject(property) || !hasValidationRules(property)) continue
      const escaped = escapeName(name)
      const inner =
        escaped === undefined ? schemaDeclType(property, 'selfType', isEmbedded(property)) : declared?.fields?.get(escaped)
      const node = inner === undefined ? undefined : nodeOf(property, inner, { environment, root: isEmbedded(property) })
      if (node !== undefined) properties.set(name, node)
    }
  }
  const inner = (keyword: 'items' | 'additionalProperties'): RuleNode | undefined => {
    const part = own(schema, keyword)
    if (!isJsonObject(part) || !hasValidationRules(part)) return undefined
    return nodeOf(part, declared?.elem, { environment, root: isEmbedded(part) })
  }
  const items = inner('items')
  const values = inner('additionalProperties')
  if (rules.length === 0 && properties.size === 0 && items === undefined && values === undefined) return undefined
  const type = own(schema, 'type')
  return {
    schema,
    get rules() {
      if (nodeRules !== undefined) return nodeRules
      // Type names in messages are relative to this schema.
      if (declared === undefined) return []
      const named = rules.length === 0 ? declared : (schemaDeclType(schema, 'selfType', root) ?? declared)
      nodeRules = rules.map((rule) => lazily(rule, () => compileRule(rule, named, { environment })))
      return nodeRules
    },
    ...(declared === undefined && rules.length > 0 ? { problem: 'failed to convert to declType for CEL validation rules' } : {}),
    typeName: typeof type === 'string' ? type : '',
    adapt: schemaAdapter(schema, root),
    properties,
    ...(items === undefined ? {} : { items }),
    ...(values === undefined ? {} : { values }),
    listMapKeys: mapKeysOf(schema),
  }
}

/** Compiles a rule on first use: a schema may have many rules, and each compilation takes long. */
function lazily(rule: Rule, compile: () => CompiledRule): RuleNode['rules'][number] {
  let compiled: CompiledRule | undefined
  return {
    rule,
    get compiled() {
      compiled ??= compile()
      return compiled
    },
  }
}

function isEmbedded(schema: JsonObject): boolean {
  return own(schema, 'x-kubernetes-embedded-resource') === true
}

function mapKeysOf(schema: JsonObject): readonly string[] {
  const keys: JsonValue | undefined = own(schema, 'x-kubernetes-list-map-keys')
  if (own(schema, 'x-kubernetes-list-type') !== 'map' || !Array.isArray(keys)) return []
  return keys.filter((key) => typeof key === 'string')
}
