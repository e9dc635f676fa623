/** YAML as a tree, before scalars are resolved and aliases followed. */

export type YamlNode = ScalarYaml | SequenceYaml | MappingYaml | AliasYaml

interface Place {
  /** Offset of the first character in the text, or of what comes before it when it is empty. */
  readonly start: number
  /** Full tag (`tag:yaml.org,2002:str`, `!local`), `!`, or empty when none is written. */
  readonly tag: string
}

export interface ScalarYaml extends Place {
  readonly kind: 'scalar'
  /** Offset after the last character, quotes not counted; `start` for blocks and for what is empty. */
  readonly end: number
  readonly text: string
  /** Neither quoted nor a block: its text decides its type. */
  readonly plain: boolean
}

export interface SequenceYaml extends Place {
  readonly kind: 'sequence'
  readonly items: YamlNode[]
}

export interface MappingYaml extends Place {
  readonly kind: 'mapping'
  /** Keys and values in turn. */
  readonly items: YamlNode[]
}

export interface AliasYaml {
  readonly kind: 'alias'
  readonly start: number
  readonly name: string
  readonly target: YamlNode
}
