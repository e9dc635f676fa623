/** YAML syntax tree, before scalars are resolved and aliases expanded. */

export type YamlNode = ScalarYaml | SequenceYaml | MappingYaml | AliasYaml

interface NodeBase {
  /** Offset of the first character of the content, without quotes; for an empty node, its position. */
  readonly start: number
  /** Line of the first character with its anchor and tag, counted from 0; absent in JSON. */
  readonly line?: number
}

export interface ScalarYaml extends NodeBase {
  readonly kind: 'scalar'
  /**
   * Full tag (`tag:yaml.org,2002:str`, `!local`), `!`, or empty when absent. Always empty for collections, whose tags are
   * ignored.
   */
  readonly tag: string
  /** Offset after the last character, without quotes; equal to `start` for blocks and empty scalars. */
  readonly end: number
  readonly text: string
  /** Whether the scalar is neither quoted nor a block, so that its text determines the type. */
  readonly plain: boolean
}

export interface SequenceYaml extends NodeBase {
  readonly kind: 'sequence'
  readonly items: YamlNode[]
}

export interface MappingYaml extends NodeBase {
  readonly kind: 'mapping'
  /** Alternating keys and values. */
  readonly items: YamlNode[]
}

export interface AliasYaml extends NodeBase {
  readonly kind: 'alias'
  readonly name: string
  readonly target: YamlNode
}
