import { writeFile } from 'node:fs/promises'
import { Website } from './website.ts'

/** Writes the definition of the kind for `kubectl apply`. A test compares the file with the schema. */

await writeFile(new URL('../config/definition.json', import.meta.url), `${JSON.stringify(Website.toManifest(), null, 2)}\n`)
