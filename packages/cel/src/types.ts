/** Types of the language: of variables, of members of objects, and of results. */

export {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  type ObjectType,
  optionalOf,
  stringType,
  structOf,
  type Type,
  timestampType,
  typeName,
  uintType,
} from './values/types.ts'
