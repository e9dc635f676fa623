/** What surrounds the cursor in a text. */
export interface CursorContext {
  /** Steps from the object to the mapping that the cursor is in. */
  readonly steps: readonly (string | number)[]
  /** The member whose value is at the cursor; absent: a name is. */
  readonly name?: string
  /** Names of the other members of the mapping. */
  readonly siblings: ReadonlySet<string>
  /** Members of the object, with their scalar values. */
  readonly object: TextMembers
  /** The word at the cursor. Line and columns count from 0. */
  readonly replace: { readonly line: number; readonly from: number; readonly to: number }
  /** Whether a colon follows the name. */
  readonly hasColon: boolean
  /** Column of the members of the mapping, from 0. */
  readonly indent: number
  readonly json: boolean
  /** JSON: whether the cursor is in quotes. */
  readonly quoted?: boolean
}

/** Scalar values by name; others are empty. */
export type TextMembers = ReadonlyMap<string, string>
