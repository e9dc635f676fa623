/** YAML syntax tree, before scalars are resolved and aliases expanded. */

export type YamlNode = ScalarYaml | SequenceYaml | MappingYaml | AliasYaml

interface NodeBase {
  /** Offset of the first character; of the preceding node when the node is empty. */
  readonly start: number
  /** Full tag (`tag:yaml.org,2002:str`, `!local`), `!`, or empty when absent. */
  readonly tag: string
}

export interface ScalarYaml extends NodeBase {
  readonly kind: 'scalar'
  /** Offset after the last character, without quotes; equal to `start` for blocks and empty scalars. */
  readonly end: number
  readonly text: string
  /** Neither quoted nor a block, so the text determines the type. */
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

export interface AliasYaml {
  readonly kind: 'alias'
  readonly start: number
  readonly name: string
  readonly target: YamlNode
}
