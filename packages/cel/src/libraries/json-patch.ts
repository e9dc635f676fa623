import { declare, overload } from '../values/declarations.ts'
import { stringType } from '../values/types.ts'
import type { Library } from './library.ts'

/** The library for JSON Patch: `jsonpatch.escapeKey('a/b')`. */
export const jsonPatchKeys: Library = {
  name: 'jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      overload('string_jsonpatch_escapeKey_string', [stringType], stringType, (_, key) =>
        String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ),
  ],
}
